import { resolve } from 'node:path';
import type { Agent, FoundSession, Reading } from '../../../agents/agent.ts';
import { loadAgent } from '../../../agents/table.ts';
import { compileBrief, DEFAULT_BUDGET } from '../../../brief/compile.ts';
import { type Captured, captureSession } from '../../../capture/capture.ts';
import { findSessions, inspectTranscript } from '../../../capture/find-session.ts';
import { HandoverError } from '../../../errors.ts';
import { makeFact } from '../../../handover/declare.ts';
import { sealHandover } from '../../../handover/seal.ts';
import { makeHandoverId } from '../../../model/id.ts';
import { cleanLine } from '../../../model/text.ts';
import { formatTimestamp } from '../../../model/time.ts';
import { keepNewHandover, type Stamp } from '../../../store/handovers.ts';
import { identifyProject } from '../../../workspace/project.ts';
import { requireAgent } from '../agents.ts';
import { type CliContext, findStore, refuseBoth } from '../context.ts';
import { dim, yellow } from '../output.ts';
import { requireReader } from '../readers.ts';
import { parseCount } from '../words.ts';
import type { CaptureFlags } from './capture.ts';

export async function runCapture(this: CliContext, flags: CaptureFlags): Promise<void> {
  const reader = requireReader(flags.target ?? 'generic');
  const budget = flags.budget === undefined ? DEFAULT_BUDGET : parseCount(flags.budget, 1);
  const { agent, session } = await chooseSession(this, flags);
  const { draft: captured, reading } = captureSession(agent, session, this.machine);
  const draft = flags.goal === undefined ? captured : addGoal(captured, flags.goal);
  const seal = (stamp: Stamp) => sealHandover({ ...draft, ...stamp });
  const handover = flags.dryRun ? seal(stampNow(this)) : keepNewHandover(findStore(this), seal).handover;
  reportOddRows(this, reading);
  const print = flags.json ? 'json' : flags.print;
  if (print === 'json') this.out.json(handover);
  if (print === 'brief')
    this.out.block(
      compileBrief(handover, reader, { budget, ...(flags.goal === undefined ? {} : { goal: flags.goal }) })
        .text,
    );
  if (!flags.dryRun) this.err.line(dim(`saved handover ${handover.id}`));
}

/** What the human wants of the next session is a fact like any other, and stands first. */
function addGoal(draft: Captured['draft'], goal: string): Captured['draft'] {
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

/** Formats change with the agents' versions: what is not understood is said, loudly when it is much. */
function reportOddRows(context: CliContext, reading: Reading): void {
  const unknown = Object.entries(reading.unknown);
  const odd = reading.unreadable + unknown.reduce((sum, [, count]) => sum + count, 0);
  if (odd === 0) return;
  const version = reading.agentVersion === null ? '' : ` (version ${reading.agentVersion})`;
  const kinds =
    unknown.length === 0 ? '' : `; kinds not known here: ${unknown.map(([kind]) => kind).join(', ')}`;
  context.err.line(yellow('note: '), `${odd} of ${reading.rows} rows${version} were passed over${kinds}`);
}
