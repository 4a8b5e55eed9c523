import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import type { FoundSession } from '../../../agents/agent.ts';
import { loadAgent } from '../../../agents/table.ts';
import { findSessions, inspectTranscript } from '../../../app/capture/find-session.ts';
import { keepSession, previewSession, type SessionOfAgent } from '../../../app/capture/keep-session.ts';
import { HandoverError } from '../../../errors.ts';
import { writeV2Envelope } from '../../../exchange/legacy/v2-view.ts';
import { compileBrief, DEFAULT_BUDGET } from '../../../handover/brief/compile.ts';
import { cleanLine } from '../../../model/text.ts';
import { identifyProject } from '../../../platform/project.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { readEarlier } from '../../../store/earlier.ts';
import { readMarked } from '../../../store/marks.ts';
import type { Store } from '../../../store/store.ts';
import { requireAgent } from '../agents.ts';
import { type CliContext, findStore, noteJournalFailure, refuseBoth } from '../context.ts';
import { refuseDrifted, reportOddRows } from '../drift.ts';
import { dim } from '../output.ts';
import { requireReader } from '../readers.ts';
import { parseCount } from '../words.ts';

export interface CaptureFlags {
  agent?: string;
  session?: string;
  transcript?: string;
  latest: boolean;
  budget?: string;
  target?: string;
  goal?: string;
  print: 'brief' | 'json' | 'v2' | 'none';
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const capture: Command<CliContext> = buildCommand<CaptureFlags, [], CliContext>({
  func: runCapture,
  parameters: {
    flags: {
      agent: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only a session of this agent',
        placeholder: 'name',
      },
      session: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The session with this id',
        placeholder: 'id',
      },
      transcript: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The session in this file',
        placeholder: 'file',
      },
      latest: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'The newest session of this project; what happens anyway',
      },
      budget: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Tokens of the brief at most (2000)',
        placeholder: 'tokens',
      },
      target: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The agent that will read the brief',
        placeholder: 'agent',
      },
      goal: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'What the next session is to do; steers the choice of facts',
        placeholder: 'text',
      },
      print: {
        kind: 'enum',
        values: ['brief', 'json', 'v2', 'none'],
        default: 'brief',
        brief: 'What to print; v2 is the envelope of handoff V2',
      },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Keep nothing' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'The same as --print json' },
    },
  },
  docs: { brief: 'Make a handover of a session from the agent’s own files' },
});

export async function runCapture(this: CliContext, flags: CaptureFlags): Promise<void> {
  const reader = requireReader(flags.target ?? 'generic');
  const budget = flags.budget === undefined ? DEFAULT_BUDGET : parseCount(flags.budget, 1);
  const chosen = await chooseSession(this, flags);
  const { machine } = this;
  const goal = flags.goal === undefined ? {} : { goal: redactGoal(flags.goal, chosen, this) };
  const captured = flags.dryRun
    ? await previewSession(chosen, { ...goal, store: findStoreOrNull(this), machine })
    : await keepSession(findStore(this), chosen, goal);
  if (captured.outcome === 'refused') throw refuseDrifted(chosen.session, captured.judgement);
  const { handover } = captured;
  if (captured.outcome === 'kept') noteJournalFailure(this, captured);
  reportOddRows(this.err, chosen.agent.name, captured.judgement);
  const print = flags.json ? 'json' : flags.print;
  if (print === 'json') this.out.json(handover);
  if (print === 'v2') {
    const earlier = readEarlier(findStore(this), handover);
    this.out.json(writeV2Envelope(handover, { machine, earlier }));
  }
  if (print === 'brief') {
    const store = findStoreOrNull(this);
    const shown = store === null ? handover : readMarked(store, handover);
    this.out.block(compileBrief(shown, reader, { budget, ...goal }).text);
  }
  if (captured.outcome === 'known')
    this.err.line(dim(`nothing is new since handover ${handover.id}: nothing was saved`));
  if (captured.outcome === 'kept') this.err.line(dim(`saved handover ${handover.id}`));
}

/** A dry run needs no store, so it also runs where no place for one is known. */
function findStoreOrNull(context: CliContext): Store | null {
  try {
    return findStore(context);
  } catch (error) {
    if (error instanceof HandoverError && error.code === 'HANDOVER_HOME_UNKNOWN') return null;
    throw error;
  }
}

async function chooseSession(context: CliContext, flags: CaptureFlags): Promise<SessionOfAgent> {
  const { machine } = context;
  const name = flags.agent === undefined ? undefined : requireAgent(flags.agent);
  if (flags.transcript !== undefined) {
    if (flags.session !== undefined) throw refuseBoth('--transcript', '--session');
    return await inspectTranscript(resolve(machine.cwd, flags.transcript), name);
  }
  const agent = name === undefined ? {} : { agent: name };
  const project = flags.session === undefined ? { project: identifyProject('.', machine).id } : {};
  const sessions = await findSessions(machine, { ...agent, ...project });
  const session = flags.session === undefined ? sessions[0] : pickById(sessions, flags.session);
  if (session === undefined) {
    throw new HandoverError('HANDOVER_NOT_FOUND', 'no session was found', {
      hint: 'See what there is: handover sessions',
    });
  }
  return { agent: await loadAgent(session.agent), session };
}

function pickById(sessions: readonly FoundSession[], words: string): FoundSession | undefined {
  const matching = sessions.filter((session) => session.id.startsWith(words));
  const exact = matching.find((session) => session.id === words);
  if (exact !== undefined || matching.length < 2) return exact ?? matching[0];
  throw new HandoverError(
    'HANDOVER_ID_AMBIGUOUS',
    `"${cleanLine(words)}" is the beginning of ${matching.length} session ids`,
    {
      hint: 'Type more of it; see them with: handover sessions',
      data: { candidates: matching.slice(0, 10).map((session) => session.id) },
    },
  );
}

function redactGoal(goal: string, { session }: SessionOfAgent, { machine }: CliContext): string {
  return openRedactor(machine, { folder: session.cwd, makesKey: false }).redactText(goal, { byHuman: true });
}
