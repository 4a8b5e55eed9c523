import type { AgentName, FoundSession } from '../agents/agent.ts';
import { HandoverError } from '../errors.ts';
import { cleanLine, cutAtWord } from '../model/text.ts';
import type { Finding } from '../store/doctor/check-files.ts';
import type { SaveResult } from '../store/handovers.ts';
import type { DriftedTranscript, Judgement } from './capture/drift.ts';

/** Something the user should know besides the answer. Each surface decides how to show it. */
export interface Notice {
  level: 'info' | 'note' | 'warning';
  text: string;
  /** The next thing to type or to do. */
  next?: string;
}

export function listJournalNotices({ journalFailure }: Pick<SaveResult, 'journalFailure'>): Notice[] {
  if (journalFailure === null) return [];
  const text = `it is saved, but the journal could not be written (${journalFailure.message})`;
  return [{ level: 'note', text, next: 'when the disk works again: handover doctor --fix' }];
}

const KINDS_SHOWN = 8;
const MAX_KIND_BYTES = 60;
const REPORT = 'install the newest agent-handover; if this is the newest, report the agent’s version and the kinds';

/** Agents change their formats: rows that were not understood are reported, loudly when there are many. */
export function listDriftNotices(agent: AgentName, judgement: Judgement): Notice[] {
  const { understanding } = judgement;
  if (understanding === 'fine') return [];
  const drift = describeDrift(agent, judgement);
  if (understanding === 'odd') return [{ level: 'note', text: drift }];
  const text = `this transcript was understood only in part, and the handover lacks the rest: ${drift}`;
  return [{ level: 'warning', text, next: REPORT }];
}

export function driftError(session: FoundSession, judgement: Judgement): HandoverError {
  const { agent, path } = session;
  const { rows, unreadable, unknown, agentVersion } = judgement;
  const message = `nothing in ${path} was understood, so nothing was saved: ${describeDrift(agent, judgement)}`;
  return new HandoverError('HANDOVER_TRANSCRIPT_DRIFTED', message, {
    hint: path.endsWith('.zst')
      ? 'It is compressed with zstd, which Node can read from 22.15 on.'
      : `${REPORT.charAt(0).toUpperCase()}${REPORT.slice(1)}.`,
    data: { agent, agent_version: agentVersion, rows, unreadable, unknown },
  });
}

export function toDriftFinding({ agent, path, judgement }: DriftedTranscript): Finding {
  const what =
    judgement === null
      ? `not recognised as a transcript of ${agent}`
      : `understood ${judgement.understanding === 'nothing' ? 'nothing' : 'only a part'} of it: ${describeDrift(agent, judgement)}`;
  return { code: 'drift', level: 'warning', path, message: `${path}: ${what}; ${REPORT}`, remedy: null };
}

function describeDrift(agent: AgentName, { rows, unreadable, unknown, agentVersion }: Judgement): string {
  const odd = unknown.reduce((sum, { count }) => sum + count, unreadable);
  const version = agentVersion === null ? 'version unknown' : `version ${cleanLine(agentVersion)}`;
  const kinds = unknown
    .slice(0, KINDS_SHOWN)
    .map(({ kind, count }) => `${cutAtWord(cleanLine(kind), MAX_KIND_BYTES)} (${count})`);
  if (unknown.length > KINDS_SHOWN) kinds.push(`${unknown.length - KINDS_SHOWN} more`);
  return [
    odd === 0
      ? `${rows} rows of ${agent}, ${version}, show nothing of what the agent did`
      : `${odd} of ${rows} rows of ${agent}, ${version}, ${odd === 1 ? 'was' : 'were'} not understood`,
    ...(kinds.length === 0 ? [] : [`unknown kinds: ${kinds.join(', ')}`]),
    ...(unreadable === 0 ? [] : [`unreadable: ${unreadable}`]),
  ].join('; ');
}
