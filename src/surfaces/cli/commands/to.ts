import { resolve } from 'node:path';
import { AGENT_NAMES, type AgentName, type Launch } from '../../../agents/agent.ts';
import { BRIEF_LEAD, GOAL_LEAD } from '../../../agents/shared/message-text.ts';
import { findLaunch } from '../../../agents/table.ts';
import { recordLaunch } from '../../../app/automation/session-state.ts';
import { catchUpHere } from '../../../app/capture/catch-up.ts';
import { findStore } from '../../../app/context.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { findNewestHere, nothingHereError, pickToSend } from '../../../app/find-handover.ts';
import { mergeArrived } from '../../../app/merge.ts';
import { requireAgent, requireReader } from '../../../app/parse.ts';
import { findChangesThere } from '../../../app/resume.ts';
import { HandoverError } from '../../../errors.ts';
import { BYTES_PER_TOKEN } from '../../../handover/brief/block.ts';
import { compileBrief } from '../../../handover/brief/compile.ts';
import { type Handover, isForeign } from '../../../model/handover.ts';
import { withTempFile } from '../../../platform/folders.ts';
import type { Env } from '../../../platform/machine.ts';
import { abbreviateHome } from '../../../platform/paths.ts';
import { runInForeground } from '../../../platform/processes.ts';
import { describePlace, findFolderToWorkIn } from '../../../platform/project.ts';
import { nameOwnProcess } from '../../../platform/terminal.ts';
import { findWorktreeRoot } from '../../../platform/worktree.ts';
import { readMarked } from '../../../store/marks.ts';
import { budgetFlag, readBudget } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { allProjectsFlag, argument, command, type FlagValues, redactedText, text, toggle, tuple } from '../flags.ts';

const flags = {
  goal: redactedText('What it will do; guides the choice of facts'),
  from: text('Start from this handover instead of the newest of this worktree', 'id'),
  allProjects: allProjectsFlag,
  budget: budgetFlag,
  print: toggle('Show what would be started, without starting it'),
  json: toggle('The same as --print, as JSON'),
};

const agentBrief = `The agent to start: ${AGENT_NAMES.join(', ')}`;
export const to = command('to', runTo, { positional: tuple(argument(agentBrief, 'agent')), flags });

async function runTo(this: CliContext, values: FlagValues<typeof flags>, words: string): Promise<void> {
  const agent = requireAgent(words);
  const handover = await chooseHandover(this, values);
  const start = prepareStart(this, handover, { ...values, agent });
  const { folder, program, args, prompt } = start;
  if (values.json) return this.out.json({ id: handover.id, agent, folder, program, args, prompt });
  announceStart(this, start, values.print ? 'the prompt for' : 'starting');
  if (values.print) this.out.block(prompt);
  else this.process.exitCode = await startAgent(this, start);
}

/** An agent as it is started with the brief of a handover. */
export interface Start {
  launch: Launch;
  agent: AgentName;
  handover: string;
  folder: string;
  program: string;
  /** With words for the prompt or its file. */
  args: string[];
  prompt: string;
}

export function prepareStart(
  context: CliContext,
  handover: Handover,
  { agent, goal, budget }: { agent: AgentName; goal?: string | undefined; budget?: string | undefined },
): Start {
  const { machine } = context;
  const launch = findLaunch(agent);
  const { workspace, project } = handover;
  const known = findFolderToWorkIn(workspace, project, machine);
  const brief = compileBrief(readMarked(findStore(context), handover), requireReader(agent), {
    budget: chooseBudget(context, budget),
    ...(goal === undefined ? {} : { goal }),
    ...findChangesThere(handover, machine),
  });
  const place = isForeign(handover) ? `no folder of ${project.name} is known` : `${workspace.root} is not`;
  const elsewhere = `${place} on this machine; starting the agent in this folder`;
  if (known === null) context.notify({ level: 'note', text: elsewhere });
  const { program, takes } = launch;
  return {
    ...{ launch, agent, handover: handover.id, folder: resolve(machine.cwd, known ?? ''), program },
    args: launch.writeArgs(takes === 'file' ? 'FILE' : 'PROMPT'),
    prompt: writePrompt(brief.text, launch, goal),
  };
}

export function announceStart({ err, machine }: CliContext, start: Start, what = 'starting'): void {
  const { handover, folder, program, args } = start;
  const from = `from handover ${handover}, in ${abbreviateHome(folder, machine)}`;
  err.line(dim(`${what} ${[program, ...args].join(' ')}, ${from}`));
}

/** An argument holds 128 KiB on Linux, a whole command line 32 Ki characters on Windows. */
const MAX_BYTES = 30_000;
const MAX_TOKENS = Math.floor(MAX_BYTES / BYTES_PER_TOKEN);

function chooseBudget(context: CliContext, words: string | undefined): number {
  const budget = readBudget(words);
  const text = `a first prompt has room for at most ${MAX_TOKENS} tokens, so the brief is limited to that`;
  if (budget > MAX_TOKENS) context.notify({ level: 'note', text });
  return Math.min(budget, MAX_TOKENS);
}

/**
 * Begins with words of our own, since some agents take a first character such as / or # as a command. An @ in the
 * quoted brief must not attach a file, so it is set apart where it would; the goal is the user's own.
 */
function writePrompt(brief: string, { attachesFiles }: Launch, goal: string | undefined): string {
  const quoted = attachesFiles ? brief.replaceAll('@', '@ ') : brief;
  return `${BRIEF_LEAD}\n\n${quoted}${goal === undefined ? '' : `\n${GOAL_LEAD}${goal}\n`}`;
}

/** The named handover, or the newest of this worktree after its sessions were captured. */
async function chooseHandover(
  context: CliContext,
  { from, allProjects }: Pick<FlagValues<typeof flags>, 'from' | 'allProjects'>,
): Promise<Handover> {
  if (from !== undefined) return await pickToSend(context, from, { allProjects });
  const place = describePlace('.', context.machine);
  await catchUpHere(context, place);
  const newest = await findNewestHere(context, place, { imports: true });
  if (newest !== null) return await mergeArrived(context, place, newest);
  throw await nothingHereError(context, place);
}

/** While the agent runs, its hooks can see that it has this brief. `added` comes into its environment. */
export async function startAgent(context: CliContext, start: Start, added: Env = {}): Promise<number> {
  const { machine } = context;
  const { launch, prompt, folder, agent, handover } = start;
  const env = { ...machine.env, ...added };
  const run = async (promptOrFile: string): Promise<number> =>
    await runInForeground(launch.program, launch.writeArgs(promptOrFile), { cwd: folder, env });
  const root = findWorktreeRoot(folder) ?? folder;
  const atMs = machine.clock.now();
  const launched = { agent, root, handover, process: nameOwnProcess(), session: null, atMs };
  const forget = recordLaunch(findStore(context).root, launched);
  try {
    return await (launch.takes === 'file' ? withTempFile('handover.md', prompt, run) : run(prompt));
  } catch (error) {
    if (!(error instanceof HandoverError && error.code === 'HANDOVER_PROGRAM_MISSING')) throw error;
    const hint = `Install it, or add its folder to PATH: ${launch.install}`;
    throw new HandoverError('HANDOVER_PROGRAM_MISSING', error.message, { hint, cause: error });
  } finally {
    forget();
  }
}
