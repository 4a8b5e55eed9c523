import type { Result } from '../evaluate.ts';
import { METRICS, type Metric, type Score } from '../score/metrics.ts';

/** What an arm reaches within a budget over all cuts. */
export interface Standing {
  arm: string;
  budget: number;
  cuts: number;
  failures: readonly Result[];
  repositories: number;
  /** The mean over the cuts that have something to measure. */
  mean: Score;
  /** The mean over repositories of their means: one with many cuts weighs no more than one with few. */
  macro: Score;
  /** The mean over first compactions, and over those of a session that had been compacted before. */
  first: Score;
  later: Score;
}

/** One for each arm and budget, in the order in which they come. */
export function aggregate(results: readonly Result[]): Standing[] {
  return [...groupBy(results, ({ arm, budget }) => `${arm} ${budget}`).values()].flatMap((group) => {
    const [one] = group;
    if (one === undefined) return [];
    const repositories = [...groupBy(group, ({ repository }) => repository).values()];
    return {
      arm: one.arm,
      budget: one.budget,
      cuts: group.length,
      failures: group.filter(({ failure }) => failure !== null),
      repositories: repositories.length,
      mean: averageScores(group.map(({ score }) => score)),
      macro: averageScores(repositories.map((results) => averageScores(results.map(({ score }) => score)))),
      first: averageScores(group.filter(({ isFirst }) => isFirst).map(({ score }) => score)),
      later: averageScores(group.filter(({ isFirst }) => !isFirst).map(({ score }) => score)),
    };
  });
}

/**
 * How early a metric is reached: the area under it over budgets from the smallest to the largest, each doubling counting
 * the same, as a share of what would be all of it. Null with fewer than two budgets.
 */
export function measureReach(standings: readonly Standing[], arm: string, metric: Metric): number | null {
  const points = standings
    .filter((standing) => standing.arm === arm)
    .flatMap(({ budget, mean }) => {
      const value = mean.get(metric);
      return value === undefined ? [] : [{ at: Math.log2(budget), value }];
    })
    .sort((a, b) => a.at - b.at);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  const area = points.slice(1).reduce((sum, { at, value }, index) => {
    const before = points[index] ?? first;
    return sum + ((before.value + value) / 2) * (at - before.at);
  }, 0);
  return area / (last.at - first.at);
}

function averageScores(scores: readonly Score[]): Score {
  const means = new Map<Metric, number>();
  for (const metric of METRICS) {
    const values = scores.flatMap((score) => score.get(metric) ?? []);
    if (values.length > 0) means.set(metric, values.reduce((sum, value) => sum + value, 0) / values.length);
  }
  return means;
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
}
