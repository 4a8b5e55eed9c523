import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { sealHandover } from '../../handover/seal.ts';
import type { HandoverDraft } from '../../model/handover.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import { readHandover, saveMigratedHandover } from '../../store/handovers.ts';
import type { Store } from '../../store/store.ts';

/** What became of one record of another store. */
export interface MigratedRecord extends TakenOver {
  /** From 1, in the order in which they were read. */
  position: number;
  file: string;
}

export interface TakenOver {
  /** The id it has here; null when it was refused. */
  id: string | null;
  outcome: 'imported' | 'would import' | 'present' | 'refused';
  note: string | null;
}

export interface TakeOverOptions {
  dryRun: boolean;
  /** Whether the handover that has the id was made of this record. */
  isSame(known: HandoverDraft, draft: HandoverDraft): boolean;
}

/** Keeps a record, without its secrets, under the first of its possible ids that is free, unless it is here already. */
export function takeOver(
  store: Store,
  drafts: readonly HandoverDraft[],
  { dryRun, isSame }: TakeOverOptions,
): TakenOver {
  const redactor = openRedactor(store.machine, { folder: null, makesKey: !dryRun });
  for (const found of drafts) {
    const draft = redactDraft(found, redactor);
    const { id } = draft;
    const standing = findStanding(store, draft, isSame);
    if (standing === 'same') return { id, outcome: 'present', note: null };
    if (standing === 'other') continue;
    if (dryRun) return { id, outcome: 'would import', note: null };
    const failure = keep(store, draft);
    return failure === null ? { id, outcome: 'imported', note: null } : refuse(failure);
  }
  return refuse('its id is taken by another handover');
}

function refuse(note: string): TakenOver {
  return { id: null, outcome: 'refused', note };
}

/** Null when it was kept, else why not. */
function keep(store: Store, draft: HandoverDraft): string | null {
  try {
    return saveMigratedHandover(store, sealHandover(draft)) === null
      ? 'its id was taken meanwhile; run it again'
      : null;
  } catch (error) {
    if (error instanceof v.ValiError) return error.message;
    if (error instanceof HandoverError && error.code === 'HANDOVER_TEXT_TOO_LARGE') return error.message;
    throw error;
  }
}

function findStanding(
  store: Store,
  draft: HandoverDraft,
  isSame: TakeOverOptions['isSame'],
): 'free' | 'same' | 'other' {
  try {
    const handover = readHandover(store, draft.id);
    if (handover === null) return 'free';
    return isSame(handover, draft) ? 'same' : 'other';
  } catch (error) {
    if (error instanceof HandoverError) return 'other';
    throw error;
  }
}
