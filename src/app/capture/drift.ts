import { AGENT_NAMES, type Agent, type AgentName, type ReadStats, startReadStats } from '../../agents/agent.ts';
import { loadAgent } from '../../agents/table.ts';
import { catchIf, isFailure } from '../../errors.ts';
import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { isDatabaseHead } from '../../platform/sqlite.ts';

/** How many events of a transcript carry information. */
export interface EventCount {
  total: number;
  /** Those of the agent: what it said and did, and what stopped it. */
  byAgent: number;
  compactions: number;
}

export function startEventCount(): EventCount {
  return { total: 0, byAgent: 0, compactions: 0 };
}

export function countEvents(events: Iterable<Event>): EventCount {
  const count = startEventCount();
  for (const event of events) countEvent(count, event);
  return count;
}

export function countEvent(count: EventCount, event: Event): void {
  if (event.type === 'compaction') count.compactions++;
  if (event.type === 'injected' || (event.type === 'compaction' && event.summary === null)) return;
  count.total++;
  if (event.type !== 'prompt') count.byAgent++;
}

/**
 * How well a transcript was understood. `fine`: all of it. `odd`: some rows were not, too few to mean anything. `drift`: so
 * many were not, or none of the agent's, that its format must have changed. `nothing`: it is long, and has no event.
 */
type Understanding = 'fine' | 'odd' | 'drift' | 'nothing';

/** What `judgeReading` concludes from the statistics of one reading. */
export interface Judgement {
  understanding: Understanding;
  rows: number;
  /** Rows that no row of this agent can be. */
  unreadable: number;
  /** Rows, or parts of rows, of unknown kinds, the most frequent first. */
  unknown: { kind: string; count: number }[];
  agentVersion: string | null;
}

/** Before anything is said, agents write fewer rows and smaller files than this. */
const MIN_SESSION_ROWS = 50;
const MIN_SESSION_BYTES = 64 * 1024;
/** Odd rows are no accident when there are this many, and one row in ten is odd. */
const MIN_ODD_ROWS = 5;
const ROWS_PER_ODD_ROW = 10;

/** `bytes` is the size of the transcript; for a database, of all of it. */
export function judgeReading(reading: ReadStats, { total, byAgent }: EventCount, bytes: number): Judgement {
  const { rows, unreadable, agentVersion } = reading;
  const unknown = Object.entries(reading.unknown)
    .map(([kind, count]) => ({ kind, count }))
    .sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
  const odd = unknown.reduce((sum, { count }) => sum + count, unreadable);
  const areManyOdd = odd >= MIN_ODD_ROWS && odd * ROWS_PER_ODD_ROW >= rows;
  const isReal = rows >= MIN_SESSION_ROWS || areManyOdd || (unreadable > 0 && bytes >= MIN_SESSION_BYTES);
  const isOneSided = total > 0 && byAgent === 0 && rows >= MIN_SESSION_ROWS;
  let understanding: Understanding = odd === 0 ? 'fine' : 'odd';
  if (areManyOdd || isOneSided) understanding = 'drift';
  if (total === 0 && isReal) understanding = 'nothing';
  return { understanding, rows, unreadable, unknown, agentVersion };
}

export interface DriftedTranscript {
  agent: AgentName;
  path: string;
  /** Null when the file is not even recognized as a transcript of the agent. */
  judgement: Judgement | null;
}

const NEWEST_OF_EACH = 3;
const MAX_TRANSCRIPT_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 96 * 1024 * 1024;
const MAX_MS = 4000;

/** Reads the newest transcripts of each agent, within limits of bytes and time. A longer one is skipped: `capture` reports it. */
export async function findDrift(machine: Machine): Promise<{ looked: number; drifted: DriftedTranscript[] }> {
  const deadline = machine.clock.now() + MAX_MS;
  const drifted: DriftedTranscript[] = [];
  let looked = 0;
  let bytes = MAX_BYTES;
  for (const name of AGENT_NAMES) {
    const agent = await loadAgent(name);
    let left = NEWEST_OF_EACH;
    for (const candidate of listNewest(agent, machine)) {
      if (left === 0 || machine.clock.now() > deadline) break;
      if (candidate.cost > Math.min(bytes, MAX_TRANSCRIPT_BYTES)) continue;
      const judgement = judgeTranscript(agent, candidate);
      if (judgement === 'skipped') continue;
      left--;
      bytes -= candidate.cost;
      looked++;
      if (judgement === null || DRIFTED.has(judgement.understanding))
        drifted.push({ agent: name, path: candidate.path, judgement });
    }
  }
  return { looked, drifted };
}

interface Candidate {
  path: string;
  size: number;
  changedMs: number;
  isDatabase: boolean;
  /** Of reading it, in bytes. */
  cost: number;
}

const DATABASE_COST = 1024 * 1024;
const DATABASE_HEAD_BYTES = 16;

function listNewest(agent: Agent, machine: Machine): Candidate[] {
  const candidates: Candidate[] = [];
  for (const path of agent.listTranscripts(machine)) {
    // Compressed ones are old, and not every Node can read them.
    const file = path.endsWith('.zst') ? null : readHead(path, DATABASE_HEAD_BYTES);
    if (file === null || file.size === 0) continue;
    const isDatabase = isDatabaseHead(file.bytes);
    const { size, changedMs } = file;
    candidates.push({ path, size, changedMs, isDatabase, cost: isDatabase ? DATABASE_COST : size });
  }
  return candidates.sort((a, b) => b.changedMs - a.changedMs || (a.path < b.path ? -1 : 1));
}

const DRIFTED: ReadonlySet<Understanding> = new Set(['drift', 'nothing']);

/** Skipped are sessions of sub-agents, small unknown files, and databases without a session. */
function judgeTranscript(agent: Agent, { path, size, isDatabase }: Candidate): Judgement | 'skipped' | null {
  return catchIf(isFailure, 'skipped', () => {
    const session = agent.inspectFile(path);
    if (session === null) return isDatabase || size < MIN_SESSION_BYTES ? 'skipped' : null;
    if (session.parent !== null) return 'skipped';
    const reading = startReadStats();
    const count = countEvents(agent.readEvents(session, reading));
    return judgeReading(reading, count, isDatabase ? 0 : size);
  });
}
