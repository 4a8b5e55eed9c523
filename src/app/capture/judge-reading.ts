import type { Reading } from '../../agents/agent.ts';
import type { Event } from '../../model/event.ts';

/** How many events there were in which something is told. */
export interface EventCount {
  told: number;
  /** Those of the agent: what it said and did, and what stopped it. */
  byAgent: number;
  compactions: number;
}

export function startEventCount(): EventCount {
  return { told: 0, byAgent: 0, compactions: 0 };
}

export function countEvents(events: Iterable<Event>): EventCount {
  const tally = startEventCount();
  for (const event of events) countEvent(tally, event);
  return tally;
}

export function countEvent(tally: EventCount, event: Event): void {
  if (event.type === 'compaction') tally.compactions++;
  if (event.type === 'injected' || (event.type === 'compaction' && event.summary === null)) return;
  tally.told++;
  if (event.type !== 'prompt') tally.byAgent++;
}

/**
 * How well a transcript was understood: `fine`, all of it; `odd`, all but a little; `drift`, so much is missing that the
 * agent's format must have changed; `nothing`, a session of real size tells nothing.
 */
export type Understanding = 'fine' | 'odd' | 'drift' | 'nothing';

export interface Judgement {
  understanding: Understanding;
  rows: number;
  /** Rows that no row of this agent can be. */
  unreadable: number;
  /** Rows, or parts of rows, of kinds that are not known here, the most frequent first. */
  unknown: { kind: string; count: number }[];
  agentVersion: string | null;
}

/** Agents write rows, and files, of their own before anything is said: so many, or so much, they do not write. */
const REAL_ROWS = 50;
export const REAL_BYTES: number = 64 * 1024;
/** Odd rows are no accident when there are so many, and one in ten. */
const MANY_ODD = 5;
const ONE_IN = 10;

/** `bytes` is the size of the transcript; for a database, of all of it. */
export function judgeReading(reading: Reading, tally: EventCount, bytes: number): Judgement {
  const unknown = Object.entries(reading.unknown)
    .map(([kind, count]) => ({ kind, count }))
    .sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
  const odd = unknown.reduce((sum, { count }) => sum + count, reading.unreadable);
  return {
    understanding: understand(
      { odd, rows: reading.rows, hasUnreadable: reading.unreadable > 0, bytes },
      tally,
    ),
    rows: reading.rows,
    unreadable: reading.unreadable,
    unknown,
    agentVersion: reading.agentVersion,
  };
}

interface Measures {
  odd: number;
  rows: number;
  hasUnreadable: boolean;
  bytes: number;
}

function understand({ odd, rows, hasUnreadable, bytes }: Measures, tally: EventCount): Understanding {
  const areManyOdd = odd >= MANY_ODD && odd * ONE_IN >= rows;
  const isReal = rows >= REAL_ROWS || areManyOdd || (hasUnreadable && bytes >= REAL_BYTES);
  if (tally.told === 0 && isReal) return 'nothing';
  const isOneSided = tally.told > 0 && tally.byAgent === 0 && rows >= REAL_ROWS;
  if (areManyOdd || isOneSided) return 'drift';
  return odd === 0 ? 'fine' : 'odd';
}
