import { HandoverError } from '../../errors.ts';
import { sealHandover } from '../../handover/seal.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover, Signer } from '../../model/handover.ts';
import { readKnownProjects } from '../../platform/known-projects.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { hasCommit, identifyProject } from '../../platform/project.ts';
import { readHandover, readIntact } from '../../store/handovers.ts';
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

/** `conflict`: in a dry run, what would be refused because a different handover has its id. */
type ImportOutcome = 'imported' | 'replaced' | 'skipped' | 'present' | 'conflict';

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
  const settle = settleIn('.', store.machine);
  const plan = opened.handovers
    .map(settle)
    .map((handover) => ({ handover, outcome: decideOutcome(store, handover, options) }));
  const choose = (...outcomes: readonly ImportOutcome[]): Handover[] =>
    plan.filter(({ outcome }) => outcomes.includes(outcome)).map(({ handover }) => handover);
  const conflicts = choose('conflict').map(({ id }) => id);
  if (conflicts.length > 0 && !options.dryRun) throw conflictError(store, conflicts);
  const { digest, detail } = opened;
  const replace = choose('replaced').map(({ id }) => id);
  if (!options.dryRun) saveImport(store, { digest, detail, handovers: choose('imported', 'replaced'), replace });
  const handovers = plan.map(({ handover: { id, title, facts }, outcome }) => {
    return { id, title, facts: facts.length, outcome };
  });
  return { signer: opened.signer, missing: opened.missing, handovers };
}

/**
 * A repository without a remote has another id on every machine, and so has one that was given a remote later. A handover of
 * a project that is not known here belongs to the repository of the folder if that has the commit which it was made on, and
 * not both have a remote: then one is a fork of the other.
 */
function settleIn(folder: string, machine: Machine): (handover: Handover) => Handover {
  const { id, name, remote, root, git } = identifyProject(folder, machine);
  const known = new Set([id, ...readKnownProjects(machine).flatMap(({ ids }) => ids)]);
  const project = { id, name, remote: remote === null ? null : abbreviateHome(remote, machine) };
  return (handover) => {
    const { project: theirs, workspace } = handover;
    const isKnown = known.has(theirs.id) || (remote !== null && theirs.remote !== null);
    if (git !== 'present' || isKnown || !hasCommit(root, workspace.git?.head ?? '', machine.env)) return handover;
    const { checksum: _, ...draft } = handover;
    return sealHandover({ ...draft, project });
  };
}

/** Only the first bytes decide how a file is read. */
async function openFile(store: Store, bytes: Buffer, options: OpenOptions): Promise<BundleContents> {
  if (isArchive(bytes)) return await openBundle(store, bytes, options);
  if (/^\s{0,64}\{/.test(bytes.toString('latin1', 0, 65))) return await openSessionHandoffBundle(bytes, options);
  throw notBundleError();
}

function decideOutcome(store: Store, handover: Handover, { onConflict }: ImportOptions): ImportOutcome {
  try {
    const present = readHandover(store, handover.id);
    if (present === null) return 'imported';
    // It may have been imported in another folder, and links to those in its bundle only.
    const seal = ({ checksum: _, chain, ...draft }: Handover): string =>
      sealHandover({ ...draft, project: present.project, previous: null }).checksum;
    if (seal(present) === seal(handover)) return 'present';
    // The sender may have marked its facts since.
    if (seal(dropEnds(present)) === seal(dropEnds(handover))) return 'replaced';
  } catch (error) {
    // A damaged one is in conflict with any other.
    if (!(error instanceof HandoverError)) throw error;
  }
  if (onConflict === 'replace') return 'replaced';
  return onConflict === 'skip' ? 'skipped' : 'conflict';
}

/** What is the same whatever the sender marked. */
function dropEnds(handover: Handover): Handover {
  const facts = handover.facts.map(({ status: _, detail: { because: __, ...detail } = {}, ...fact }): Fact => {
    return { ...fact, detail };
  });
  return { ...handover, facts };
}

function conflictError(store: Store, ids: readonly string[]): HandoverError {
  const what = ids.length === 1 ? 'a different handover has the id' : 'different handovers have the ids';
  const shown = `${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ' …' : ''}`;
  const present = ids.map((id) => readIntact(store, id));
  const isOwn = present.every((handover) => handover !== null && handover.imported === undefined);
  const message = isOwn ? `already here, and made on this machine: ${shown}` : `${what} ${shown}`;
  return new HandoverError('HANDOVER_BUNDLE_CONFLICT', `${message}; nothing was imported`, {
    hint: isOwn
      ? 'Import what else is in the bundle: --on-conflict skip.'
      : 'Keep yours with --on-conflict skip, or take theirs with --on-conflict replace.',
    data: { conflicts: ids },
  });
}
