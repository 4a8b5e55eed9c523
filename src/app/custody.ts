import { HandoverError, hasCode, usageError } from '../errors.ts';
import { isSignerName, readTrustList } from '../exchange/bundle/trust-list.ts';
import * as custody from '../exchange/remote/custody.ts';
import { nameWriter } from '../exchange/remote/page.ts';
import type { Custody, TaskFilter } from '../exchange/remote/register.ts';
import type { Handover } from '../model/handover.ts';
import { isHandoverId } from '../model/id.ts';
import { countNouns, quoteInput } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import { describePlace, findFolderToWorkIn, identifyProject } from '../platform/project.ts';
import { nameOwnProcess } from '../platform/terminal.ts';
import { requireHandover } from '../store/find-handover.ts';
import { readIntact } from '../store/handovers.ts';
import { type HeldTask, readHeldTask, writeHeldTask } from '../store/held-tasks.ts';
import type { Store } from '../store/store.ts';
import { checkProcess } from './automation/session-state.ts';
import { type Context, findStore } from './context.ts';
import { listHolding } from './describe/held-task.ts';
import { findId, isLatest, pickToSend } from './find-handover.ts';
import { endHeld, noteLateHolder, readOwnCustody, withTask } from './lease.ts';
import { type OpenRegister, withRegister } from './registers.ts';

interface OfferRequest {
  words: string;
  to?: string | undefined;
  label?: string | undefined;
  remote?: string | undefined;
}

/** Offers a handover as a task for somebody else. It is sent first, so that the taker has it. */
export async function offerNamed(
  context: Context,
  { words, to, label, remote }: OfferRequest,
): Promise<{ handover: Handover; custody: Custody; remote: string }> {
  const store = findStore(context);
  if (to !== undefined && !isSignerName(to))
    throw usageError(`${quoteInput(to)} is not the name of a signer`, 'See: handover keys list');
  requireLabel(label);
  const handover = await pickToSend(context, words);
  return await withRegister(context, remote, async (opened) => {
    const { register, by, name } = opened;
    await opened.sync();
    if (!(await opened.isShared(handover))) throw notSharedError(name, handover);
    const known = readHeldTask(store, handover.id);
    const own = known?.state === 'held' && known.remote === name ? known : null;
    const offered = await custody.offerTask(register, {
      task: handover.id,
      project: handover.project.id,
      by,
      to: to === undefined ? null : await findSigningName(context, opened, to),
      label: label ?? null,
      held: own === null ? undefined : readOwnCustody(own),
    });
    if (own !== null) endHeld(store, { ...own, custody: { ...offered } });
    return { handover, custody: offered, remote: name };
  });
}

/** A task is taken by the name that its taker signs with; on the trust list the same key may have another. */
async function findSigningName(context: Context, { findSignerName }: OpenRegister, name: string): Promise<string> {
  const trusted = readTrustList(context.machine).filter(({ state }) => state === 'trusted');
  const named = trusted.find((known) => known.name === name);
  const own = named === undefined ? null : await findSignerName(nameWriter(named.key));
  if (own !== null && own !== name) context.notify({ level: 'note', text: `${name} signs as ${own} there` });
  if (own !== null) return own;
  for (const { key } of named === undefined ? trusted : [])
    if ((await findSignerName(nameWriter(key))) === name) return name;
  const text =
    named === undefined
      ? `nobody on your trust list signs as ${name}: only whoever has this very name can take it`
      : `${name} has sent nothing there yet: only whoever signs with this very name can take it`;
  context.notify({ level: 'note', text, next: 'handover keys list' });
  return name;
}

function notSharedError(remote: string, { id, project }: Handover): HandoverError {
  const message = `${id} of ${project.name} does not leave for ${remote}, so nobody could take it`;
  const hint = `See what may leave: handover remote list, and [sync] in the settings of ${project.name}`;
  return new HandoverError('HANDOVER_REMOTE_REFUSED', message, { hint });
}

