import type { Result } from '../evaluate.ts';
import { METRICS, type Metric, type Score } from '../score/metrics.ts';
import { groupBy, type Standing } from './aggregate.ts';
import { gatherMisses, type Miss } from './misses.ts';

/** A value, and of how many labels, lines, names or cuts; null where there was nothing to measure. */
type Figures = Readonly<Record<string, { value: number; of: number } | null>>;

/** What `--rows` writes of a brief. */
export interface ReportRow extends Omit<Result, 'score' | 'misses' | 'brief'> {
  figures: Figures;
}

/** What `--json` prints. */
export interface ReportDocument {
  standings: (Omit<Standing, 'failures' | 'score'> & { failures: string[]; figures: Figures })[];
  misses?: { arm: string; budget: number; metric: Metric; missed: Miss[] }[];
}

export function toRow({ score, misses: _, brief: __, ...row }: Result): ReportRow {
  return { ...row, figures: toFigures(score) };
}

/** With the misses of the results that are given. */
export function toDocument(standings: readonly Standing[], results: readonly Result[]): ReportDocument {
  const document: ReportDocument = {
    standings: standings.map(({ score, failures, ...standing }) => ({
      ...standing,
      failures: failures.map(({ file, cut, failure }) => `${file}, row ${cut}: ${failure}`),
      figures: toFigures(score),
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

function toFigures(score: Score): Figures {
  return Object.fromEntries(
    METRICS.map((metric) => {
      const tally = score.get(metric);
      return [metric, tally === undefined ? null : { value: tally.sum / tally.count, of: tally.count }];
    }),
  );
}
