import type { FoundSession } from '../../agents/agent.ts';
import { loadAgent } from '../../agents/table.ts';
import { findSessions } from '../../capture/find-session.ts';
import { HandoverError, isErrno } from '../../errors.ts';
import { isFolder } from '../../platform/folders.ts';
import { acquireLock, type Lock } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { ensurePrivateFolder } from '../../platform/private-folder.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { LOCKS, type Store } from '../../store/store.ts';
import { identifyProject, nameLostProject } from '../../workspace/project.ts';
import { listForgotten, nameText, readArchive, type SessionHead, writeArchive } from './archive.ts';
import { joinArchive, readSessionText, type TextRead } from './read-text.ts';

/** What follows the sessions of this machine: an index, or the archives alone. */
export interface TextKeeper {
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
  /** No session is begun after so many milliseconds. */
  budgetMs?: number;
  /** Only the newest, until there are so many, or so many bytes. */
  most?: { sessions: number; bytes: number };
}

export interface Followed {
  /** So many sessions have more to tell than is known here. */
  behind: number;
  /** So many could not be read. */
  unread: number;
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
  if (lock === null) return { behind: listChanged(found, keeper, options).length, unread: 0 };
  try {
    const changed = listChanged(found, keeper, options);
    const followed: Followed = { behind: changed.length, unread: 0 };
    const deadline = machine.clock.now() + (options.budgetMs ?? Number.POSITIVE_INFINITY);
    const projectOf = rememberProjects(machine);
    for (const [done, [name, session]] of changed.entries()) {
      if (machine.clock.now() >= deadline) break;
      options.progress?.(done, changed.length);
      if (!(await readOne(store, keeper, { name, session, projectOf }))) followed.unread++;
      followed.behind--;
    }
    options.progress?.(changed.length, changed.length);
    keeper.settle(new Set(found.keys()));
    return followed;
  } finally {
    lock.release();
  }
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

function listChanged(
  found: ReadonlyMap<string, FoundSession>,
  keeper: TextKeeper,
  { most }: FollowOptions,
): [string, FoundSession][] {
  const known = keeper.known();
  const { sessions, bytes } = most ?? {};
  let room = bytes ?? Number.POSITIVE_INFINITY;
  return [...found]
    .slice(0, sessions)
    .filter(([, session]) => {
      room -= session.bytes;
      return room >= 0;
    })
    .filter(([name, session]) => {
      const head = known.get(name);
      return (
        head?.changedMs !== session.changedMs || head.bytes !== session.bytes || head.path !== session.path
      );
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
