import { buildCommand, type Command } from '@stricli/core';
import { findLaunch, type Launch } from '../../../agents/launch.ts';
import { HandoverError } from '../../../errors.ts';
import { compileBrief, DEFAULT_BUDGET } from '../../../handover/brief/compile.ts';
import { BYTES_PER_TOKEN } from '../../../handover/brief/weighed.ts';
import type { Handover } from '../../../model/handover.ts';
import { findWorkFolder } from '../../../platform/find-folder.ts';
import { withTempFile } from '../../../platform/folders.ts';
import { runInForeground } from '../../../platform/foreground.ts';
import { describePlace } from '../../../platform/place.ts';
import { readMarked } from '../../../store/marks.ts';
import { requireHandover } from '../../../store/resolve.ts';
import { requireAgent } from '../agents.ts';
import { findChangesHere } from '../changes-here.ts';
import { type CliContext, findStore } from '../context.ts';
import { catchUpHere, findNewestHere, refuseUnknown } from '../newest-here.ts';
import { dim, yellow } from '../output.ts';
import { idFlag, pickNamed } from '../pick.ts';
import { requireReader } from '../readers.ts';
import { redactWords } from '../redact-words.ts';
import { parseCount } from '../words.ts';

export interface ToFlags {
  goal?: string;
  from?: string;
  budget?: string;
  print: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const to: Command<CliContext> = buildCommand<ToFlags, [string], CliContext>({
  func: runTo,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ parse: text, brief: 'The agent to start', placeholder: 'agent' }],
    },
    flags: {
      goal: {
        kind: 'parsed',
        parse: redactWords,
        optional: true,
        brief: 'What it is to do; steers the choice of facts',
        placeholder: 'text',
      },
      from: { ...idFlag, brief: 'Start from this handover, instead of the newest one of this worktree' },
      budget: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Tokens of the brief at most (2000)',
        placeholder: 'tokens',
      },
      print: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Show what would be started, and do not start it',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'The same as --print, as JSON' },
    },
  },
  docs: { brief: 'Start another agent with the brief, in the right folder' },
});

export async function runTo(this: CliContext, flags: ToFlags, words: string): Promise<void> {
  const reader = requireReader(words);
  const launch = findLaunch(requireAgent(reader.agent));
  const handover = await chooseHandover(this, flags.from);
  const known = findWorkFolder(handover.workspace, handover.project, this.machine);
  const changes =
    known === null
      ? {}
      : { changes: findChangesHere(handover, describePlace(known, this.machine), this.machine) };
  const brief = compileBrief(readMarked(findStore(this), handover), reader, {
    budget: chooseBudget(this, flags.budget),
    ...(flags.goal === undefined ? {} : { goal: flags.goal }),
    ...changes,
  });
  const prompt = writePrompt(brief.text, launch, flags.goal);
  const folder = known ?? stayHere(this, handover);
  const { program, takes } = launch;
  const args = launch.writeArgs(takes === 'file' ? 'FILE' : 'PROMPT');
  if (flags.json) {
    this.out.json({ id: handover.id, agent: reader.agent, folder, program, args, prompt });
    return;
  }
  this.err.line(dim(`handover ${handover.id}, in ${folder}: ${program} ${args.join(' ')}`));
  if (flags.print) this.out.block(prompt);
  else this.process.exitCode = await start(this, launch, { prompt, folder });
}

/** An argument holds 128 KiB on Linux, a whole command line 32 Ki characters on Windows. */
const MOST_BYTES = 30_000;
const MOST_TOKENS = Math.floor(MOST_BYTES / BYTES_PER_TOKEN);

function chooseBudget({ err }: CliContext, words: string | undefined): number {
  const budget = words === undefined ? DEFAULT_BUDGET : parseCount(words, 1);
  if (budget > MOST_TOKENS)
    err.line(yellow('note: '), `a first prompt takes ${MOST_TOKENS} tokens at most; the brief has no more`);
  return Math.min(budget, MOST_TOKENS);
}

/**
 * Begins with words of our own: a first character such as / or # is a command in some agents. What is quoted must attach
 * no file, so an @ of it stands apart where it would; the goal is the user's own.
 */
function writePrompt(brief: string, { attachesFiles }: Launch, goal: string | undefined): string {
  const lead = 'Go on with the work that this handover of an earlier session describes.';
  const quoted = attachesFiles ? brief.replaceAll('@', '@ ') : brief;
  return `${lead}\n\n${quoted}${goal === undefined ? '' : `\nWhat to do now: ${goal}\n`}`;
}

/** The newest of this worktree, after whatever its sessions did since is captured; or the one that was named. */
async function chooseHandover(context: CliContext, named: string | undefined): Promise<Handover> {
  const store = findStore(context);
  if (named !== undefined) return requireHandover(store, await pickNamed(store, named));
  const place = describePlace('.', context.machine);
  await catchUpHere(context, place);
  const newest = await findNewestHere(context, place);
  if (newest === null) throw refuseUnknown(place);
  return newest;
}

function stayHere({ machine, err }: CliContext, { workspace }: Handover): string {
  err.line(yellow('note: '), `${workspace.root} is not on this machine; the agent is started in this folder`);
  return machine.cwd;
}

async function start(
  { machine }: CliContext,
  launch: Launch,
  { prompt, folder }: { prompt: string; folder: string },
): Promise<number> {
  const run = async (promptOrFile: string): Promise<number> =>
    await runInForeground(launch.program, launch.writeArgs(promptOrFile), { cwd: folder, env: machine.env });
  try {
    return await (launch.takes === 'file' ? withTempFile('handover.md', prompt, run) : run(prompt));
  } catch (error) {
    if (!(error instanceof HandoverError && error.code === 'HANDOVER_PROGRAM_MISSING')) throw error;
    throw new HandoverError('HANDOVER_PROGRAM_MISSING', error.message, {
      hint: `Install it, or add its folder to PATH: ${launch.install}`,
      cause: error,
    });
  }
}