function requireLabel(label: string | undefined): void {
  if (label === undefined || custody.LABEL.test(label)) return;
  throw usageError(`${quoteInput(label)} is not a label`, 'A label has up to 64 letters, digits, dots and dashes.');
}

interface TakeRequest {
  /** The task; undefined for the oldest open one that the filter matches. */
  words: string | undefined;
  filter: Pick<TaskFilter, 'project' | 'label'>;
  remote?: string | undefined;
  leaseMs: number;
  /** Whether this process renews the lease. */
  renews: boolean;
}

export interface TakenTask {
  handover: Handover;
  held: HeldTask;
}

/** Takes a task. What was synced since is fetched first, so that its handover is here. */
export async function takeNamed(context: Context, request: TakeRequest): Promise<TakenTask> {
  const { filter, remote, words, leaseMs } = request;
  requireLabel(filter.label);
  return await withRegister(context, remote, async (opened) => {
    await opened.sync();
    const store = findStore(context);
    const taken =
      words === undefined
        ? await takeOldest(context, opened, { filter, leaseMs })
        : await takeOne(store, opened, { task: await findTask(context, words), leaseMs });
    if (taken === null) throw nothingOpenError(filter);
    const handover = requireHandover(store, taken.task);
    return { handover, held: noteTaken(context, { taken, handover, request, remote: opened.name }) };
  });
}

/** Open tasks that are passed over in one go, as their handovers are not here. */
const MOST_PASSED = 100;

/** The oldest open one whose handover is here. Those that cannot be read here do not keep others back: they are released again. */
async function takeOldest(
  context: Context,
  { register, by, sync }: OpenRegister,
  { filter, leaseMs }: Pick<TakeRequest, 'filter' | 'leaseMs'>,
): Promise<Custody | null> {
  const store = findStore(context);
  const isHere = ({ task }: Custody): boolean => readIntact(store, task) !== null;
  const passed: Custody[] = [];
  let taken: Custody | null = null;
  try {
    while (taken === null && passed.length < MOST_PASSED) {
      const next = await custody.takeNext(register, filter, { by, leaseMs });
      if (next === null) break;
      if (isHere(next)) taken = next;
      else passed.push(next);
    }
    if (taken !== null || passed.length === 0) return taken;
    // One may have been offered since the last sync.
    await sync();
    taken = passed.find(isHere) ?? null;
    return taken;
  } finally {
    const others = passed.filter((one) => one !== taken);
    for (const one of others) await custody.releaseTask(register, one, 'unstarted');
    if (others.length > 0) context.notify({ level: 'note', text: describePassed(others) });
  }
}

function describePassed(passed: readonly Custody[]): string {
  const ids = passed.slice(0, 3).map(({ task }) => task);
  const which = `${ids.join(', ')}${passed.length > ids.length ? ' …' : ''}`;
  const why = 'the signer may not be trusted here (handover sync says so)';
  return `passed over ${countNouns(passed.length, 'open task')} without a handover here, ${which}: ${why}, or it was forgotten; then close the task: handover release ID --done`;
}

function nothingOpenError({ project, label }: TaskFilter): HandoverError {
  const which = `${label === undefined ? '' : ` with label ${label}`}${project === undefined ? '' : ' of this project'}`;
  const hint = 'See what there is: handover who; offer one: handover offer';
  return new HandoverError('HANDOVER_NOT_FOUND', `there is no open task${which}`, { hint });
}

/** One that is held here is renewed, unless its `take` still runs: two agents must not work on it. */
async function takeOne(
  store: Store,
  { register, by, name }: OpenRegister,
  { task, leaseMs }: { task: string; leaseMs: number },
): Promise<Custody> {
  const known = readHeldTask(store, task);
  if (known?.state === 'held' && known.remote === name) {
    if (known.process !== null && checkProcess(known.process) === 'running')
      throw new HandoverError('HANDOVER_TASK_HELD', `you hold task ${task} already, and its agent is at work`, {
        hint: `See: handover who ${task}`,
      });
    const lease = await custody.renewLease(register, readOwnCustody(known), leaseMs);
    if (!lease.isLate) return lease.custody;
    await noteLateHolder(store, known, lease.newest);
  }
  const { project } = requireHandover(store, task);
  return await custody.takeTask(register, { task, project: project.id, by, leaseMs });
}

