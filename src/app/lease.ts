import { HandoverError, isFailure, usageError } from '../errors.ts';
import {
  type Ending,
  isOpen,
  type LeaseChange,
  lateError,
  parseCustody,
  readCustody,
  releaseTask,
  renewLease,
} from '../exchange/remote/custody.ts';
import type { Custody, Register } from '../exchange/remote/register.ts';
import { isHandoverId } from '../model/id.ts';
import { cleanLine } from '../model/text.ts';
import { DAY_MS, formatTimestamp } from '../model/time.ts';
import { withAsyncLock } from '../platform/async-lock.ts';
import { ensurePrivateFolder } from '../platform/folders.ts';
import { describePlace } from '../platform/project.ts';
import * as tasks from '../store/held-tasks.ts';
import { LOCKS, type Store } from '../store/store.ts';
import { type Context, findStore } from './context.ts';
import { listHolding } from './describe/held-task.ts';
import { findId } from './find-handover.ts';
import { withRegister } from './registers.ts';

/** Only one process at a time changes a task, in the remote and here: its own change must not look like another holder's. */
export async function withTask<T>(store: Store, task: string, work: () => Promise<T>): Promise<T> {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  return await withAsyncLock({ folder, name: `custody-${task}`, clock: store.machine.clock }, work);
}

export function readOwnCustody({ custody, task }: tasks.HeldTask): Custody {
  return parseCustody(custody, task);
}

/** Notes the newest state that is ours. */
function noteHeld(store: Store, held: tasks.HeldTask, custody: Custody): tasks.HeldTask {
  const changed: tasks.HeldTask = {
    ...held,
    custody: { ...custody },
    changed_at: formatTimestamp(store.machine.clock.now()),
  };
  tasks.writeHeldTask(store, changed);
  return changed;
}

/** How long an ended task is remembered, to recognise late captures of its agent by the fence. */
const REMEMBERED_MS = 30 * DAY_MS;

export function endHeld(store: Store, held: tasks.HeldTask): void {
  const nowMs = store.machine.clock.now();
  tasks.writeHeldTask(store, { ...held, state: 'ended', changed_at: formatTimestamp(nowMs) });
  for (const { task, state, changed_at } of tasks.listHeldTasks(store))
    if (state === 'ended' && Date.parse(changed_at) < nowMs - REMEMBERED_MS) tasks.removeHeldTask(store, task);
}

/** Marks what was saved here since the lease ended as late, in the journal and in briefs. Returns how many handovers. */
export async function noteLateHolder(store: Store, held: tasks.HeldTask, newest: Custody): Promise<number> {
  const { number, holder, at } = newest;
  const marked = tasks.markLate(store, held, { holder: cleanLine(holder.name), number, at });
  const { refreshPreparedBriefs } = await import('./automation/prepare-briefs.ts');
  if (marked.length > 0) refreshPreparedBriefs(store, newest.project);
  return marked.length;
}

export type LeaseEnd =
  | { outcome: 'released' | 'done' }
  /** Somebody else took it; `marked` handovers of this store are marked as late. */
  | { outcome: 'late'; newest: Custody; marked: number }
  /** It was released here already. */
  | { outcome: 'ended' };

/** `ended`: released here, or taken by another. */
async function renew(store: Store, task: string, register: Register): Promise<'renewed' | 'ended'> {
  const held = tasks.readHeldTask(store, task);
  if (held?.state !== 'held') return 'ended';
  const lease = await renewLease(register, readOwnCustody(held), held.lease_ms);
  if (lease.isLate) await noteLateHolder(store, held, lease.newest);
  else noteHeld(store, held, lease.custody);
  return lease.isLate ? 'ended' : 'renewed';
}

const SHORTEST_MS = 1000;
const RETRY_MS = 30_000;

/**
 * Renews the lease of a task while its agent works, until `stop`. A remote that cannot be reached is asked again. `report` is
 * called when renewing begins to fail, and with null when it works again.
 */
export function keepLease(
  context: Context,
  { task, remote, lease_ms }: tasks.HeldTask,
  report: (failure: Error | null) => void,
): { stop(): Promise<void> } {
  const store = findStore(context);
  const everyMs = Math.max(SHORTEST_MS, Math.floor(lease_ms / 3));
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  let isFailing = false;
  const plan = (ms: number): void => {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = tick();
    }, ms).unref();
  };
  const tick = async (): Promise<void> => {
    try {
      const result = await withRegister(context, remote, ({ register }) =>
        withTask(store, task, () => renew(store, task, register)),
      );
      if (isFailing) report(null);
      isFailing = false;
      if (result === 'renewed') plan(everyMs);
    } catch (error) {
      if (!isFailure(error)) throw error;
      if (!isFailing) report(error);
      isFailing = true;
      plan(Math.min(everyMs, RETRY_MS));
    }
  };
  plan(everyMs);
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Gives a task back, or marks it as done. For a late holder only the record of this store changes. */
export async function endLease(context: Context, task: string, ending: Ending): Promise<LeaseEnd> {
  const store = findStore(context);
  return await withTask(store, task, async () => await end(context, tasks.readHeldTask(store, task), ending));
}

