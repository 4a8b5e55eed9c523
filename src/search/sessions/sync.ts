import { AGENT_NAMES, type FoundSession, type RecallSession } from '../../agents/agent.ts';
import { findSessions, rememberProjects } from '../../agents/find-session.ts';
import { findAgentSessions } from '../../agents/table.ts';
import { catchIf, isFailure, isHandoverError } from '../../errors.ts';
import { statFile } from '../../platform/external-file.ts';
import { ensurePrivateFolder, pathExists } from '../../platform/folders.ts';
import { acquireLock, type Lock } from '../../platform/lock.ts';
import { nameLostProject } from '../../platform/project.ts';
import { LOCKS, type Store } from '../../store/store.ts';
import { SCAN_LIMITS } from '../query.ts';
import * as archives from './archive.ts';
import type { NewText } from './read-session.ts';

/** Where the text of sessions is looked up: an index, or the archives alone. Sessions go by the name of their archive. */
export interface SessionTextStore {
  /** Sessions whose archives could not be indexed: for lack of time, or because they are damaged. */
  waiting: ReadonlySet<string>;
  damaged: ReadonlySet<string>;
  known(): ReadonlyMap<string, archives.SessionHead>;
  /** Another process may have changed what is known. */
  refresh(): void;
  /** The checkpoint of the last reading of a session. */
  reading(name: string): Uint8Array | null;
  /** To be called when an archive was written. */
  put(name: string, head: archives.SessionHead, text: NewText): void;
  /** Notes which sessions the agents still have. */
  settle(live: ReadonlySet<string>): void;
}

export interface SyncOptions {
  progress?: ((done: number, total: number) => void) | undefined;
  /** No session is begun that, by its size, would not be finished by then. */
  deadline?: number | undefined;
  /** Only the newest sessions, up to one of these limits. */
  most?: { sessions: number; bytes: number };
}

export interface SyncResult {
  behind: number;
  unread: number;
  /** Their archives are damaged, and their agents have deleted them. */
  damaged: number;
}

const LOCK_WAIT_MS = 2000;

/**
 * Brings the archives, and the index of them, up to date with the agents' sessions, the newest first. Each session is
 * done by itself: an interruption costs one at most. While another process does this, nothing is changed here.
 */
export async function syncSessions(
  store: Store,
  texts: SessionTextStore,
  options: SyncOptions = {},
): Promise<SyncResult> {
  const { deadline = Number.POSITIVE_INFINITY } = options;
  const known = texts.known();
  const found = indexByName(await findSessions(store.machine, {}, recallHeads(known)), {
    forgotten: archives.listForgotten(store),
    names: new Map([...known].map(([name, { agent, id }]) => [`${agent}\n${id}`, name])),
  });
  if (texts.waiting.size === 0 && listChanged(found, texts, options).length === 0) {
    texts.settle(new Set(found.keys()));
    return { behind: 0, unread: 0, damaged: countLost(texts, found) };
  }
  const lock = tryLock(store);
  try {
    texts.refresh();
    const changed = listChanged(found, texts, options);
    const behind = new Set([...texts.waiting, ...changed.map(({ name }) => name)]);
    if (lock === null) return { behind: behind.size, unread: 0, damaged: 0 };
    let unread = 0;
    let bytesAMs = SLOW_BYTES_A_MS;
    const projectOf = rememberProjects(store.machine);
    for (const [done, { name, session, newBytes }] of changed.entries()) {
      const start = store.machine.clock.now();
      if (newBytes > Math.max(0, deadline - start) * bytesAMs) continue;
      options.progress?.(done, changed.length);
      const place = session.cwd === null ? null : (projectOf(session.cwd) ?? nameLostProject(session.cwd));
      const project = place === null ? null : { id: place.id, name: place.name };
      if (!(await readOne(store, texts, { name, session, project }))) unread++;
      behind.delete(name);
      bytesAMs = Math.min(bytesAMs, newBytes / Math.max(1, store.machine.clock.now() - start));
    }
    options.progress?.(changed.length, changed.length);
    texts.settle(new Set(found.keys()));
    return { behind: behind.size, unread, damaged: countLost(texts, found) };
  } finally {
    lock?.release();
  }
}

/** Sessions that the agents have, and that are not known as they are now. Each is looked for only when it is asked for. */
export function* findUnread(store: Store, known: readonly archives.SessionHead[]): Iterable<FoundSession> {
  const heads = new Map(known.map((head) => [`${head.agent}\n${head.id}`, head]));
  const recall = recallHeads(heads);
  const forgotten = archives.listForgotten(store);
  for (const agent of AGENT_NAMES)
    for (const session of findAgentSessions(agent, store.machine, recall)) {
      if (session.parent !== null || isSame(session, heads.get(`${agent}\n${session.id}`))) continue;
      if (!forgotten.has(archives.nameText(session))) yield session;
    }
}

