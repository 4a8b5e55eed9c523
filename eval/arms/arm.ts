import type { Cut } from '../corpus/cuts.ts';

/** A way to tell the next session what it needs. */
export interface Arm {
  name: string;
  about: string;
  /** Scored whole, whatever the budget: the text is what it is. */
  isWhole: boolean;
  /** Whether it has anything to go by at this cut; if not, it is not measured there. */
  canTell(cut: Cut): boolean;
  /** Takes a cut in, and gives what writes the text for a budget in tokens. What is longer is cut before it is scored. */
  prepare(cut: Cut): Promise<WriteBrief> | WriteBrief;
}

export type WriteBrief = (budget: number) => string;