async function end(context: Context, held: tasks.HeldTask | null, ending: Ending): Promise<LeaseEnd> {
  if (held === null || held.state === 'ended') return { outcome: 'ended' };
  const store = findStore(context);
  const lease = await withRegister(context, held.remote, async ({ register, by }): Promise<LeaseChange> => {
    const own = readOwnCustody(held);
    const newest = await readCustody(register, held.task);
    if (newest !== null && newest.number >= own.number) return await releaseTask(register, own, ending);
    // The remote was put back to an old state. Nothing of ours is there to be released; that it is done can be said again.
    const text = `${held.remote} knows nothing of what you held; it was restored from a backup, or somebody deleted it`;
    context.notify({ level: 'warning', text, next: `handover who ${held.task}` });
    const isClosed = ending === 'done' && newest !== null && isOpen(newest, await register.now());
    return isClosed ? await releaseTask(register, { ...newest, holder: by }, ending) : { isLate: false, custody: own };
  });
  if (!lease.isLate) {
    endHeld(store, { ...held, custody: { ...lease.custody } });
    return { outcome: ending === 'done' ? 'done' : 'released' };
  }
  const marked = await noteLateHolder(store, held, lease.newest);
  endHeld(store, tasks.readHeldTask(store, held.task) ?? held);
  return { outcome: 'late', newest: lease.newest, marked };
}

interface ReleaseRequest {
  words: string | undefined;
  state: 'released' | 'done';
  /** Where this store knows nothing of the task. */
  remote?: string | undefined;
}

/** Releases the named task; without a name that of the `take` this runs under, or else of this worktree. */
export async function releaseNamed(
  context: Context,
  { words, state, remote }: ReleaseRequest,
): Promise<{ held: Pick<tasks.HeldTask, 'task' | 'fence' | 'remote'>; outcome: 'released' | 'done' }> {
  const store = findStore(context);
  const held = words === undefined ? findHere(context, store) : findNamed(store, words);
  if (held === null) return { held: await releaseUnnoted(context, { words, state, remote }), outcome: state };
  const end = await endLease(context, held.task, state);
  if (end.outcome === 'late') throw lateError({ number: held.fence }, end.newest);
  return { held, outcome: state };
}

function findHere(context: Context, store: Store): tasks.HeldTask {
  const { workspace } = describePlace('.', context.machine);
  const held = listHolding(store);
  const isAmbiguous = held.filter(({ root }) => root === workspace.root).length > 1;
  const isGiven = context.machine.env[tasks.TASK_VARIABLE] !== undefined;
  const found = isAmbiguous && !isGiven ? null : tasks.findTaskOf(store, workspace.root);
  const only = held.length === 1 ? held[0] : undefined;
  if (found !== null && found.state !== 'ended') return found;
  if (only !== undefined) return only;
  const named = held.map(({ task }) => task).join(', ');
  const hint = held.length === 0 ? 'Take one: handover take' : `Name one of those that you hold: ${named}`;
  throw usageError(isAmbiguous ? 'you hold several tasks in this worktree' : 'you hold no task in this worktree', hint);
}

/**
 * A take that was killed may have left no note here: what the remote says is held by this key is given back, too. That nobody has to
 * do it any more can be said of every task that nobody holds, also where its handover is gone.
 */
async function releaseUnnoted(context: Context, { words = '', state, remote }: ReleaseRequest) {
  const text = words.trim().toLowerCase();
  const task = isHandoverId(text) ? text : await findId(findStore(context), words);
  return await withRegister(context, remote, async ({ register, by, name }) => {
    const newest = await readCustody(register, task);
    const isOwn = newest?.state === 'held' && newest.holder.writer === by.writer;
    const isClosed = newest !== null && state === 'done' && isOpen(newest, await register.now());
    const kept = isOwn || isClosed ? await releaseTask(register, { ...newest, holder: by }, state) : null;
    if (newest === null || kept === null || kept.isLate) {
      const hint = 'See what you hold: handover who';
      throw new HandoverError('HANDOVER_NOT_FOUND', 'you hold no such task', { hint });
    }
    return { task, fence: newest.number, remote: name };
  });
}

/** Null for a task that this store has no record of. */
function findNamed(store: Store, words: string): tasks.HeldTask | null {
  const text = words.trim().toLowerCase();
  const held = listHolding(store);
  const [found, ...others] = held.filter(
    ({ task }) => text.length >= 4 && (task.startsWith(text) || task.endsWith(text)),
  );
  if (found !== undefined && others.length === 0) return found;
  if (found === undefined) return null;
  const hint = 'See what you hold: handover who';
  throw new HandoverError('HANDOVER_NOT_FOUND', 'several tasks that you hold match', { hint });
}
