import type { FoundSession } from '../../agents/agent.ts';
import { findSessions } from '../../agents/find-session.ts';
import { listOpenSessions } from '../../app/automation/session-state.ts';
import { findStore, listRunningSessions } from '../../app/context.ts';
import { listAncestors } from '../../platform/process-identity.ts';
import type { Place } from '../../platform/project.ts';
import { findAgentProcess, nameProcess } from '../../platform/terminal.ts';
import type { Call } from './call.ts';
import { findAgent } from './connection.ts';

/**
 * The calling agent's session in the worktree of the call; null when that is not certain. It is the one that the
 * request names; else the last that a hook saw start in the same process; else the one in the environment; else the
 * only one of this agent that changed since the server was started.
 */
export async function findOwnSession(call: Call, { project, root }: Place): Promise<FoundSession | null> {
  const agent = findAgent(call.connection);
  const filter = { project: project.id, root, agent: agent ?? undefined };
  const sessions = await findSessions(call.machine, filter);
  for (const id of listNamed(call, root)) {
    const named = sessions.find((session) => session.id === id);
    if (named !== undefined) return named;
  }
  if (agent === null) return null;
  const [only, ...others] = sessions.filter(({ changedMs }) => changedMs >= call.connection.startedMs);
  return others.length === 0 ? (only ?? null) : null;
}

export function listCallerSessions(call: Call, root: string, own: FoundSession | null): Set<string> {
  return new Set([...listNamed(call, root), ...(own === null ? [] : [own.id])]);
}

function listNamed(call: Call, root: string): string[] {
  return [...listInMeta(call.meta), ...listStartedHere(call, root), ...listRunningSessions(call.machine.env)];
}

const META_KEYS: ReadonlySet<string> = new Set(['sessionId', 'threadId', 'session_id', 'thread_id']);

/** Agents send the session id in the metadata, one or two levels deep. */
function listInMeta(meta: object, depth = 0): string[] {
  return Object.entries(meta).flatMap(([key, value]): string[] => {
    if (typeof value === 'string') return META_KEYS.has(key) ? [value] : [];
    return typeof value === 'object' && value !== null && depth === 0 ? listInMeta(value, 1) : [];
  });
}

/** When the user clears a session, the agent continues with a new one in the same process. */
function listStartedHere(call: Call, root: string): string[] {
  const agent = findAgentProcess(listAncestors());
  if (agent === null) return [];
  const open = listOpenSessions(findStore(call).root, root).filter(({ process }) => process === nameProcess(agent));
  return open.sort((a, b) => b.atMs - a.atMs).map(({ session }) => session);
}
