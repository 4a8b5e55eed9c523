import { resolve } from 'node:path';
import type { FoundSession } from '../../../agents/agent.ts';
import { findSessions, inspectTranscript } from '../../../agents/find-session.ts';
import { loadAgent } from '../../../agents/table.ts';
import { previewSession, type SessionOfAgent, saveSession } from '../../../app/capture/save-session.ts';
import { HandoverError } from '../../../errors.ts';
import { writeV2Envelope } from '../../../exchange/legacy/v2-view.ts';
import { compileBrief, DEFAULT_BUDGET } from '../../../handover/brief/compile.ts';
import { cleanLine } from '../../../model/text.ts';
import { identifyProject } from '../../../platform/project.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { readHistory } from '../../../store/handovers.ts';
import { readMarked } from '../../../store/marks.ts';
import type { Store } from '../../../store/store.ts';
import { requireAgent } from '../agents.ts';
import { type CliContext, findStore, noteJournalFailure, refuseBoth } from '../context.ts';
import { refuseDrifted, reportOddRows } from '../drift.ts';
import { dim } from '../output.ts';
import { requireReader } from '../readers.ts';
import { parseCount } from '../words.ts';
import type { CaptureFlags } from './capture.ts';

export async function runCapture(this: CliContext, flags: CaptureFlags): Promise<void> {
  const reader = requireReader(flags.target ?? 'generic');
  const budget = flags.budget === undefined ? DEFAULT_BUDGET : parseCount(flags.budget, 1);
  const chosen = await chooseSession(this, flags);
  const { machine } = this;
  const goal = flags.goal === undefined ? {} : { goal: redactGoal(flags.goal, chosen, this) };
  const captured = flags.dryRun
    ? await previewSession(chosen, { ...goal, store: findStoreOrNull(this), machine })
    : await saveSession(findStore(this), chosen, goal);
  if (captured.outcome === 'refused') throw refuseDrifted(chosen.session, captured.judgement);
  const { handover } = captured;
  if (captured.outcome === 'kept') noteJournalFailure(this, captured);
  reportOddRows(this.err, chosen.agent.name, captured.judgement);
  const print = flags.json ? 'json' : flags.print;
  if (print === 'json') this.out.json(handover);
  if (print === 'v2') {
    const history = readHistory(findStore(this), handover);
    this.out.json(writeV2Envelope(handover, { machine, history }));
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
