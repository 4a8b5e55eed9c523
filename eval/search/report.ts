import { ARMS, type Score, type Scores } from './measure.ts';
import type { SessionScore } from './sessions.ts';

/** A Markdown table: recall among the first five, and in brackets the mean reciprocal rank. */
export function formatScores(scores: Scores): string {
  const sorts = [...(scores.get('fused')?.keys() ?? [])];
  const rows = sorts.map((sort) => {
    const count = scores.get('fused')?.get(sort)?.queries ?? 0;
    const cells = ARMS.map((arm) => formatScore(scores.get(arm)?.get(sort)));
    return `| ${sort} | ${count} | ${cells.join(' | ')} |`;
  });
  const head = ['query', 'count', ...ARMS];
  return `${[`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows].join('\n')}\n`;
}

function formatScore(score: Score | undefined): string {
  if (score === undefined) return '';
  return `${score.recall.toFixed(3)} (${score.rank.toFixed(3)})`;
}

/** A Markdown table: how often the session is the first hit, and among the first five. */
export function formatSessionScores(scores: ReadonlyMap<string, SessionScore>): string {
  const rows = [...scores].map(
    ([sort, { queries, first, five }]) => `| ${sort} | ${queries} | ${first.toFixed(3)} | ${five.toFixed(3)} |`,
  );
  return `${['| query | count | hit@1 | hit@5 |', '|---|---|---|---|', ...rows].join('\n')}\n`;
}
