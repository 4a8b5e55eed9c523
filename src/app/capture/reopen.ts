import { AGENT_NAMES, type Agent, type FoundSession } from '../../agents/agent.ts';
import { loadAgent } from '../../agents/table.ts';
import type { Session } from '../../model/handover.ts';
import { pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';

/** What has become of the transcript that a handover was made of. */
export type Reopened =
  | { state: 'open'; agent: Agent; session: FoundSession }
  /** It was never made of one: it was declared, or imported without one. */
  | { state: 'none' }
  | { state: 'gone'; path: string }
  /** There is a file, but not one that the agent's reader knows. */
  | { state: 'unknown'; path: string };

export async function reopenTranscript(told: Session, machine: Machine): Promise<Reopened> {
  const name = AGENT_NAMES.find((known) => known === told.agent);
  if (told.transcript === null) return { state: 'none' };
  const path = expandHome(told.transcript, machine);
  if (name === undefined) return { state: pathExists(path) ? 'unknown' : 'gone', path };
  const agent = await loadAgent(name);
  const session = pathExists(path) ? agent.inspectFile(path) : findMoved(agent, told.id, machine);
  if (session === null) return { state: pathExists(path) ? 'unknown' : 'gone', path };
  // One file may hold many sessions: a database, or a history that is appended to.
  return { state: 'open', agent, session: { ...session, id: told.id ?? session.id } };
}

/** Agents archive their transcripts, or move them with the project. */
function findMoved(agent: Agent, id: string | null, machine: Machine): FoundSession | null {
  if (id === null) return null;
  for (const session of agent.findSessions(machine)) if (session.id === id) return session;
  return null;
}
