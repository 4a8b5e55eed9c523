import type { AgentName, FoundSession } from '../../agents/agent.ts';
import type { DriftedTranscript, Judgement } from '../../app/capture/drift.ts';
import { HandoverError } from '../../errors.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import type { Finding } from '../../store/doctor/check-files.ts';
import { dim, type Output, yellow } from './output.ts';

const KINDS_SHOWN = 8;
const MAX_KIND_BYTES = 60;
const REPORT =
  'install the newest agent-handover; if this is the newest, report the agent’s version and the kinds';

/** Formats change with the agents' versions: what is not understood is said, loudly when it is much. */
export function reportOddRows(err: Output, agent: AgentName, judgement: Judgement): void {
  if (judgement.understanding === 'fine') return;
  const told = describeOdd(agent, judgement);
  if (judgement.understanding === 'odd') {
    err.line(yellow('note: '), told);
    return;
  }
  err.line(
    yellow('warning: '),
    `this transcript was understood only in part, and the handover lacks the rest: ${told}`,
  );
  err.line(dim('  next: '), REPORT);
}

export function refuseDrifted(session: FoundSession, judgement: Judgement): HandoverError {
  const { agent, path } = session;
  const { rows, unreadable, unknown, agentVersion } = judgement;
  return new HandoverError(
    'HANDOVER_TRANSCRIPT_DRIFTED',
    `nothing in ${path} was understood, and nothing is kept: ${describeOdd(agent, judgement)}`,
    {
      hint: path.endsWith('.zst')
        ? 'It is compressed with zstd, which Node can read from 22.15 on.'
        : `${REPORT.charAt(0).toUpperCase()}${REPORT.slice(1)}.`,
      data: { agent, agent_version: agentVersion, rows, unreadable, unknown },
    },
  );
}

export function toFinding({ agent, path, judgement }: DriftedTranscript): Finding {
  const what =
    judgement === null
      ? `it is not known for a transcript of ${agent}`
      : `${judgement.understanding === 'nothing' ? 'nothing' : 'only a part'} of it is understood: ${describeOdd(agent, judgement)}`;
  return {
    code: 'drift',
    level: 'warning',
    path,
    message: `${path}: ${what}; ${REPORT}`,
    remedy: null,
  };
}

function describeOdd(agent: AgentName, { rows, unreadable, unknown, agentVersion }: Judgement): string {
  const odd = unknown.reduce((sum, { count }) => sum + count, unreadable);
  const version =
    agentVersion === null ? 'which does not tell its version' : `version ${cleanLine(agentVersion)}`;
  const kinds = unknown
    .slice(0, KINDS_SHOWN)
    .map(({ kind, count }) => `${cutAtWord(cleanLine(kind), MAX_KIND_BYTES)} (${count})`);
  if (unknown.length > KINDS_SHOWN) kinds.push(`${unknown.length - KINDS_SHOWN} more`);
  return [
    odd === 0
      ? `${rows} rows of ${agent}, ${version}, tell nothing of what the agent did`
      : `${odd} odd of ${rows} rows of ${agent}, ${version}`,
    ...(kinds.length === 0 ? [] : [`kinds not known here: ${kinds.join(', ')}`]),
    ...(unreadable === 0 ? [] : [`unreadable: ${unreadable}`]),
  ].join('; ');
}