/** `latest` is the newest of this project: one of another may have nothing to do with this remote. */
async function findTask(context: Context, words: string): Promise<string> {
  if (isLatest(words)) return (await pickToSend(context, words)).id;
  try {
    return await findId(findStore(context), words);
  } catch (error) {
    if (!hasCode(error, 'HANDOVER_NOT_FOUND')) throw error;
    const hint = 'A task is taken by the id of its handover, which must be here: handover sync, then handover list';
    throw new HandoverError(error.code, error.message, { hint, cause: error });
  }
}

function noteTaken(
  context: Context,
  { taken, handover, request, remote }: { taken: Custody; handover: Handover; request: TakeRequest; remote: string },
): HeldTask {
  const store = findStore(context);
  const { machine } = context;
  const before = readHeldTask(store, taken.task);
  const folder = findFolderToWorkIn(handover.workspace, handover.project, machine) ?? machine.cwd;
  const isRenewed = before?.state === 'held';
  const held: HeldTask = {
    schema: 'held-task/1',
    remote,
    task: taken.task,
    fence: isRenewed ? before.fence : taken.number,
    custody: { ...taken },
    lease_ms: request.leaseMs,
    process: request.renews ? nameOwnProcess() : null,
    root: describePlace(folder, machine).workspace.root,
    state: 'held',
    late: null,
    changed_at: formatTimestamp(machine.clock.now()),
  };
  writeHeldTask(store, held);
  return held;
}

export interface TaskState {
  task: string;
  /** Null for a task that nobody offered or took. */
  custody: Custody | null;
  /** Whether somebody could take it now. */
  isOpen: boolean;
  /** The record of this store, if it took the task. */
  held: HeldTask | null;
  /** For a task that was named with the number of a take: whether its lease lasts. */
  isOurs?: boolean;
}

/** The state of a task. Also notices when this store is a late holder. */
export async function lookUpTask(context: Context, words: string, remote?: string): Promise<TaskState> {
  const store = findStore(context);
  // An agent's environment has it with the number of the take.
  const [text = '', fence] = words
    .trim()
    .toLowerCase()
    .split(/:(?=\d+$)/);
  const task = isHandoverId(text) ? text : await findId(store, text);
  return await withRegister(context, remote, async ({ register, name }) => {
    const newest = await withTask(store, task, async () => {
      const found = await custody.readCustody(register, task);
      const held = readHeldTask(store, task);
      const isOwn = held !== null && held.state !== 'ended' && held.remote === name;
      if (isOwn && found !== null && found.number > held.custody.number) await noteLateHolder(store, held, found);
      return found;
    });
    const isOpen = newest === null || custody.isOpen(newest, await register.now());
    const held = readHeldTask(store, task);
    if (fence === undefined) return { task, custody: newest, isOpen, held };
    const isKnown = held?.state === 'held' && held.remote === name && String(held.fence) === fence;
    const isOurs = isKnown && newest?.number === held.custody.number && !isOpen;
    return { task, custody: newest, isOpen, held, isOurs };
  });
}

const MAX_LISTED = 50;

interface Tasks {
  held: HeldTask[];
  open: Custody[];
  /** How many tasks of other projects are open; looked for only where none of this project is. */
  elsewhere: number;
}

/** What this store holds, and the open tasks of this project, also those that are offered to others. */
export async function listTasks(context: Context, remote?: string): Promise<Tasks> {
  const held = listHolding(findStore(context));
  const project = identifyProject('.', context.machine).id;
  return await withRegister(context, remote, async ({ register }) => {
    const found = await register.listOpen({ project }, MAX_LISTED);
    const elsewhere = found.length > 0 ? 0 : (await register.listOpen({}, MAX_LISTED)).length;
    return { held, open: found.map((one) => custody.parseCustody(one)), elsewhere };
  });
}
