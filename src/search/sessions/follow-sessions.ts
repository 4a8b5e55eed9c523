import type { FoundSession } from '../../agents/agent.ts';
import { findSessions } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { HandoverError, isErrno } from '../../errors.ts';
import { ensurePrivateFolder, isFolder } from '../../platform/folders.ts';
import { acquireLock, type Lock } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { identifyProject, nameLostProject } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { LOCKS, type Store } from '../../store/store.ts';
import { listForgotten, nameText, readArchive, type SessionHead, writeArchive } from './archive.ts';
import { joinArchive, readSessionText, type TextRead } from './read-text.ts';

/** What follows the sessions of this machine: an index, or the archives alone. */
export interface TextKeeper {
  /** Sessions whose archives could not be taken in: there was no time, or they are damaged. */
  waiting: ReadonlySet<string>;
  damaged: ReadonlySet<string>;
  /** What is known of the sessions whose text is there. */
  known(): ReadonlyMap<string, SessionHead>;
  /** What was left for the next reading of a session, if its archive is still that. */
  reading(name: string): Uint8Array | null;
  /** The archive of a session was written. */
  put(name: string, head: SessionHead, read: TextRead): void;
  /** What the agents have now, by name. */
  settle(live: ReadonlySet<string>): void;
}

export interface FollowOptions {
  progress?: ((done: number, total: number) => void) | undefined;
  /** By then it is to be over: no session is begun that would take longer, as far as its length tells. */
  deadline?: number | undefined;
  /** Only the newest, until there are so many, or so many bytes. */
  most?: { sessions: number; bytes: number };
}

export interface Followed {
  /** So many sessions have more to tell than is known here. */
  behind: number;
  /** So many could not be read. */
  unread: number;
  /** Of so many that their agents have deleted, the text that was kept is damaged. */
  damaged: number;
}

const LOCK_WAIT_MS = 2000;

/**
 * Brings what is kept of sessions in line with what the agents have, the newest first. Each session is done by itself, so
 * that whoever is stopped has lost one at most. While one process is at it, others go by what is there.
 */
export async function followSessions(
  store: Store,
  keeper: TextKeeper,
  options: FollowOptions = {},
): Promise<Followed> {
  const { machine } = store;
  const found = distinguish(await findSessions(machine), listForgotten(store));
  const lock = tryLock(store);
  const behind = new Set(keeper.waiting);
  if (lock === null) {
    for (const { name } of listChanged(found, keeper, options)) behind.add(name);
    return { behind: behind.size, unread: 0, damaged: 0 };
  }
  try {
    const changed = listChanged(found, keeper, options);
    for (const { name } of changed) behind.add(name);
    let unread = 0;
    const projectOf = rememberProjects(machine);
    for (const [done, { name, session, news }] of changed.entries()) {
      if (news > roomUntil(options.deadline, machine.clock.now())) continue;
      options.progress?.(done, changed.length);
      if (!(await readOne(store, keeper, { name, session, projectOf }))) unread++;
      behind.delete(name);
    }
    options.progress?.(changed.length, changed.length);
    keeper.settle(new Set(found.keys()));
    const damaged = [...keeper.damaged].filter((name) => !found.has(name)).length;
    return { behind: behind.size, unread, damaged };
  } finally {
    lock.release();
  }
}

/** What a slow machine reads, takes the secrets out of and indexes in a millisecond. */
const BYTES_A_MS = 2000;

/** How much may be read until then: a session is not begun that would take longer. */
function roomUntil(deadline: number | undefined, now: number): number {
  return deadline === undefined ? Number.POSITIVE_INFINITY : Math.max(0, deadline - now) * BYTES_A_MS;
}

/** An agent may have a session in several files: the newest counts. */
function distinguish(
  sessions: readonly FoundSession[],
  forgotten: ReadonlySet<string>,
): Map<string, FoundSession> {
  const named = new Map<string, FoundSession>();
  for (const session of sessions) {
    const name = nameText(session);
    if (!named.has(name) && !forgotten.has(name)) named.set(name, session);
  }
  return named;
}

function tryLock(store: Store): Lock | null {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  try {
    return acquireLock({ folder, name: 'session-texts', waitMs: LOCK_WAIT_MS, clock: store.machine.clock });
  } catch (error) {
    if (error instanceof HandoverError && error.code === 'HANDOVER_LOCKED') return null;
    throw error;
  }
}

interface Changed {
  name: string;
  session: FoundSession;
  /** So many bytes are new, or all where that is not certain. */
  news: number;
}

function listChanged(
  found: ReadonlyMap<string, FoundSession>,
  keeper: TextKeeper,
  { most }: FollowOptions,
): Changed[] {
  const known = keeper.known();
  const { sessions, bytes } = most ?? {};
  let room = bytes ?? Number.POSITIVE_INFINITY;
  return [...found]
    .slice(0, sessions)
    .filter(([, session]) => {
      room -= session.bytes;
      return room >= 0;
    })
    .flatMap(([name, session]) => {
      const { path, bytes, changedMs } = known.get(name) ?? {};
      if (changedMs === session.changedMs && bytes === session.bytes && path === session.path) return [];
      const grown = session.bytes - (bytes ?? 0);
      return [{ name, session, news: path === session.path && grown > 0 ? grown : session.bytes }];
    });
}

interface Task {
  name: string;
  session: FoundSession;
  projectOf(cwd: string): SessionHead['project'];
}

/** False when it cannot be read now: it went meanwhile, or how to redact it is not known. */
async function readOne(
  store: Store,
  keeper: TextKeeper,
  { name, session, projectOf }: Task,
): Promise<boolean> {
  const { agent: agentName, id, path, cwd, title, startedMs, changedMs, bytes } = session;
  const project = cwd === null ? null : projectOf(cwd);
  const head = { agent: agentName, id, path, cwd, title, project, startedMs, changedMs, bytes };
  try {
    const archive = readArchive(store, name);
    const read = readSessionText({
      agent: await loadAgent(agentName),
      session,
      head,
      redactor: openRedactor(store.machine, { folder: cwd, makesKey: true }),
      archive,
      kept: keeper.reading(name),
    });
    writeArchive(store, name, joinArchive(archive, read));
    keeper.put(name, head, read);
    return true;
  } catch (error) {
    if (error instanceof HandoverError || isErrno(error)) return false;
    throw error;
  }
}

/** Asking git about a folder costs a process; most sessions share a few folders. */
function rememberProjects(machine: Machine): (cwd: string) => SessionHead['project'] {
  const known = new Map<string, SessionHead['project']>();
  return (cwd) => {
    const remembered = known.get(cwd);
    if (remembered !== undefined) return remembered;
    const { id, name } = isFolder(cwd) ? identifyProject(cwd, machine) : nameLostProject(cwd);
    const project = { id, name };
    known.set(cwd, project);
    return project;
  };
}
