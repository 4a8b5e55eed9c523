import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { PROJECT_ID } from '../../model/id.ts';
import { HandoverId, Timestamp } from '../../model/scalars.ts';
import { cleanLine } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import { isSignerName } from '../bundle/trust-list.ts';
import type { Custody, Register, TaskFilter } from './register.ts';

/** Who acts: the writer and the name of a signing key. */
export type Holder = Custody['holder'];

/** What a fleet picks its tasks by. */
export const LABEL: RegExp = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;
const Name = v.pipe(v.string(), v.check(isSignerName, 'is not the name of a signer'));

const Answer = v.pipe(
  v.object({
    task: HandoverId,
    project: v.pipe(v.string(), v.regex(PROJECT_ID)),
    number: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
    state: v.picklist(['offered', 'held', 'released', 'done']),
    holder: v.object({ writer: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)), name: Name }),
    to: v.nullable(Name),
    label: v.nullable(v.pipe(v.string(), v.regex(LABEL))),
    until: v.nullable(Timestamp),
    at: Timestamp,
    offered_at: Timestamp,
  }),
  v.check(({ state, until }) => (state === 'held') === (until !== null), 'only what is held has a lease'),
);

/** Parses a state from a remote. Throws HANDOVER_INPUT_INVALID for anything else, and for the state of another task. */
export function parseCustody(input: unknown, task?: string): Custody {
  const { success, output, issues } = v.safeParse(Answer, input);
  if (success && (task === undefined || output.task === task)) return output;
  const what = success ? `it is of ${output.task}` : cleanLine(issues[0].message);
  const hint = 'Somebody else writes there, or a newer version does. See: handover remote test';
  throw new HandoverError('HANDOVER_INPUT_INVALID', `the remote’s state of a task cannot be used: ${what}`, { hint });
}

/** The time by the register's clock, and how far clocks may differ. */
type Moment = Awaited<ReturnType<Register['now']>>;

/** Whether somebody could take it: offered, released, or its lease is over. */
export function isOpen({ state, until }: Custody, { now, graceMs }: Moment): boolean {
  if (state === 'held') return until !== null && now > Date.parse(until) + graceMs;
  return state !== 'done';
}

/** Whether a task passes the filter. */
export function matchesFilter(custody: Custody, { project, label, for: name }: TaskFilter): boolean {
  return (
    (project === undefined || custody.project === project) &&
    (label === undefined || custody.label === label) &&
    (name === undefined || mayTake(custody, name))
  );
}

/** A task that was offered to one person can only be taken by them. */
function mayTake({ state, to }: Custody, name: string): boolean {
  return state !== 'offered' || to === null || to === name;
}

/** The newest state of a task; null for one that nobody offered or took. */
export async function readCustody(register: Register, task: string): Promise<Custody | null> {
  const answer = await register.read(task);
  return answer === null ? null : parseCustody(answer, task);
}

/** Each failed append means that another one succeeded: so many in a row are not normal. */
const MAX_ATTEMPTS = 100;

/** Reads, decides and appends; starts over if somebody else appended first. `decide` throws to refuse. */
async function change(
  register: Register,
  task: string,
  decide: (newest: Custody | null, moment: Moment) => Custody,
): Promise<Custody> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const newest = await readCustody(register, task);
    const next = decide(newest, await register.now());
    if (await register.append(next)) return next;
  }
  const hint = 'Try again in a minute; if it happens again: handover remote test';
  throw new HandoverError('HANDOVER_REMOTE_BUSY', `task ${task} changes all the time`, { hint });
}

export interface Offer {
  task: string;
  project: string;
  by: Holder;
  /** The name of the signer that it is for; null for anybody. */
  to: string | null;
  label: string | null;
  /** The state by which `by` holds it now: a holder may offer it to somebody else. */
  held?: Custody | undefined;
}

/** Offers a task. Refused while somebody else holds it, and once it is done. */
export async function offerTask(register: Register, offer: Offer): Promise<Custody> {
  const { task, project, by: holder, to, label, held } = offer;
  return await change(register, task, (newest, moment) => {
    const isOwn = newest !== null && held?.number === newest.number;
    if (newest !== null && !isOwn && !isOpen(newest, moment)) throw takenError(newest, holder);
    const at = formatTimestamp(moment.now);
    const { number, offered_at } = newest ?? { number: 0, offered_at: at };
    return { task, project, number: number + 1, state: 'offered', holder, to, label, until: null, at, offered_at };
  });
}

export interface Take {
  task: string;
  project: string;
  by: Holder;
  leaseMs: number;
}

/** Takes a task; the number of the new state is the fence. Refused while others hold it or it is offered to them, and once it is done. */
export async function takeTask(register: Register, { task, project, by, leaseMs }: Take): Promise<Custody> {
  return await change(register, task, (newest, moment) => {
    if (newest !== null && !isOpen(newest, moment)) throw takenError(newest, by);
    if (newest !== null && !mayTake(newest, by.name)) throw notForYouError(newest);
    const at = formatTimestamp(moment.now);
    const first = { task, project, number: 0, to: null, label: null, offered_at: at };
    return hold(newest ?? first, { by, leaseMs, nowMs: moment.now });
  });
}

function hold(
  before: Pick<Custody, 'task' | 'project' | 'number' | 'to' | 'label' | 'offered_at'>,
  { by: holder, leaseMs, nowMs }: { by: Holder; leaseMs: number; nowMs: number },
): Custody {
  const { task, project, number, to, label, offered_at } = before;
  const [at, until] = [formatTimestamp(nowMs), formatTimestamp(nowMs + leaseMs)];
  return { task, project, number: number + 1, state: 'held', holder, to, label, until, at, offered_at };
}

/** How many open tasks are listed at once. */
const BATCH = 16;

