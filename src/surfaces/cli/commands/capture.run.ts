import { resolve } from 'node:path';
import type { Agent, FoundSession } from '../../../agents/agent.ts';
import { loadAgent } from '../../../agents/table.ts';
import { compileBrief, DEFAULT_BUDGET } from '../../../brief/compile.ts';
import { captureSession } from '../../../capture/capture.ts';
import { findSessions, inspectTranscript } from '../../../capture/find-session.ts';
import { HandoverError } from '../../../errors.ts';
import { type Line, linkHandover, tellsNothingNew } from '../../../handover/chain.ts';
import { makeFact } from '../../../handover/declare.ts';
import { sealRated } from '../../../handover/seal.ts';
import { writeV2Envelope } from '../../../handover/v2-view.ts';
import type { Handover, UnstampedDraft } from '../../../model/handover.ts';
import { makeHandoverId } from '../../../model/id.ts';
import { cleanLine } from '../../../model/text.ts';
import { formatTimestamp } from '../../../model/time.ts';
import { readEarlier } from '../../../store/earlier.ts';
import { keepNewHandover, type Stamp } from '../../../store/handovers.ts';
import { findLine } from '../../../store/line.ts';
import { identifyProject } from '../../../workspace/project.ts';
import { requireAgent } from '../agents.ts';
import { type CliContext, findStore, noteJournalFailure, refuseBoth, withCatalogOpener } from '../context.ts';
import { refuseDrifted, reportOddRows } from '../drift.ts';
import { dim } from '../output.ts';
import { requireReader } from '../readers.ts';
import { parseCount } from '../words.ts';
import type { CaptureFlags } from './capture.ts';

export async function runCapture(this: CliContext, flags: CaptureFlags): Promise<void> {
  const reader = requireReader(flags.target ?? 'generic');
  const budget = flags.budget === undefined ? DEFAULT_BUDGET : parseCount(flags.budget, 1);
  const { agent, session } = await chooseSession(this, flags);
  const { draft: captured, judgement } = captureSession(agent, session, this.machine, {
    keepsReading: !flags.dryRun,
  });
  if (judgement.understanding === 'nothing') throw refuseDrifted(session, judgement);
  const draft = flags.goal === undefined ? captured : addGoal(captured, flags.goal);
  const line = await findEarlier(this, draft, flags);
  const linked = linkHandover(draft, line);
  const known = line !== null && tellsNothingNew(linked, line) ? line.previous : null;
  const seal = (stamp: Stamp): Handover => sealRated({ ...linked, ...stamp });
  const handover = known ?? (flags.dryRun ? seal(stampNow(this)) : keep(this, seal));
  reportOddRows(this.err, agent.name, judgement);
  const print = flags.json ? 'json' : flags.print;
  if (print === 'json') this.out.json(handover);
  if (print === 'v2') {
    const earlier = readEarlier(findStore(this), handover);
    this.out.json(writeV2Envelope(handover, { machine: this.machine, earlier }));
  }
  if (print === 'brief')
    this.out.block(
      compileBrief(handover, reader, { budget, ...(flags.goal === undefined ? {} : { goal: flags.goal }) })
        .text,
    );
  if (known !== null) this.err.line(dim(`nothing is new since handover ${known.id}: nothing was saved`));
  else if (!flags.dryRun) this.err.line(dim(`saved handover ${handover.id}`));
}

/** A dry run needs no store, so it also runs where no place for one is known. */
async function findEarlier(
  context: CliContext,
  draft: UnstampedDraft,
  { dryRun }: CaptureFlags,
): Promise<Line | null> {
  try {
    const store = findStore(context);
    return await withCatalogOpener(store, (open) => findLine(store, draft, open));
  } catch (error) {
    if (dryRun && error instanceof HandoverError && error.code === 'HANDOVER_HOME_UNKNOWN') return null;
    throw error;
  }
}

function keep(context: CliContext, seal: (stamp: Stamp) => Handover): Handover {
  const kept = keepNewHandover(findStore(context), seal);
  noteJournalFailure(context, kept);
  return kept.handover;
}

/** What the human wants of the next session is a fact like any other, and stands first. */
function addGoal(draft: UnstampedDraft, goal: string): UnstampedDraft {
  const given = makeFact('goal', goal, { by: 'human', pinned: false });
  return { ...draft, facts: [given, ...draft.facts.filter((fact) => fact.id !== given.id)] };
}

async function chooseSession(
  context: CliContext,
  flags: CaptureFlags,
): Promise<{ agent: Agent; session: FoundSession }> {
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

function stampNow(context: CliContext): Stamp {
  const now = context.machine.clock.now();
  return { id: makeHandoverId(now, context.machine.random.bytes(3)), created_at: formatTimestamp(now) };
}
