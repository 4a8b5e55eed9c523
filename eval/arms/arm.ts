import type { Cut } from '../corpus/cuts.ts';
import type { Metric } from '../score/metrics.ts';

/** A way to tell the next session what it needs. */
export interface Arm {
  name: string;
  about: string;
  /** Metrics that say nothing about this arm. */
  meaningless: readonly Metric[];
  /** Scored whole, whatever the budget: the text is what it is. */
  isWhole: boolean;
  /** Takes a cut in, and gives what writes the text for a budget in tokens. What is longer is cut before it is scored. */
  prepare(cut: Cut): Promise<WriteBrief> | WriteBrief;
}

export type WriteBrief = (budget: number) => string;