/** Takes the oldest open task that matches; null when there is none. */
export async function takeNext(
  register: Register,
  filter: TaskFilter,
  { by, leaseMs }: Pick<Take, 'by' | 'leaseMs'>,
): Promise<Custody | null> {
  const wanted = { ...filter, for: by.name };
  if (register.takeNext !== undefined) {
    const answer = await register.takeNext(wanted, { holder: by, leaseMs });
    const taken = answer === null ? null : parseCustody(answer);
    const isOurs = taken?.state === 'held' && taken.holder.writer === by.writer;
    if (taken === null || (isOurs && matchesFilter(taken, filter))) return taken;
    throw new HandoverError('HANDOVER_INPUT_INVALID', `the remote gave task ${taken.task}, which was not asked for`);
  }
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const moment = await register.now();
    const found = (await register.listOpen(wanted, BATCH)).map((answer) => parseCustody(answer));
    const open = found.filter((custody) => matchesFilter(custody, wanted) && isOpen(custody, moment));
    if (open.length === 0) return null;
    for (const custody of open) {
      const next = hold(custody, { by, leaseMs, nowMs: moment.now });
      if (await register.append(next)) return next;
    }
  }
  const hint = 'Try again in a minute, with fewer workers at once.';
  throw new HandoverError('HANDOVER_REMOTE_BUSY', 'others were faster at every open task', { hint });
}

/** `isLate`: somebody else took the task since, and nothing was changed; `newest` is its state now. */
export type LeaseChange = { isLate: false; custody: Custody } | { isLate: true; newest: Custody };

/** Extends the lease. An expired one can still be renewed, as long as nobody else took the task. */
export async function renewLease(register: Register, held: Custody, leaseMs: number): Promise<LeaseChange> {
  return await changeLease(register, held, (nowMs) => hold(held, { by: held.holder, leaseMs, nowMs }));
}

/** `unstarted`: nothing was done on it, so it is still for the one to whom it was offered. `done` is final. */
export type Ending = 'released' | 'unstarted' | 'done';

/** Gives a task back, or marks it as done. */
export async function releaseTask(register: Register, held: Custody, ending: Ending): Promise<LeaseChange> {
  const to = ending === 'unstarted' ? held.to : null;
  const state = ending === 'done' ? 'done' : to === null ? 'released' : 'offered';
  return await changeLease(register, held, (nowMs) => {
    return { ...held, number: held.number + 1, state, to, until: null, at: formatTimestamp(nowMs) };
  });
}

async function changeLease(register: Register, held: Custody, write: (nowMs: number) => Custody): Promise<LeaseChange> {
  const { task, number } = held;
  const before = await requireKnown(register, held);
  if (before.number === number) {
    const next = write((await register.now()).now);
    if (await register.append(next)) return { isLate: false, custody: next };
  }
  const newest = before.number === number ? await requireKnown(register, held) : before;
  if (newest.number > number) return { isLate: true, newest };
  const hint = 'Try again; if it happens again: handover remote test';
  throw new HandoverError('HANDOVER_REMOTE_BUSY', `the state of task ${task} could not be written`, { hint });
}

/** A remote that was restored from a backup lacks the newest states, so two holders could get the same number. */
async function requireKnown(register: Register, { task, number }: Custody): Promise<Custody> {
  const newest = await readCustody(register, task);
  if (newest !== null && newest.number >= number) return newest;
  const known = newest === null ? 'nothing' : `only up to number ${newest.number}`;
  const hint = 'It was restored from a backup, or somebody deleted states. Agree on one holder, then offer it anew.';
  const message = `you hold task ${task} with number ${number}, and the remote knows ${known} of it`;
  throw new HandoverError('HANDOVER_REMOTE_REFUSED', message, { hint });
}

/** Who holds it until when, for people. */
export function describeCustody({ state, holder, to, until, at }: Custody): string {
  const name = cleanLine(holder.name);
  if (state === 'held') return `held by ${name} until ${until ?? at}`;
  if (state === 'offered') return `offered by ${name}${to === null ? '' : ` to ${cleanLine(to)}`} since ${at}`;
  return `${state === 'done' ? 'done' : 'released'} by ${name} at ${at}`;
}

function takenError(custody: Custody, by: Holder): HandoverError {
  const { task, state, number, holder, until } = custody;
  const data = { task, state, number, holder: holder.name, until };
  const message = `task ${task} is ${describeCustody(custody)}`;
  if (state === 'done') {
    const hint = 'A task is done once. If more is to be done, save a handover that says so, and offer that one.';
    return new HandoverError('HANDOVER_STATUS_FINAL', message, { hint, data });
  }
  const hint =
    holder.writer === by.writer
      ? `That is your own key: a take that was killed, or another machine with the key. To give it back: handover release ${task}`
      : 'Take another: handover take --next. It is free again when it is released, or its lease is over.';
  return new HandoverError('HANDOVER_TASK_HELD', message, { hint, data });
}

function notForYouError(custody: Custody): HandoverError {
  const { task, number, to } = custody;
  const hint = 'Whoever offered it can offer it to anybody: handover offer, without --to.';
  const data = { task, number, to };
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `task ${task} is ${describeCustody(custody)}`, { hint, data });
}

/** Somebody else holds it by now, so the write was not accepted. */
export function lateError({ number }: Pick<Custody, 'number'>, newest: Custody): HandoverError {
  const { task, holder } = newest;
  const hint = 'Nothing was changed there. What you saved since your lease ended is marked: compare it with theirs.';
  const data = { task, fence: number, number: newest.number, holder: holder.name };
  const message = `your lease of task ${task} is over, and it is ${describeCustody(newest)}`;
  return new HandoverError('HANDOVER_TASK_LATE', message, { hint, data });
}