function isSame({ path, bytes, changedMs }: FoundSession, known: archives.SessionHead | undefined): boolean {
  return changedMs === known?.changedMs && bytes === known.bytes && path === known.path;
}

function countLost({ damaged }: SessionTextStore, found: ReadonlyMap<string, FoundSession>): number {
  return [...damaged].filter((name) => !found.has(name)).length;
}

function recallHeads(known: ReadonlyMap<string, archives.SessionHead>): RecallSession {
  const sessions = new Map<string, FoundSession>();
  for (const { project: _, ...head } of known.values()) {
    const stat = statFile(head.path);
    if (stat?.size === head.bytes && stat.changedMs === head.changedMs)
      sessions.set(head.path, { ...head, parent: null });
  }
  return (path) => sessions.get(path) ?? null;
}

/** What a slow machine reads, redacts and indexes; a slower one is noticed on the way. */
const SLOW_BYTES_A_MS = 2000;

/** An agent may have a session in several files: the newest counts. */
function indexByName(
  sessions: readonly FoundSession[],
  { forgotten, names }: { forgotten: Set<string>; names: ReadonlyMap<string, string> },
): Map<string, FoundSession> {
  const named = new Map<string, FoundSession>();
  for (const session of sessions) {
    const name = names.get(`${session.agent}\n${session.id}`) ?? archives.nameText(session);
    if (!named.has(name) && !forgotten.has(name)) named.set(name, session);
  }
  return named;
}

function tryLock(store: Store): Lock | null {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  const isTaken = (error: unknown): boolean => isHandoverError(error) && error.code === 'HANDOVER_LOCKED';
  return catchIf(isTaken, null, () =>
    acquireLock({ folder, name: 'session-texts', waitMs: LOCK_WAIT_MS, clock: store.machine.clock }),
  );
}

/** `newBytes` are all where it is not certain which are new. */
function listChanged(found: Map<string, FoundSession>, texts: SessionTextStore, { most }: SyncOptions) {
  const known = texts.known();
  let room = most?.bytes ?? Number.POSITIVE_INFINITY;
  return [...found].slice(0, most?.sessions).flatMap(([name, session]) => {
    room -= session.bytes;
    if (room < 0) return [];
    const before = known.get(name);
    if (isSame(session, before)) return [];
    const grown = session.bytes - (before?.bytes ?? 0);
    return [{ name, session, newBytes: before?.path === session.path && grown > 0 ? grown : session.bytes }];
  });
}

/** False when it cannot be read now: it was deleted meanwhile, or the settings of redaction cannot be read. */
async function readOne(
  store: Store,
  texts: SessionTextStore,
  { name, session, project }: { name: string; session: FoundSession; project: archives.SessionHead['project'] },
): Promise<boolean> {
  const head = archives.describeSession(session, project);
  // A search that finds nothing new loads none of these.
  const { joinArchive, readSessionText } = await import('./read-session.ts');
  const { loadAgent } = await import('../../agents/table.ts');
  const { openRedactor } = await import('../../redact/open-redactor.ts');
  try {
    const archive = archives.readArchive(store, name);
    const text = readSessionText({
      agent: await loadAgent(session.agent),
      session,
      head,
      redactor: openRedactor(store.machine, { folder: session.cwd, makesKey: true }),
      archive,
      checkpoint: texts.reading(name),
    });
    archives.writeArchive(store, name, joinArchive(archive, text));
    texts.put(name, text.head, text);
    return true;
  } catch (error) {
    if (isFailure(error)) return false;
    throw error;
  }
}

/** The archives without an index. There are no checkpoints: sessions that have grown are read again. */
export function openScanStore(store: Store): SessionTextStore {
  const known = new Map<string, archives.SessionHead>();
  const damaged = new Set<string>();
  for (const name of archives.listNewestTexts(store, SCAN_LIMITS.sessions)) {
    const text = archives.readText(store, name);
    if (text === null) damaged.add(name);
    else known.set(name, text.head);
  }
  return {
    waiting: new Set(),
    damaged,
    known: () => known,
    refresh: () => undefined,
    reading: () => null,
    put: (name, head) => void known.set(name, head),
    settle: () => undefined,
  };
}

/** The newest archives, the latest session first. */
export function listScannedTexts(store: Store): (archives.SessionText & { gone: boolean })[] {
  return archives
    .listNewestTexts(store, SCAN_LIMITS.sessions)
    .flatMap((name) => {
      const text = archives.readText(store, name);
      return text === null ? [] : [{ ...text, gone: !pathExists(text.head.path) }];
    })
    .sort((a, b) => b.head.changedMs - a.head.changedMs || (a.head.id < b.head.id ? -1 : 1));
}
