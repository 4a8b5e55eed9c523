import { TOLD_KINDS, type ToldKind } from '../labels/labels.ts';
import { CLAIM_KINDS, type ClaimKind } from './claims.ts';

/** What was touched right after a cut. */
export const NEXT_METRICS = ['nextEdit', 'nextRead', 'nextCmd'] as const;

export type ToldMetric = `told.${ToldKind}`;
export type ClaimMetric = `claims.${ClaimKind}`;
export type Metric =
  | 'tokens'
  | 'told'
  | ToldMetric
  | 'claims'
  | ClaimMetric
  | 'stale'
  | 'names'
  | 'namesUsed'
  | (typeof NEXT_METRICS)[number]
  | 'useful';

/** All that is measured, in the order of the table. */
export const METRICS: readonly Metric[] = [
  'tokens',
  'told',
  ...TOLD_KINDS.map((kind): ToldMetric => `told.${kind}`),
  'claims',
  ...CLAIM_KINDS.map((kind): ClaimMetric => `claims.${kind}`),
  'stale',
  'names',
  'namesUsed',
  ...NEXT_METRICS,
  'useful',
];

/**
 * A figure is `sum / count`, at one cut and over many: labels and lines are counted, so that each weighs the same; other
 * metrics have a value for each cut, and a count of 1.
 */
export interface Tally {
  sum: number;
  count: number;
}

/** A metric for which a cut has nothing to measure is not there, as `claims` where nothing is claimed. */
export type Score = ReadonlyMap<Metric, Tally>;

/** Adds up what was measured at several cuts. */
export function addScores(scores: readonly Score[]): Score {
  const total = new Map<Metric, Tally>();
  for (const metric of METRICS) {
    const tallies = scores.flatMap((score) => score.get(metric) ?? []);
    if (tallies.length > 0) total.set(metric, addTallies(tallies));
  }
  return total;
}

export function addTallies(tallies: readonly Tally[]): Tally {
  return {
    sum: tallies.reduce((sum, tally) => sum + tally.sum, 0),
    count: tallies.reduce((count, tally) => count + tally.count, 0),
  };
}
