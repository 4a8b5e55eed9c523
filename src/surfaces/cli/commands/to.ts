import type { Launch } from '../../../agents/agent.ts';
import { BRIEF_LEAD, GOAL_LEAD } from '../../../agents/shared/message-text.ts';
import { findLaunch } from '../../../agents/table.ts';
import { recordLaunch } from '../../../app/automation/session-state.ts';
import { findStore } from '../../../app/context.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { findId, findNewestHere } from '../../../app/find-handover.ts';
import { requireAgent, requireReader } from '../../../app/parse.ts';
import { catchUpHere, findChangesHere, nothingHereError } from '../../../app/resume.ts';
import { HandoverError } from '../../../errors.ts';
import { BYTES_PER_TOKEN } from '../../../handover/brief/block.ts';
import { compileBrief } from '../../../handover/brief/compile.ts';
import type { Handover } from '../../../model/handover.ts';
import { withTempFile } from '../../../platform/folders.ts';
import { runInForeground } from '../../../platform/processes.ts';
import { describePlace, findWorkFolder } from '../../../platform/project.ts';
import { nameOwnProcess } from '../../../platform/terminal.ts';
import { findWorktreeRoot } from '../../../platform/worktree.ts';
import { requireHandover } from '../../../store/find-handover.ts';
import { readMarked } from '../../../store/marks.ts';
import { budgetFlag, readBudget } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { argument, command, type FlagValues, redactedText, text, toggle, tuple } from '../flags.ts';

const flags = {
  goal: redactedText('What it will do; guides the choice of facts'),
  from: text('Start from this handover instead of the newest of this worktree', 'id'),
  budget: budgetFlag,
  print: toggle('Show what would be started, without starting it'),
  json: toggle('The same as --print, as JSON'),
};

export const to = command('to', runTo, { positional: tuple(argument('The agent to start', 'agent')), flags });

async function runTo(this: CliContext, values: FlagValues<typeof flags>, words: string): Promise<void> {
  const { machine } = this;
  const { goal } = values;
  const reader = requireReader(words);
  const launch = findLaunch(requireAgent(reader.agent));
  const handover = await chooseHandover(this, values.from);
  const known = findWorkFolder(handover.workspace, handover.project, machine);
  const brief = compileBrief(readMarked(findStore(this), handover), reader, {
    budget: chooseBudget(this, values.budget),
    ...(goal === undefined ? {} : { goal }),
    ...(known === null ? {} : { changes: findChangesHere(handover, describePlace(known, machine), machine) }),
  });
  const prompt = writePrompt(brief.text, launch, goal);
  const elsewhere = `${handover.workspace.root} is not on this machine; starting the agent in this folder`;
  if (known === null) this.notify({ level: 'note', text: elsewhere });
  const folder = known ?? machine.cwd;
  const { program, takes } = launch;
  const args = launch.writeArgs(takes === 'file' ? 'FILE' : 'PROMPT');
  if (values.json) return this.out.json({ id: handover.id, agent: reader.agent, folder, program, args, prompt });
  this.err.line(dim(`handover ${handover.id}, in ${folder}: ${program} ${args.join(' ')}`));
  if (values.print) this.out.block(prompt);
  else
    this.process.exitCode = await start(this, { launch, prompt, folder, agent: reader.agent, handover: handover.id });
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
async function chooseHandover(context: CliContext, named: string | undefined): Promise<Handover> {
  const store = findStore(context);
  if (named !== undefined) return requireHandover(store, await findId(store, named));
  const place = describePlace('.', context.machine);
  await catchUpHere(context, place);
  const newest = await findNewestHere(context, place);
  if (newest !== null) return newest;
  throw nothingHereError(place);
}

interface Start {
  launch: Launch;
  prompt: string;
  folder: string;
  agent: string;
  handover: string;
}

/** While the agent runs, its hooks can see that it has this brief. */
async function start(context: CliContext, { launch, prompt, folder, agent, handover }: Start): Promise<number> {
  const { machine } = context;
  const run = async (promptOrFile: string): Promise<number> =>
    await runInForeground(launch.program, launch.writeArgs(promptOrFile), { cwd: folder, env: machine.env });
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
