import { HandoverError } from '../../errors.ts';
import type { Handover, Signer } from '../../model/handover.ts';
import { readHandover } from '../../store/handovers.ts';
import { finishImports, saveImport } from '../../store/pending-imports.ts';
import type { Store } from '../../store/store.ts';
import { notBundleError } from '../errors.ts';
import { openSessionHandoffBundle } from '../legacy/session-handoff-bundle.ts';
import { isArchive } from './archive.ts';
import { type BundleContents, type OpenOptions, openOwnBundle } from './open-bundle.ts';

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
  const opened = await openBundle(store, bytes, options);
  const plan = opened.handovers.map((handover) => ({
    handover,
    outcome: decideOutcome(store, handover, options),
  }));
  const conflicts = plan.filter(({ outcome }) => outcome === 'conflict');
  if (conflicts.length > 0) throw conflictError(conflicts.map(({ handover }) => handover.id));
  if (!options.dryRun) storeHandovers(store, opened, plan);
  const handovers = plan.flatMap(({ handover: { id, title, facts }, outcome }) =>
    outcome === 'conflict' ? [] : [{ id, title, facts: facts.length, outcome }],
  );
  return { signer: opened.signer, missing: opened.missing, handovers };
}

/** Only the first bytes decide how a file is read. */
async function openBundle(store: Store, bytes: Buffer, options: OpenOptions): Promise<BundleContents> {
  if (isArchive(bytes)) return await openOwnBundle(store, bytes, options);
  if (/^\s{0,64}\{/.test(bytes.toString('latin1', 0, 65)))
    return await openSessionHandoffBundle(bytes, options);
  throw notBundleError();
}

type Plan = { handover: Handover; outcome: ImportOutcome | 'conflict' }[];

function decideOutcome(
  store: Store,
  handover: Handover,
  { onConflict }: ImportOptions,
): ImportOutcome | 'conflict' {
  const present = readPresent(store, handover.id);
  if (present === null) return 'imported';
  if (present !== 'damaged' && present.checksum === handover.checksum) return 'present';
  if (onConflict === 'replace') return 'replaced';
  return onConflict === 'skip' ? 'skipped' : 'conflict';
}

function readPresent(store: Store, id: string): Handover | 'damaged' | null {
  try {
    return readHandover(store, id);
  } catch (error) {
    if (error instanceof HandoverError) return 'damaged';
    throw error;
  }
}

function storeHandovers(store: Store, { digest, detail }: BundleContents, plan: Plan): void {
  const of = (...outcomes: readonly string[]): Handover[] =>
    plan.filter(({ outcome }) => outcomes.includes(outcome)).map(({ handover }) => handover);
  saveImport(store, {
    digest,
    detail,
    handovers: of('imported', 'replaced'),
    replace: of('replaced').map(({ id }) => id),
  });
}

function conflictError(ids: readonly string[]): HandoverError {
  const shown = ids.slice(0, 10).join(', ');
  return new HandoverError(
    'HANDOVER_BUNDLE_CONFLICT',
    `another handover is kept under ${ids.length === 1 ? 'the id' : 'the ids'} ${shown}${ids.length > 10 ? ' …' : ''}; nothing was imported`,
    {
      hint: 'Keep yours with --on-conflict skip, or take theirs with --on-conflict replace.',
      data: { conflicts: ids },
    },
  );
}
