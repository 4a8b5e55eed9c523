import { AGENT_NAMES, type AgentName } from '../../agents/agent.ts';
import { findSessions } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { HandoverError } from '../../errors.ts';
import type { Store } from '../../store/store.ts';
import { saveSession } from '../capture/save-session.ts';

/**
 * Captures the newest session of a project and keeps it. The id of its handover, also when nothing is new in it; null
 * when the project has no session here.
 */
export async function collectSession(
  store: Store,
  project: string,
  agentWords?: string,
): Promise<string | null> {
  const { machine } = store;
  const agent = agentWords === undefined ? {} : { agent: requireAgentName(agentWords) };
  const [session] = await findSessions(machine, { ...agent, project });
  if (session === undefined) return null;
  const kept = await saveSession(store, { agent: await loadAgent(session.agent), session });
  if (kept.outcome !== 'refused') return kept.handover.id;
  throw new HandoverError('HANDOVER_TRANSCRIPT_DRIFTED', `nothing in ${session.path} was understood`, {
    hint: 'See what is wrong with it: handover capture',
  });
}

function requireAgentName(words: string): AgentName {
  const name = AGENT_NAMES.find((each) => each === words);
  if (name !== undefined) return name;
  throw new HandoverError('HANDOVER_CONFIG_INVALID', `there is no agent "${words}"`, {
    hint: `The agents are: ${AGENT_NAMES.join(', ')}`,
  });
}
