import { catchAsync, HandoverError, hasCode, isFailure } from '../../errors.ts';
import { canonicalize, compareCodeUnits, sha256Hex } from '../../model/hash.ts';
import { isHandoverId } from '../../model/id.ts';
import { parseJson } from '../../model/json.ts';
import type { Machine } from '../../platform/machine.ts';
import type { BlobStore } from './blobs.ts';
import { isOpen, matchesFilter, parseCustody } from './custody.ts';
import type { Custody, Register, TaskFilter } from './register.ts';

/**
 * A register made of blobs that are created only if absent: `custody/<task>/<number>`, where the highest number counts. A task
 * that is not done has a marker in `custody-open/<project>/`, so that open tasks are found without reading all tasks. The
 * marker is created before the first state and removed after the final one, so a kill never leaves an open task without it.
 */
const STATES = 'custody';
const MARKERS = 'custody-open';
const PROBES = 'custody-probe';

/** More than a state takes with the longest names. */
const MAX_BYTES = 4096;
/** A lease that is renewed every minute for two months. */
const MAX_STATES = 100_000;
const MAX_MARKERS = 1_000_000;
const READ_AT_ONCE = 16;
/** Clocks of machines that share a remote may differ by this much. */
export const GRACE_MS = 60_000;

interface RegisterOptions {
  machine: Pick<Machine, 'clock' | 'random'>;
  /** Whether to test, before the first write, that a name can be created only once: some servers ignore the condition. */
  triesCreation: boolean;
}

export function openObjectRegister(blobs: BlobStore, { machine, triesCreation }: RegisterOptions): Register {
  const { clock, random } = machine;
  const nonce = (): string => Buffer.from(random.bytes(12)).toString('hex');
  let trial: Promise<void> | null = triesCreation ? null : Promise.resolve();
  const readAt = async (task: string, number: number): Promise<Custody | null> => {
    const bytes = await blobs.read(pathOfState(task, number), MAX_BYTES);
    return bytes === null ? null : parseState(bytes, { task, number });
  };
  const now: Register['now'] = async () => ({ now: clock.now(), graceMs: GRACE_MS });
  return {
    now,
    read: async (task) => {
      const number = numberOf((await blobs.list(`${STATES}/${requireTask(task)}/`, MAX_STATES)).at(-1));
      return number === null ? null : await readAt(task, number);
    },
    append: async (custody) => {
      const { task, number, state } = custody;
      trial ??= tryCreation(blobs, nonce);
      await trial;
      if (number > 1 && (await readAt(requireTask(task), number - 1)) === null) return false;
      if (number === 1 || state === 'offered') await blobs.create(pathOfMarker(custody), Buffer.from(task));
      // The nonce identifies our own state if the answer to its creation was lost and it is tried again.
      const bytes = Buffer.from(canonicalize({ schema: 'custody/1', ...custody, nonce: nonce() }));
      const path = pathOfState(task, number);
      const isOurs =
        (await blobs.create(path, bytes)) || bytes.equals((await blobs.read(path, MAX_BYTES)) ?? Buffer.of());
      if (isOurs && state === 'done') await removeMarkers(blobs, [pathOfMarker(custody)]);
      return isOurs;
    },
    listOpen: async (filter, limit) => {
      const open: Custody[] = [];
      const moment = await now();
      const tasks = await listMarked(blobs, filter);
      for (let at = 0; at < tasks.length && open.length < limit; at += READ_AT_ONCE) {
        const batch = tasks.slice(at, at + READ_AT_ONCE);
        const states = await Promise.all(batch.map(({ task }) => readUsable(() => findNewest((n) => readAt(task, n)))));
        const done = batch.flatMap(({ path }, index) => (states[index]?.state === 'done' ? [path] : []));
        if (done.length > 0) await removeMarkers(blobs, done);
        for (const custody of states)
          if (custody !== null && matchesFilter(custody, filter) && isOpen(custody, moment)) open.push(custody);
      }
      return open.slice(0, limit);
    },
  };
}

const UNUSABLE = ['HANDOVER_INPUT_INVALID', 'HANDOVER_JSON_INVALID', 'HANDOVER_TEXT_TOO_LARGE'] as const;

