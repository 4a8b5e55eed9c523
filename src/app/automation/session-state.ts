import { join } from 'node:path';
import { isFailure } from '../../errors.ts';
import { createCacheFile } from '../../platform/cache-file.ts';
import { removeFile } from '../../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder, pathExists } from '../../platform/folders.ts';
import { readStart } from '../../platform/process-identity.ts';
import { FOLDERS, is, keyOfSession, makeKey, type RecordOf, readRecord, writeRecord } from './records.ts';

/* What hooks remember of a session between calls: that it is open, what was delivered, what is still to be. */

const OPEN_SESSION = {
  agent: is.text,
  session: is.text,
  root: is.text,
  cwd: is.textOrNull,
  transcript: is.textOrNull,
  terminal: is.textOrNull,
  process: is.textOrNull,
  atMs: is.number,
};

/** A session that began in a worktree. Its record is removed when it was captured at its end. */
export type OpenSession = RecordOf<typeof OPEN_SESSION>;

type SessionInWorktree = Pick<OpenSession, 'agent' | 'session' | 'root'>;

/** Keeps the record that is there already. */
export function recordOpenSession(store: string, session: OpenSession): void {
  if (!isOpenSession(store, session)) writeRecord(store, locateOpenSession(session), session);
}

export function isOpenSession(store: string, session: SessionInWorktree): boolean {
  return pathExists(join(store, ...locateOpenSession(session).flat()));
}

export function removeOpenSession(store: string, session: SessionInWorktree): void {
  removeFile(join(store, ...locateOpenSession(session).flat()));
}

/** The sessions of a worktree that are not known to have ended. */
export function listOpenSessions(store: string, root: string): OpenSession[] {
  const folder = join(store, ...FOLDERS.openSessions, makeKey(root));
  return listFolder(folder)
    .sort()
    .flatMap((name) => readRecord(join(folder, name), OPEN_SESSION) ?? [])
    .filter((session) => session.root === root);
}

function locateOpenSession(session: SessionInWorktree): [readonly string[], string] {
  return [[...FOLDERS.openSessions, makeKey(session.root)], `${keyOfSession(session)}.json`];
}

/** Whether an agent's process, as `nameProcess` names it, still runs. */
export function checkProcess(process: string | null): 'running' | 'ended' | 'unknown' {
  const [, pid, start] = /^(\d+)-(\d+)$/.exec(process ?? '') ?? [];
  if (pid === undefined || start === undefined) return 'unknown';
  return readStart(Number(pid)) === start ? 'running' : 'ended';
}

const DELIVERY = {
  agent: is.text,
  session: is.text,
  handover: is.text,
  form: is.text,
  /** How often the receiving session had been compacted, as far as known. */
  compactions: is.number,
  /** The agent's process; null where the system does not reveal it. */
  process: is.textOrNull,
  atMs: is.number,
};

/** One delivery of a handover to a session. */
export type DeliveryRecord = RecordOf<typeof DELIVERY>;

/** A hook that is installed twice is called twice at once, by the same process. */
const DUPLICATE_HOOK_MS = 5000;

/** The deliveries to a session, oldest first. They are few: one for each loss of context. */
export function listDeliveries(store: string, key: string): DeliveryRecord[] {
  const deliveries: DeliveryRecord[] = [];
  for (;;) {
    const name = nameDelivery(key, deliveries.length + 1);
    const delivery = readRecord(join(store, ...FOLDERS.deliveries, name), DELIVERY);
    if (delivery === null) return deliveries;
    deliveries.push(delivery);
  }
}

/** False when another hook of the session makes it, or just made it. `before`: those earlier than the decision. */
export function claimDelivery(
  store: string,
  key: string,
  { delivery, before }: { delivery: DeliveryRecord; before: readonly DeliveryRecord[] },
): boolean {
  const last = before.at(-1);
  const isDuplicate =
    last?.handover === delivery.handover &&
    last.form === delivery.form &&
    last.process === delivery.process &&
    Math.abs(delivery.atMs - last.atMs) < DUPLICATE_HOOK_MS;
  if (isDuplicate) return false;
  const folder = ensurePrivateFolder(store, ...FOLDERS.deliveries);
  return createCacheFile(join(folder, nameDelivery(key, before.length + 1)), JSON.stringify(delivery));
}

function nameDelivery(key: string, number: number): string {
  return `${key}.${number}.json`;
}

const SOURCE = is.oneOf('new', 'resume', 'clear', 'compaction');
const DEFERRED = { agent: is.text, session: is.text, source: SOURCE, atMs: is.number };

/** A delivery put off: the brief was not ready in time, or the agent would not have read it. */
type DeferredDelivery = RecordOf<typeof DEFERRED>;

