import { AGENT_NAMES, type Agent, type AgentName, startReading } from '../../agents/agent.ts';
import { loadAgent } from '../../agents/table.ts';
import { HandoverError, isErrno } from '../../errors.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { isDatabaseHead } from '../../platform/sqlite.ts';
import {
  countEvents,
  type Judgement,
  judgeReading,
  REAL_BYTES,
  type Understanding,
} from './judge-reading.ts';

/** A transcript that is no longer understood. */
export interface DriftedTranscript {
  agent: AgentName;
  path: string;
  /** Null when the file is not even known for a transcript of the agent. */
  judgement: Judgement | null;
}

export interface DriftReport {
  /** Transcripts that were read. */
  looked: number;
  drifted: DriftedTranscript[];
}

const NEWEST_OF_EACH = 3;
const MAX_TRANSCRIPT_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 96 * 1024 * 1024;
const MAX_MS = 4000;

/**
 * Reads the newest transcripts of each agent, to see whether they are still understood. Bounded in bytes and in time:
 * one that is too long is passed over, and `capture` will tell of it.
 */
export async function findDrift(machine: Machine): Promise<DriftReport> {
  const deadline = machine.clock.now() + MAX_MS;
  const report: DriftReport = { looked: 0, drifted: [] };
  let bytes = MAX_BYTES;
  for (const name of AGENT_NAMES) {
    const agent = await loadAgent(name);
    let left = NEWEST_OF_EACH;
    for (const candidate of listNewest(agent, machine)) {
      if (left === 0 || machine.clock.now() > deadline) break;
      if (candidate.cost > Math.min(bytes, MAX_TRANSCRIPT_BYTES)) continue;
      const look = lookAt(agent, candidate);
      if (look === 'skipped') continue;
      left--;
      bytes -= candidate.cost;
      report.looked++;
      const judgement = look === 'unknown' ? null : look;
      if (judgement === null || DRIFTED.has(judgement.understanding))
        report.drifted.push({ agent: name, path: candidate.path, judgement });
    }
  }
  return report;
}

interface Candidate {
  path: string;
  size: number;
  changedMs: number;
  isDatabase: boolean;
  /** What reading it takes, in bytes. */
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

/** Sub-agents are spoken to by agents; what is small, and a database without a session, need not be known at all. */
function lookAt(agent: Agent, { path, size, isDatabase }: Candidate): Judgement | 'unknown' | 'skipped' {
  try {
    const session = agent.inspectFile(path);
    if (session === null) return isDatabase || size < REAL_BYTES ? 'skipped' : 'unknown';
    if (session.parent !== null) return 'skipped';
    const reading = startReading();
    const tally = countEvents(agent.readEvents(session, reading));
    return judgeReading(reading, tally, isDatabase ? 0 : size);
  } catch (error) {
    if (!isErrno(error) && !(error instanceof HandoverError)) throw error;
    return 'skipped';
  }
}
