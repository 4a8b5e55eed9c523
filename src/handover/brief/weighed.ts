import type { Fact } from '../../model/fact.ts';
import type { ChangesSince } from '../../model/workspace.ts';
import type { Goal } from './goal.ts';
import type { Section } from './sections.ts';
import type { FactWeight } from './weight.ts';

/** A fact with what it is worth and where it would stand. */
export interface Weighed {
  fact: Fact;
  weight: FactWeight;
  section: Section;
}

/** All that a brief may be made of. */
export interface Material {
  facts: readonly Weighed[];
  /** In tokens. */
  budget: number;
  goal: Goal | null;
  changes: ChangesSince | null;
}

export const BYTES_PER_TOKEN = 4;
