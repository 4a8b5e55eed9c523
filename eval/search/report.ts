import { ARMS, type Score, type Scores } from './measure.ts';

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
