import type { Result } from '../evaluate.ts';
import { addScores, type Score } from '../score/metrics.ts';

/** What an arm reaches within a budget over all cuts. */
export interface Standing {
  arm: string;
  budget: number;
  cuts: number;
  failures: readonly Result[];
  repositories: number;
  score: Score;
}

/** One for each arm and budget, in the order in which they come. */
export function aggregate(results: readonly Result[]): Standing[] {
  return [...groupBy(results, ({ arm, budget }) => `${arm} ${budget}`).values()].flatMap((group) => {
    const [one] = group;
    if (one === undefined) return [];
    return {
      arm: one.arm,
      budget: one.budget,
      cuts: group.length,
      failures: group.filter(({ failure }) => failure !== null),
      repositories: new Set(group.map(({ repository }) => repository)).size,
      score: addScores(group.map(({ score }) => score)),
    };
  });
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
