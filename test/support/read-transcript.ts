import { type Agent, type ReadStats, startReadStats } from '../../src/agents/agent.ts';
import type { Event } from '../../src/model/event.ts';

/** All events of a transcript. */
export function readTranscript(agent: Agent, path: string): { events: Event[]; reading: ReadStats } {
  const session = agent.inspectFile(path);
  if (session === null) throw new Error(`${path} was not taken for a transcript`);
  const reading = startReadStats();
  return { events: [...agent.readEvents(session, reading)], reading };
}

export function ofType<T extends Event['type']>(events: readonly Event[], type: T): Extract<Event, { type: T }>[] {
  return events.filter((event): event is Extract<Event, { type: T }> => event.type === type);
}