/** One invalid state must not hide all other tasks; it is an error only for whoever names its task. */
async function readUsable(read: () => Promise<Custody | null>): Promise<Custody | null> {
  return await catchAsync((error) => UNUSABLE.some((code) => hasCode(error, code)), null, read);
}

/** Numbers have no gaps: doubles the step until one is missing, then halves it. Few tasks have more than three states. */
async function findNewest(readAt: (number: number) => Promise<Custody | null>): Promise<Custody | null> {
  let newest: Custody | null = null;
  let step = 1;
  for (let isGrowing = true; step >= 1; ) {
    const next = await readAt((newest?.number ?? 0) + step);
    newest = next ?? newest;
    isGrowing &&= next !== null;
    step = isGrowing ? step * 2 : Math.floor(step / 2);
  }
  return newest;
}

/** The oldest first; each task once. */
async function listMarked(blobs: BlobStore, { project, label }: TaskFilter): Promise<{ task: string; path: string }[]> {
  const folder = project === undefined ? `${MARKERS}/` : `${MARKERS}/${project}/`;
  const marked = (await blobs.list(folder, MAX_MARKERS)).flatMap((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const [time = '', task = '', ofLabel] = name.split('_');
    const isWanted = isHandoverId(task) && (label === undefined || ofLabel === digestLabel(label));
    return isWanted ? [{ task, path, order: `${time}_${task}` }] : [];
  });
  marked.sort((a, b) => compareCodeUnits(a.order, b.order));
  return [...new Map(marked.map((marker) => [marker.task, marker])).values()];
}

/** What cannot be removed now is removed by the next list of open tasks. */
async function removeMarkers(blobs: BlobStore, paths: readonly string[]): Promise<void> {
  await catchAsync(isFailure, undefined, () => blobs.remove(paths));
}

async function tryCreation(blobs: BlobStore, nonce: () => string): Promise<void> {
  const path = `${PROBES}/${nonce()}`;
  const texts = [nonce(), nonce()];
  const create = async (text: string): Promise<boolean> => await blobs.create(path, Buffer.from(text));
  const created = [...(await Promise.all(texts.map(create))), await create(nonce())];
  const there = await blobs.read(path, MAX_BYTES);
  await removeMarkers(blobs, [path]);
  const [winner, ...others] = created.flatMap((isCreated, index) => (isCreated ? [texts[index]] : []));
  if (winner !== undefined && others.length === 0 && there?.toString() === winner) return;
  const message = `${blobs.address} does not keep two writers from creating one name, so it cannot promise one holder of a task`;
  const hint =
    'Use a server that honours If-None-Match when objects are written, or another kind of remote. Handovers can be synced with this one.';
  throw new HandoverError('HANDOVER_REMOTE_REFUSED', message, { hint });
}

const DIGITS = 8;

function pathOfState(task: string, number: number): string {
  return `${STATES}/${requireTask(task)}/${String(number).padStart(DIGITS, '0')}`;
}

function numberOf(path: string | undefined): number | null {
  const [, digits] = /\/(\d{8})$/.exec(path ?? '') ?? [];
  return digits === undefined ? null : Number(digits);
}

function pathOfMarker({ task, project, label, offered_at }: Custody): string {
  const time = String(Date.parse(offered_at)).padStart(15, '0');
  return `${MARKERS}/${project}/${time}_${requireTask(task)}_${digestLabel(label)}`;
}

function digestLabel(label: string | null): string {
  return label === null ? '-' : sha256Hex(Buffer.from(label)).slice(0, 8);
}

function requireTask(task: string): string {
  if (isHandoverId(task)) return task;
  throw new HandoverError('HANDOVER_INPUT_INVALID', 'not a handover id');
}

function parseState(bytes: Buffer, { task, number }: { task: string; number: number }): Custody {
  const custody = parseCustody(parseJson(bytes.toString('utf8'), 'the state of a task'), task);
  if (custody.number === number) return custody;
  throw new HandoverError('HANDOVER_INPUT_INVALID', `state ${number} of task ${task} has number ${custody.number}`);
}
