import { join } from 'node:path';
import * as v from 'valibot';
import { catchIf, isFailure, isHandoverError } from '../errors.ts';
import { computeFactId, type Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { isHandoverId } from '../model/id.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import { parseJson } from '../model/json.ts';
import { HandoverId, Timestamp } from '../model/scalars.ts';
import { readRegularFile, removeFile, writeFileDurably } from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder, pathExists } from '../platform/folders.ts';
import { appendEntry, parseEntry, readEntriesOf } from './journal.ts';
import { readMarkLines } from './mark-lines.ts';
import { REMOTES, type Store } from './store.ts';

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

const HeldTask = v.strictObject({
  schema: v.literal('held-task/1'),
  /** The remote's name here. */
  remote: v.string(),
  task: HandoverId,
  /** The number of the take. It grows with every holder of a task, and is what a late one is known by. */
  fence: Count,
  /** The newest state that is ours, as the remote has it. */
  custody: v.looseObject({ task: HandoverId, number: Count, until: v.nullable(Timestamp) }),
  lease_ms: Count,
  /** The `take` that renews the lease; null where nobody does. */
  process: v.nullable(v.string()),
  /** The worktree that it is worked on in, as handovers name it. What is saved there is work on the task. */
  root: v.string(),
  /** `ended`: what is saved in the worktree is not work on the task any more. */
  state: v.picklist(['held', 'late', 'ended']),
  /** Who holds it instead, for a late one; null for all others. */
  late: v.nullable(v.strictObject({ holder: v.string(), number: Count, at: Timestamp })),
  changed_at: Timestamp,
});

/** The record of a task that this store took, by which its own writes are distinguished from another holder's. */
export type HeldTask = v.InferOutput<typeof HeldTask>;

const FOLDER = [REMOTES, 'custody'] as const;
const NAME = /^(.+)\.json$/;
const MAX_BYTES = 64 * 1024;
/** The variable that the agent of a `take` and all that it starts have: `<task>:<fence>`. */
export const TASK_VARIABLE = 'HANDOVER_TASK';

function pathOfTask(store: Store, task: string): string {
  return join(store.root, ...FOLDER, `${task}.json`);
}

export function writeHeldTask(store: Store, held: HeldTask): void {
  ensurePrivateFolder(store.root, ...FOLDER);
  writeFileDurably(pathOfTask(store, held.task), `${JSON.stringify(v.parse(HeldTask, held))}\n`);
}

export function removeHeldTask(store: Store, task: string): void {
  removeFile(pathOfTask(store, task));
}

/** Null for a task that was never taken here; what cannot be read is the same. */
export function readHeldTask(store: Store, task: string): HeldTask | null {
  const read = (): HeldTask =>
    v.parse(HeldTask, parseJson(readRegularFile(pathOfTask(store, task), MAX_BYTES).toString('utf8'), 'a held task'));
  const isUnreadable = (error: unknown): boolean => isFailure(error) || isHandoverError(error) || v.isValiError(error);
  return catchIf(isUnreadable, null, read);
}

/** Those that were taken here, the latest first. Without remotes this is one look at a folder that is not there. */
export function listHeldTasks(store: Store): HeldTask[] {
  const tasks = listFolder(join(store.root, ...FOLDER)).map((name) => NAME.exec(name)?.[1] ?? '');
  const held = tasks.filter(isHandoverId).flatMap((task) => readHeldTask(store, task) ?? []);
  return held.sort((a, b) => (a.changed_at < b.changed_at ? 1 : -1));
}

/** After so long an expired lease no longer counts: work in its worktree is other work. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

/** The task that a save is work on: that of the `take` it runs under, else the latest one of its worktree. */
export function findTaskOf(store: Store, root: string): HeldTask | null {
  const [task, fence] = (store.machine.env[TASK_VARIABLE] ?? '').split(':');
  const known = listHeldTasks(store);
  const named = known.find((one) => one.task === task && String(one.fence) === fence);
  const nowMs = store.machine.clock.now();
  const isHere = (one: HeldTask): boolean =>
    one.root === root && one.state !== 'ended' && nowMs < Date.parse(one.custody.until ?? '') + FORGOTTEN_MS;
  return named ?? known.find(isHere) ?? null;
}

/** What the journal says of a save with a fence: that it came late, once that is known. */
export function noteLateSave(store: Store, handover: string, { task, fence, remote, late }: HeldTask): void {
  if (late === null) return;
  const { holder, number, at } = late;
  const reason = `saved with number ${fence} of task ${task}, which ${holder} took over (number ${number})`;
  appendEntry(store, {
    event: 'late',
    subject: handover,
    reason,
    detail: { task, fence, number, by: holder, since: at, remote },
  });
}

/**
 * Notes that another holds the task, and marks what was saved here since the own lease ended: until then nobody could take it.
 * Returns the handovers that were marked now.
 */
export function markLate(store: Store, held: HeldTask, late: NonNullable<HeldTask['late']>): string[] {
  const changed: HeldTask = { ...held, late, state: held.state === 'ended' ? 'ended' : 'late' };
  writeHeldTask(store, changed);
  const marked = readLate(store);
  const until = held.custody.until ?? '';
  const isLate = ({ subject, at, detail }: JournalEntry): boolean =>
    detail?.task === held.task && detail.fence === held.fence && at > until && !marked.has(subject);
  const saved = readEntriesOf(store, ['saved']).filter(isLate);
  for (const { subject } of saved) noteLateSave(store, subject, changed);
  return saved.map(({ subject }) => subject);
}

/** Handovers that were saved by a late holder, here or elsewhere, and who held the task by then. */
export function readLate(store: Store): Map<string, string> {
  if (!pathExists(join(store.root, REMOTES))) return new Map();
  const lines = readMarkLines(store).filter((line) => line.includes('"event":"late"'));
  const entries = lines.flatMap((line) => parseEntry(Buffer.from(line)) ?? []).filter(({ event }) => event === 'late');
  return new Map(entries.map(({ subject, detail }) => [subject, nameHolder(detail?.by)]));
}

/** It is in briefs: only what can be the name of a signer. */
function nameHolder(by: unknown): string {
  return typeof by === 'string' && /^[\w@+-][\w .@+-]{0,63}$/.test(by) ? by : 'another';
}

/** Added to every brief of a late handover: there is a second line of work on the same task. */
export function noteLate(handover: Handover, holder: string | undefined): Handover {
  if (holder === undefined) return handover;
  const text = `Late: this was saved after the lease of its task had ended, and ${holder} took the task over. Compare it with what ${holder} did before you rely on it.`;
  const id = computeFactId('note', text);
  const fact: Fact = { id, kind: 'note', text, trust: 'observed', origin: 'tool', sources: [], pinned: true };
  return { ...handover, facts: [fact, ...handover.facts] };
}
