import type { Result } from '../evaluate.ts';
import { METRICS, type Metric, type Score } from '../score/metrics.ts';
import { groupBy, type Standing } from './aggregate.ts';
import { gatherMisses, type Miss } from './misses.ts';

type Numbers = Readonly<Record<string, number | null>>;

/** What `--rows` writes of a brief. */
export interface ReportRow extends Omit<Result, 'score' | 'misses' | 'brief'> {
  score: Numbers;
}

/** What `--json` prints. */
export interface ReportDocument {
  standings: (Omit<Standing, 'failures' | 'mean' | 'macro' | 'first' | 'later'> & {
    failures: string[];
    mean: Numbers;
    macro: Numbers;
    first: Numbers;
    later: Numbers;
  })[];
  misses?: { arm: string; budget: number; metric: Metric; missed: Miss[] }[];
}

export function toRow({ score, misses: _, brief: __, ...row }: Result): ReportRow {
  return { ...row, score: toNumbers(score) };
}

/** With the misses of the results that are given. */
export function toDocument(standings: readonly Standing[], results: readonly Result[]): ReportDocument {
  const document: ReportDocument = {
    standings: standings.map((standing) => ({
      ...standing,
      failures: standing.failures.map(({ file, cut, failure }) => `${file}, row ${cut}: ${failure}`),
      mean: toNumbers(standing.mean),
      macro: toNumbers(standing.macro),
      first: toNumbers(standing.first),
      later: toNumbers(standing.later),
    })),
  };
  if (results.length === 0) return document;
  const groups = [...groupBy(results, ({ arm, budget }) => `${arm} ${budget}`).values()];
  const misses = groups.flatMap((group) => {
    const [one] = group;
    if (one === undefined) return [];
    return [...gatherMisses(group)].map(([metric, missed]) => ({
      arm: one.arm,
      budget: one.budget,
      metric,
      missed,
    }));
  });
  return { ...document, misses };
}

function toNumbers(score: Score): Numbers {
  return Object.fromEntries(METRICS.map((metric) => [metric, score.get(metric) ?? null]));
}
