import { HandoverError } from '../../errors.ts';
import type { Handover, Signer } from '../../model/handover.ts';
import { readHandover } from '../../store/handovers.ts';
import { finishImports, saveImport } from '../../store/pending-imports.ts';
import type { Store } from '../../store/store.ts';
import { notBundleError } from '../errors.ts';
import { openSessionHandoffBundle } from '../legacy/session-handoff-bundle.ts';
import { isArchive } from './archive.ts';
import { type BundleContents, type OpenOptions, openBundle } from './open-bundle.ts';

export interface ImportOptions extends OpenOptions {
  onConflict: 'fail' | 'skip' | 'replace';
  dryRun: boolean;
}

type ImportOutcome = 'imported' | 'replaced' | 'skipped' | 'present';

export interface ImportedHandover {
  id: string;
  title: string;
  facts: number;
  outcome: ImportOutcome;
}

export interface Import {
  signer: Signer | null;
  missing: readonly string[];
  handovers: ImportedHandover[];
}

/** Verifies a bundle and stores its handovers, all or none. */
export async function importBundle(store: Store, bytes: Buffer, options: ImportOptions): Promise<Import> {
  if (!options.dryRun) finishImports(store);
  const opened = await openFile(store, bytes, options);
  const plan: { handover: Handover; outcome: ImportOutcome }[] = [];
  const conflicts: string[] = [];
  for (const handover of opened.handovers) {
    const outcome = decideOutcome(store, handover, options);
    if (outcome === 'conflict') conflicts.push(handover.id);
    else plan.push({ handover, outcome });
  }
  if (conflicts.length > 0) throw conflictError(conflicts);
  const choose = (...outcomes: readonly ImportOutcome[]): Handover[] =>
    plan.filter(({ outcome }) => outcomes.includes(outcome)).map(({ handover }) => handover);
  const { digest, detail } = opened;
  const replace = choose('replaced').map(({ id }) => id);
  if (!options.dryRun) saveImport(store, { digest, detail, handovers: choose('imported', 'replaced'), replace });
  const handovers = plan.map(({ handover: { id, title, facts }, outcome }) => {
    return { id, title, facts: facts.length, outcome };
  });
  return { signer: opened.signer, missing: opened.missing, handovers };
}

/** Only the first bytes decide how a file is read. */
async function openFile(store: Store, bytes: Buffer, options: OpenOptions): Promise<BundleContents> {
  if (isArchive(bytes)) return await openBundle(store, bytes, options);
  if (/^\s{0,64}\{/.test(bytes.toString('latin1', 0, 65))) return await openSessionHandoffBundle(bytes, options);
  throw notBundleError();
}

function decideOutcome(store: Store, handover: Handover, { onConflict }: ImportOptions) {
  try {
    const present = readHandover(store, handover.id);
    if (present === null) return 'imported';
    if (present.checksum === handover.checksum) return 'present';
  } catch (error) {
    // A damaged one is in conflict with any other.
    if (!(error instanceof HandoverError)) throw error;
  }
  if (onConflict === 'replace') return 'replaced';
  return onConflict === 'skip' ? 'skipped' : 'conflict';
}

function conflictError(ids: readonly string[]): HandoverError {
  const what = ids.length === 1 ? 'a different handover has the id' : 'different handovers have the ids';
  const shown = `${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ' …' : ''}`;
  const message = `${what} ${shown}; nothing was imported`;
  return new HandoverError('HANDOVER_BUNDLE_CONFLICT', message, {
    hint: 'Keep yours with --on-conflict skip, or take theirs with --on-conflict replace.',
    data: { conflicts: ids },
  });
}
