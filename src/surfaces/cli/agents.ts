import { AGENT_NAMES, type AgentName } from '../../agents/agent.ts';
import { HandoverError } from '../../errors.ts';
import { cleanLine } from '../../model/text.ts';

export function requireAgent(words: string): AgentName {
  const name = AGENT_NAMES.find((known) => known === words.trim().toLowerCase());
  if (name !== undefined) return name;
  throw new HandoverError('HANDOVER_USAGE', `"${cleanLine(words)}" is not an agent that can be read`, {
    hint: `Give one of: ${AGENT_NAMES.join(', ')}.`,
  });
}
