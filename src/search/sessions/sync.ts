import type { FoundSession } from '../../agents/agent.ts';
import { findSessions } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { catchIf, isFailure, isHandoverError } from '../../errors.ts';
import { ensurePrivateFolder, isFolder, pathExists } from '../../platform/folders.ts';
import { acquireLock, type Lock } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { identifyProject, nameLostProject } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { LOCKS, type Store } from '../../store/store.ts';
import { SCAN_LIMITS } from '../query.ts';
import {
  describeSession,
  listForgotten,
  listNewestTexts,
  nameText,
  readArchive,
  readText,
  type SessionHead,
  type SessionText,
  writeArchive,
} from './archive.ts';
import { joinArchive, type NewText, readSessionText } from './read-session.ts';

/** Where the text of sessions is looked up: an index, or the archives alone. Sessions go by the name of their archive. */
export interface SessionTextStore {
  /** Sessions whose archives could not be indexed: for lack of time, or because they are damaged. */
  waiting: ReadonlySet<string>;
  damaged: ReadonlySet<string>;
  known(): ReadonlyMap<string, SessionHead>;
  /** The checkpoint of the last reading of a session. */
  reading(name: string): Uint8Array | null;
  /** To be called when an archive was written. */
  put(name: string, head: SessionHead, text: NewText): void;
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
  const found = indexByName(await findSessions(store.machine), listForgotten(store));
  const lock = tryLock(store);
  try {
    const changed = listChanged(found, texts, options);
    const behind = new Set([...texts.waiting, ...changed.map(({ name }) => name)]);
    if (lock === null) return { behind: behind.size, unread: 0, damaged: 0 };
    let unread = 0;
    const projectOf = rememberProjects(store.machine);
    for (const [done, { name, session, newBytes }] of changed.entries()) {
      if (newBytes > Math.max(0, deadline - store.machine.clock.now()) * BYTES_A_MS) continue;
      options.progress?.(done, changed.length);
      const project = session.cwd === null ? null : projectOf(session.cwd);
      if (!(await readOne(store, texts, { name, session, project }))) unread++;
      behind.delete(name);
    }
    options.progress?.(changed.length, changed.length);
    texts.settle(new Set(found.keys()));
    const damaged = [...texts.damaged].filter((name) => !found.has(name)).length;
    return { behind: behind.size, unread, damaged };
  } finally {
    lock?.release();
  }
}

/** What a slow machine reads, redacts and indexes. */
const BYTES_A_MS = 2000;

/** An agent may have a session in several files: the newest counts. */
function indexByName(sessions: readonly FoundSession[], forgotten: Set<string>): Map<string, FoundSession> {
  const named = new Map<string, FoundSession>();
  for (const session of sessions) {
    const name = nameText(session);
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
    const { path, bytes, changedMs } = known.get(name) ?? {};
    if (changedMs === session.changedMs && bytes === session.bytes && path === session.path) return [];
    const grown = session.bytes - (bytes ?? 0);
    return [{ name, session, newBytes: path === session.path && grown > 0 ? grown : session.bytes }];
  });
}

/** False when it cannot be read now: it was deleted meanwhile, or the settings of redaction cannot be read. */
async function readOne(
  store: Store,
  texts: SessionTextStore,
  { name, session, project }: { name: string; session: FoundSession; project: SessionHead['project'] },
): Promise<boolean> {
  const head = describeSession(session, project);
  try {
    const archive = readArchive(store, name);
    const text = readSessionText({
      agent: await loadAgent(session.agent),
      session,
      head,
      redactor: openRedactor(store.machine, { folder: session.cwd, makesKey: true }),
      archive,
      checkpoint: texts.reading(name),
    });
    writeArchive(store, name, joinArchive(archive, text));
    texts.put(name, head, text);
    return true;
  } catch (error) {
    if (isFailure(error)) return false;
    throw error;
  }
}

/** Asking git about a folder costs a process, and most sessions share a few folders. */
function rememberProjects(machine: Machine): (cwd: string) => SessionHead['project'] {
  const known = new Map<string, SessionHead['project']>();
  return (cwd) => {
    const remembered = known.get(cwd);
    if (remembered !== undefined) return remembered;
    const { id, name } = isFolder(cwd) ? identifyProject(cwd, machine) : nameLostProject(cwd);
    known.set(cwd, { id, name });
    return { id, name };
  };
}

/** The archives without an index. There are no checkpoints: sessions that have grown are read again. */
export function openScanStore(store: Store): SessionTextStore {
  const known = new Map<string, SessionHead>();
  const damaged = new Set<string>();
  for (const name of listNewestTexts(store, SCAN_LIMITS.sessions)) {
    const text = readText(store, name);
    if (text === null) damaged.add(name);
    else known.set(name, text.head);
  }
  return {
    waiting: new Set(),
    damaged,
    known: () => known,
    reading: () => null,
    put: (name, head) => void known.set(name, head),
    settle: () => undefined,
  };
}

/** The newest archives, the latest session first. */
export function listScannedTexts(store: Store): (SessionText & { gone: boolean })[] {
  return listNewestTexts(store, SCAN_LIMITS.sessions)
    .flatMap((name) => {
      const text = readText(store, name);
      return text === null ? [] : [{ ...text, gone: !pathExists(text.head.path) }];
    })
    .sort((a, b) => b.head.changedMs - a.head.changedMs || (a.head.id < b.head.id ? -1 : 1));
}