export function deferDelivery(store: string, key: string, deferred: DeferredDelivery): void {
  writeRecord(store, [FOLDERS.deferred, `${key}.json`], deferred);
}

export function findDeferred(store: string, key: string): DeferredDelivery | null {
  return readRecord(join(store, ...FOLDERS.deferred, `${key}.json`), DEFERRED);
}

export function removeDeferred(store: string, key: string): void {
  removeFile(join(store, ...FOLDERS.deferred, `${key}.json`));
}

const LAUNCH = {
  agent: is.text,
  root: is.text,
  handover: is.text,
  /** The process that started the agent; null where the system does not reveal it. */
  process: is.textOrNull,
  /** The session that it became; null until a hook knows. */
  session: is.textOrNull,
  atMs: is.number,
};

/** An agent that was started with a brief as its first prompt. */
export type LaunchRecord = RecordOf<typeof LAUNCH>;

/** Agents may run their hooks in a process of another descent. */
const LAUNCHED_WITHIN_MS = 60_000;

/** Returns a function that removes the record again, for when the agent has ended. Without a writable store nothing is recorded. */
export function recordLaunch(store: string, launch: LaunchRecord): () => void {
  const name = nameLaunch(launch);
  try {
    writeRecord(store, [FOLDERS.launches, name], launch);
  } catch (error) {
    if (!isFailure(error)) throw error;
    return () => undefined;
  }
  return () => removeFile(join(store, ...FOLDERS.launches, name));
}

function nameLaunch({ agent, root, process, atMs }: LaunchRecord): string {
  return `${makeKey(root, agent)}.${process ?? atMs}.json`;
}

/** The launch that a new session comes from; null for one that somebody started by hand. Asked again, it is the same. */
export function claimLaunch(
  store: string,
  { agent, root, session, atMs }: Pick<OpenSession, 'agent' | 'root' | 'session' | 'atMs'>,
  listAncestors: () => string[],
): LaunchRecord | null {
  const folder = join(store, ...FOLDERS.launches);
  const launches = listFolder(folder)
    .filter((name) => name.startsWith(`${makeKey(root, agent)}.`))
    .flatMap((name) => readRecord(join(folder, name), LAUNCH) ?? [])
    .filter((one) => one.agent === agent && one.root === root && (one.session ?? session) === session);
  if (launches.length === 0) return null;
  const ancestors = new Set(listAncestors());
  const isRecent = (one: LaunchRecord): boolean =>
    Math.abs(atMs - one.atMs) < LAUNCHED_WITHIN_MS && checkProcess(one.process) !== 'ended';
  const found =
    launches.find((one) => one.session === session) ??
    launches.find((one) => one.process !== null && ancestors.has(one.process)) ??
    launches.find(isRecent);
  if (found === undefined) return null;
  writeRecord(store, [FOLDERS.launches, nameLaunch(found)], { ...found, session });
  return found;
}

/*
 * With a brief, a hook looks at no more than takes it a moment. The rest is looked at after the first prompt, by the worker
 * that the hook of that prompt starts; the next hook that can tell something tells what is no longer so.
 */

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(is.text);

const SECOND_LOOK = {
  agent: is.text,
  session: is.text,
  handover: is.text,
  /** The brief was given; a human has spoken since; the worker found something to tell. */
  state: is.oneOf('due', 'asked', 'found'),
  /** When it came into this state. */
  atMs: is.number,
  /** What was told with the brief: files and background commands. */
  told: isTexts,
  /** What to tell, in the worker's words, and their seal. */
  text: is.text,
  seal: is.text,
};
export type SecondLook = RecordOf<typeof SECOND_LOOK>;

type Owner = Pick<SecondLook, 'agent' | 'session'>;

function pathOfLook(store: string, key: string): string {
  return join(store, ...FOLDERS.looks, `${key}.json`);
}

/** Asks for a second look at a handover whose brief is given now. */
export function planSecondLook(
  store: string,
  key: string,
  look: Pick<SecondLook, 'agent' | 'session' | 'handover' | 'atMs' | 'told'>,
): void {
  writeLook(store, key, { ...look, state: 'due', text: '', seal: '' });
}

export function writeLook(store: string, key: string, look: SecondLook): void {
  writeRecord(store, [FOLDERS.looks, `${key}.json`], look);
}

/** Null where none is under way in this session. */
export function readLook(store: string, key: string, owner: Owner | null): SecondLook | null {
  const look = readRecord(pathOfLook(store, key), SECOND_LOOK);
  const isOther = owner !== null && (look?.agent !== owner.agent || look.session !== owner.session);
  return isOther ? null : look;
}

export function removeLook(store: string, key: string): void {
  removeFile(pathOfLook(store, key));
}
