import { startReading } from '../agents/agent.ts';
import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import type { Machine } from '../platform/machine.ts';
import { abbreviateHome } from '../workspace/place.ts';
import { type Reopened, reopenTranscript } from './reopen.ts';
import { type TracedEvents, traceEvents } from './trace-events.ts';

export interface Trace extends TracedEvents {
  transcript: Reopened;
  /** Where the transcript is, or was, with `~` for the home folder. */
  path: string | null;
}

/** Walks back from facts of a handover to the events that they came from, by reading the transcript again. */
export async function traceFacts(
  handover: Handover,
  facts: readonly Fact[],
  machine: Machine,
): Promise<Trace> {
  const transcript = await reopenTranscript(handover.session, machine);
  if (transcript.state !== 'open') {
    return {
      ...traceEvents(null, facts, handover.session.id),
      transcript,
      path: handover.session.transcript,
    };
  }
  const { agent, session } = transcript;
  return {
    ...traceEvents(agent.readEvents(session, startReading()), facts, handover.session.id),
    transcript,
    path: abbreviateHome(session.path, machine),
  };
}
