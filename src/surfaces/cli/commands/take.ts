import { AGENT_NAMES, type AgentName } from '../../../agents/agent.ts';
import { findStore } from '../../../app/context.ts';
import { type TakenTask, takeNamed } from '../../../app/custody.ts';
import { bold, dim, yellow } from '../../../app/describe/styled-text.ts';
import { toHandoverError } from '../../../app/failure.ts';
import { requireProjectId } from '../../../app/find-handover.ts';
import { endLease, keepLease } from '../../../app/lease.ts';
import { parseCount, requireAgent } from '../../../app/parse.ts';
import { EXIT, type ExitStatus, isFailure, usageError } from '../../../errors.ts';
import { describeCustody, type Ending } from '../../../exchange/remote/custody.ts';
import { nameAgent } from '../../../handover/brief/reader.ts';
import type { Handover } from '../../../model/handover.ts';
import { countNouns } from '../../../model/text.ts';
import { readHeldTask, TASK_VARIABLE } from '../../../store/held-tasks.ts';
import { budgetFlag } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import {
  command,
  conflictError,
  type FlagValues,
  optionalArgument,
  redactedText,
  text,
  textOr,
  toggle,
  tuple,
} from '../flags.ts';
import { announceStart, prepareStart, startAgent } from './to.ts';

const flags = {
  next: toggle('Take the oldest open task instead of a named one'),
  project: text('With --next: only of this project', 'project'),
  label: redactedText('With --next: only with this label', 'label'),
  remote: text('The remote that it is offered on; default: the project’s, or your only one', 'name'),
  lease: textOr('30', 'Minutes after which another may take it; renewed while the agent runs', 'minutes'),
  goal: redactedText('What the agent will do; guides the choice of facts'),
  budget: budgetFlag,
  done: toggle('If the agent exits with 0, it marks the task done; else it only releases it'),
  print: toggle('Take it and print the brief, without starting an agent; the lease is not renewed'),
  json: toggle('The same as --print, as JSON'),
};
type TakeFlags = FlagValues<typeof flags>;

export const take = command('take', runTake, {
  positional: tuple(
    optionalArgument('The handover: an id, its start or end; with --next, the agent', 'id'),
    optionalArgument(`The agent to start, by default that of the session: ${AGENT_NAMES.join(', ')}`, 'agent'),
  ),
  flags,
});

/** A lease that is longer than a day helps nobody: it is renewed. */
const LONGEST_MINUTES = 24 * 60;

async function runTake(this: CliContext, values: TakeFlags, first?: string, second?: string): Promise<void> {
  if (values.next && second !== undefined) throw conflictError('an id', '--next');
  if (!values.next && first === undefined)
    throw usageError('take needs the id of a handover, or --next', 'See what is open: handover who');
  if (!values.next && (values.project ?? values.label) !== undefined)
    throw usageError('--project and --label choose among open tasks', 'Add --next, or leave them out.');
  const named = values.next ? first : second;
  const given = named === undefined ? null : requireAgent(named);
  const minutes = parseCount(values.lease, 1);
  if (minutes > LONGEST_MINUTES) throw usageError('a lease has at most a day', 'It is renewed while the agent runs.');
  const starts = !values.print && !values.json;
  const taken = await takeNamed(this, {
    words: values.next ? undefined : first,
    filter: {
      project: values.project === undefined ? undefined : await requireProjectId(this, values.project),
      label: values.label,
    },
    remote: values.remote,
    leaseMs: minutes * 60_000,
    renews: starts,
  });
  if (starts) this.process.exitCode = await workOn(this, taken, { ...values, agent: given });
  else await show(this, taken, { ...values, agent: given });
}

type Work = Pick<TakeFlags, 'goal' | 'budget' | 'done' | 'json'> & { agent: AgentName | null };

/** Whatever fails before the agent runs gives the task back. */
async function prepare(context: CliContext, { handover, held }: TakenTask, work: Work) {
  try {
    return prepareStart(context, handover, { ...work, agent: work.agent ?? findAgent(handover) });
  } catch (error) {
    await endLease(context, held.task, 'unstarted');
    throw error;
  }
}

function findNamed({ session }: Handover): AgentName | undefined {
  return AGENT_NAMES.find((name) => name === nameAgent(session.agent).toLowerCase());
}

function findAgent(handover: Handover): AgentName {
  const agent = findNamed(handover);
  if (agent !== undefined) return agent;
  throw usageError('the handover does not say which agent goes on', `Name one of: ${AGENT_NAMES.join(', ')}.`);
}

async function show(context: CliContext, taken: TakenTask, work: Work): Promise<void> {
  const { held } = taken;
  // Nothing is started: one that was written by hand names no agent, and is read by any.
  const reader = work.agent ?? findNamed(taken.handover) ?? AGENT_NAMES[0];
  const { folder, program, args, prompt, agent } = await prepare(context, taken, { ...work, agent: reader });
  const { task, fence, remote, custody } = held;
  if (work.json)
    return context.out.json({ task, fence, until: custody.until, remote, agent, folder, program, args, prompt });
  announceHeld(context, taken);
  context.out.block(prompt);
}

function announceHeld({ err }: CliContext, { held: { task, fence, custody, remote } }: TakenTask): void {
  err.line('you hold ', bold(task), dim(`  number ${fence} on ${remote}, until ${custody.until}`));
}

/** Renews the lease while the agent runs. The environment names the task to everything that the agent starts. */
async function workOn(context: CliContext, taken: TakenTask, work: Work): Promise<number> {
  const { task, fence } = taken.held;
  const start = await prepare(context, taken, work);
  announceHeld(context, taken);
  announceStart(context, start);
  let unrenewed: string | null = null;
  const warn = (text: string): void => context.notify({ level: 'warning', text });
  const lease = keepLease(context, taken.held, (failure) => {
    unrenewed = failure === null ? null : `the lease of task ${task} is not renewed: ${failure.message}`;
    // On a terminal the agent has the screen.
    if (unrenewed !== null && !context.interactive) warn(unrenewed);
  });
  let status: number | null = null;
  let failure: ExitStatus = EXIT.done;
  try {
    status = await startAgent(context, start, { [TASK_VARIABLE]: `${task}:${fence}` });
  } finally {
    await lease.stop();
    if (unrenewed !== null && context.interactive) warn(unrenewed);
    const ending = status === null ? 'unstarted' : work.done && status === 0 ? 'done' : 'released';
    failure = await finish(context, taken, ending);
  }
  return status === EXIT.done ? failure : status;
}

/** Not zero where somebody else has the task by now, or it is done and that could not be said. */
async function finish(context: CliContext, { held }: TakenTask, ending: Ending): Promise<ExitStatus> {
  const { task, custody } = held;
  try {
    const end = await endLease(context, task, ending);
    if (end.outcome === 'late') {
      const marked = end.marked === 0 ? '' : `; ${countNouns(end.marked, 'handover')} marked as late`;
      context.err.line(yellow('late: '), `task ${task} is ${describeCustody(end.newest)}${marked}`);
    } else if (end.outcome !== 'ended') context.err.line(dim(`task ${task} is ${end.outcome}`));
    const isLate = (readHeldTask(findStore(context), task)?.late ?? null) !== null;
    return isLate ? EXIT.refused : EXIT.done;
  } catch (error) {
    if (!isFailure(error)) throw error;
    const text = `task ${task} could not be given back (${error.message}); its lease ends by itself, ${custody.until} or later`;
    context.notify({ level: 'warning', text, next: `handover release ${task}` });
    return ending === 'done' ? (toHandoverError(error)?.exitStatus ?? EXIT.bug) : EXIT.done;
  }
}
