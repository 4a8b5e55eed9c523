import { startReading } from '../../agents/agent.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { type Reopened, reopenTranscript } from './reopen.ts';
import { type TracedEvents, type TracedSource, traceEvents } from './trace-events.ts';

export interface Trace extends TracedEvents {
  transcript: Reopened;
  /** Where the transcript is, or was, with `~` for the home folder. */
  path: string | null;
}

export interface TraceSurroundings {
  machine: Machine;
  /** The handovers that this one goes back to, the oldest first: facts that were taken over came from their sessions. */
  earlier: readonly Handover[];
}

/** Walks back from facts of a handover to the events that they came from, by reading the transcripts again. */
export async function traceFacts(
  handover: Handover,
  facts: readonly Fact[],
  { machine, earlier }: TraceSurroundings,
): Promise<Trace> {
  const trace = await traceSession(handover, facts, machine);
  const others = new Map(earlier.map((one) => [one.session.id, one]));
  others.delete(handover.session.id);
  for (const [session, other] of others) {
    if (session !== null) await traceElsewhere(trace, { handover: other, session, machine });
  }
  return trace;
}

async function traceSession(handover: Handover, facts: readonly Fact[], machine: Machine): Promise<Trace> {
  const transcript = await reopenTranscript(handover.session, machine);
  const folder = transcript.state === 'open' ? transcript.session.cwd : null;
  const options = {
    session: handover.session.id,
    redactor: openRedactor(machine, { folder, makesKey: false }),
    wasRedacted: handover.redactions.length > 0,
  };
  if (transcript.state !== 'open') {
    const path = handover.session.transcript;
    return { ...traceEvents(null, facts, options), transcript, path };
  }
  const { agent, session } = transcript;
  return {
    ...traceEvents(agent.readEvents(session, startReading()), facts, options),
    transcript,
    path: abbreviateHome(session.path, machine),
  };
}

interface Elsewhere {
  handover: Handover;
  session: string;
  machine: Machine;
}

/** Completes what was seen in one other session. */
async function traceElsewhere(trace: Trace, { handover, session, machine }: Elsewhere): Promise<void> {
  const isOf = (source: TracedSource): boolean => source.state === 'elsewhere' && source.session === session;
  const taken = trace.facts.filter(({ sources }) => sources.some(isOf));
  if (taken.length === 0) return;
  const asked = taken.map(({ fact }) => ({
    ...fact,
    sources: fact.sources.filter((source) => source.session === session),
  }));
  const { facts, path } = await traceSession(handover, asked, machine);
  for (const [index, traced] of taken.entries()) {
    const found = (facts[index]?.sources ?? []).map((source) => ({ ...source, transcript: path }));
    traced.sources = traced.sources.map((source) => (isOf(source) ? (found.shift() ?? source) : source));
  }
}
