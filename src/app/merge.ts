import { usageError } from '../errors.ts';
import { listResolved, markHandover } from '../handover/link.ts';
import { type MergeResult, mergeHandovers, type Side } from '../handover/merge.ts';
import { sealRated } from '../handover/seal.ts';
import type { Fact } from '../model/fact.ts';
import { type Handover, isForeign } from '../model/handover.ts';
import { countNouns } from '../model/text.ts';
import { lastChangeOf } from '../model/time.ts';
import { runGitOrNull } from '../platform/git.ts';
import { listAliases } from '../platform/known-projects.ts';
import { describePlace, findWorkFolder, type Place } from '../platform/project.ts';
import { findMergeOf, listPlausible } from '../store/find-handover.ts';
import { readHistory, readIntact, saveHandover } from '../store/handovers.ts';
import { readMarks } from '../store/marks.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { pickHere } from './find-handover.ts';
import { listJournalNotices } from './notices.ts';

/** `contained`: `handover` already has all of the other line of work, so nothing was saved. */
export interface Merge {
  outcome: 'merged' | 'contained';
  handover: Handover;
  base: string | null;
  contradictions: Fact[];
}

/**
 * Joins the work of two handovers of one project, named in either order, as a continuation of the one of this worktree; where
 * that is both or neither, of the one that was made here, else of the one that was worked on last.
 */
export async function mergeNamed(context: Context, first: string, second: string): Promise<Merge> {
  const [one, other] = [await pickHere(context, first), await pickHere(context, second)];
  if (one.id === other.id) throw usageError('these are the same handover', 'Name two: handover merge ID OTHER');
  if (!listAliases(context.machine, one.project.id).includes(other.project.id)) {
    const names = `${one.project.name} and ${other.project.name}`;
    throw usageError(
      `these are of different projects: ${names}`,
      'List those of one project: handover list --project .',
    );
  }
  const here = describePlace('.', context.machine);
  const isHere = ({ workspace }: Handover): boolean => workspace.root === here.workspace.root;
  const rank = (handover: Handover): string =>
    `${Number(isHere(handover))}${Number(!isForeign(handover))}${lastChangeOf(handover)}`;
  const [ours, theirs] = rank(other) > rank(one) ? [other, one] : [one, other];
  const known = await withCatalog(context, findStore(context), async (catalog) => {
    const from = { store: findStore(context), catalog };
    const find = (joined: Handover, { id }: Handover) => findMergeOf(from, joined, ({ previous }) => previous === id);
    return (await find(theirs, ours)) ?? (await find(ours, theirs));
  });
  if (known !== null) return { outcome: 'contained', handover: known, base: null, contradictions: [] };
  const folder = findWorkFolder({ ...ours.workspace, folder: '' }, ours.project, context.machine);
  return saveMerged(context, { ours, theirs, place: folder === null ? null : describePlace(folder, context.machine) });
}

function saveMerged(
  context: Context,
  { ours, theirs, place }: { ours: Handover; theirs: Handover; place: Place | null },
): Merge {
  const store = findStore(context);
  const readLine = (newest: Handover): Handover[] => [...readHistory(store, newest), newest];
  const [mine, others] = [readLine(ours), readLine(theirs)];
  const contains = (line: readonly Handover[], id: string): boolean =>
    line.some((handover) => handover.id === id || handover.chain?.joined === id);
  const container = contains(mine, theirs.id) ? ours : contains(others, ours.id) ? theirs : null;
  if (container !== null) return { outcome: 'contained', handover: container, base: null, contradictions: [] };
  // Where one was merged into the other before, both come from what was merged.
  const common = [mine.findLast(({ id }) => contains(others, id)), others.findLast(({ id }) => contains(mine, id))];
  const [base = null] = common
    .filter((one) => one !== undefined)
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const marks = readMarks(store, ours.project.id);
  const marked = [ours, theirs].map((newest) => markHandover(newest, marks));
  const standing = new Set(marked.flatMap(({ facts }) => facts.map(({ id }) => id)));
  const take = (newest: Handover, line: readonly Handover[]): Side => {
    const at = base === null ? -1 : line.findIndex((one) => contains([one], base.id));
    return {
      newest: markHandover(newest, marks),
      since: line[at] ?? null,
      line: line.slice(at + 1),
      resolved: listGone(newest),
    };
  };
  const listGone = (newest: Handover): Side['resolved'] =>
    // What one side stated again after it was resolved is open.
    new Map(listResolved(newest, marks).filter(([id]) => !standing.has(id)));
  const workspace = place?.workspace ?? ours.workspace;
  const merged: MergeResult = mergeHandovers(take(ours, mine), take(theirs, others), { base, workspace });
  const saved = saveHandover(store, (stamp) => sealRated({ ...merged.draft, ...stamp }));
  for (const notice of listJournalNotices(saved)) context.notify(notice);
  return { outcome: 'merged', handover: saved.handover, base: base?.id ?? null, contradictions: merged.contradictions };
}

const MAX_WORKTREES = 5;

/**
 * Joins the work of other worktrees whose commits came into this one since its newest handover: their branch was merged.
 * Returns the handover to continue from. Costs nothing while HEAD is where that handover saw it.
 */
export async function mergeArrived(context: Context, place: Place, newest: Handover): Promise<Handover> {
  const store = findStore(context);
  const before = newest.workspace.git?.head ?? null;
  const head = place.workspace.git?.head ?? null;
  if (before === null || head === null || before === head || isForeign(newest)) return newest;
  const worktrees = await withCatalog(context, store, async (catalog) => {
    const newestOf = new Map<string, string>();
    for await (const row of listPlausible(store, catalog, { project: { id: place.project.id } })) {
      if (row.root !== place.workspace.root && !newestOf.has(row.root)) newestOf.set(row.root, row.id);
      if (newestOf.size === MAX_WORKTREES) break;
    }
    return [...newestOf.values()];
  });
  let current = newest;
  for (const id of worktrees) {
    const theirs = readIntact(store, id);
    if (theirs === null || isForeign(theirs) || !didArrive(place, theirs, before, context)) continue;
    const { outcome, handover, contradictions } = saveMerged(context, { ours: current, theirs, place });
    if (outcome === 'contained') continue;
    const against =
      contradictions.length === 0 ? '' : `; ${countNouns(contradictions.length, 'contradiction')} first in the brief`;
    const text = `merged the work of ${theirs.workspace.root} (${theirs.id}), whose branch is in this one now${against}`;
    context.notify({ level: 'info', text });
    current = handover;
  }
  return current;
}

/**
 * Whether the branch of a handover was merged into what is checked out since an earlier commit. Takes the branch as it is now,
 * since most work is committed after the session, else the commit that the handover saw.
 */
function didArrive({ root }: Place, { workspace: { git } }: Handover, before: string, { machine }: Context): boolean {
  const ask = (...args: string[]) => runGitOrNull(args, { cwd: root, env: machine.env });
  const tip = git?.branch == null ? null : ask('rev-parse', '--verify', '--quiet', `refs/heads/${git.branch}^{commit}`);
  const commit = tip?.status === 0 ? tip.stdout.toString('latin1').trim() : (git?.head ?? null);
  const isIn = (of: string): boolean => commit !== null && ask('merge-base', '--is-ancestor', commit, of)?.status === 0;
  return isIn('HEAD') && !isIn(before);
}
