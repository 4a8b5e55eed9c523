import type { Handover, Signer } from '../../model/handover.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Redactor } from '../../redact/redactor.ts';
import type { Opener } from './age.ts';
import type { Introduce } from './check-signer.ts';

export interface OpenOptions {
  machine: Machine;
  opener: Opener;
  introduce: Introduce;
  /** For each handover one of its own. */
  makeRedactor(): Redactor;
  allowUnsigned: boolean;
  /** Also what is not newer than what was imported before. */
  allowOlder: boolean;
}

/** A bundle that was verified and read: handovers as they are kept here. */
export interface Opened {
  digest: string;
  /** Null when nobody vouches for it. */
  signer: Signer | null;
  /** What a reader would want to rely on, and cannot. */
  missing: readonly string[];
  /** Where it stands in its series, for the journal. */
  detail: { key?: string; series?: string; sequence?: number };
  handovers: Handover[];
}
