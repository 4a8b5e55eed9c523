import { AGENT_NAMES } from '../../agents/agent.ts';
import { describeMachine } from '../../platform/machine.ts';
import { serve } from './serve.ts';

const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Runs until its input ends, or it is told to end. False, and nothing is run, for an agent that is not known. */
export function runServer(name: string | undefined): boolean {
  const agent = AGENT_NAMES.find((known) => known === name) ?? null;
  if (name !== undefined && agent === null) return false;
  const machine = describeMachine();
  const handle = serve({ machine, agent, input: process.stdin, output: process.stdout });
  for (const signal of ENDING) process.once(signal, () => void handle.close());
  return true;
}
