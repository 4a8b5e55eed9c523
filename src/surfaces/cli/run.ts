import { type Application, ArgumentScannerError, buildApplication, run, text_en } from '@stricli/core';
import { detectAgent } from '../../app/context.ts';
import { EXIT, hasCode, usageError } from '../../errors.ts';
import { quoteInput } from '../../model/text.ts';
import type { Env } from '../../platform/machine.ts';
import { isInputTerminal, openSink, type TextSink } from '../../platform/streams.ts';
import { suggestOneOf } from '../../search/typos.ts';
import { type CommandName, isCommandName } from './command-summaries.ts';
import { type CliTarget, COMMANDS } from './commands/table.ts';
import { type CliContext, createContext, openOutput } from './context.ts';
import { holdOutput, stampJson } from './output.ts';
import { reportFailure } from './report-failure.ts';

/** Runs one command and sets the exit status. Nothing is thrown: every failure is reported here. */
export async function runCommandLine(given: readonly string[]): Promise<void> {
  const { env } = process;
  const args = takeOut(NO_PAGER, given);
  const plain = { stdout: openSink(1), stderr: openSink(2) };
  const usesPager = args.length === given.length && isRead(args) && isForPerson(plain.stdout, env);
  const held = usesPager ? holdOutput(plain.stdout, plain.stderr) : null;
  const { stdout, stderr } = held ?? plain;
  const err = await openOutput(stderr, env);
  try {
    const context = await createContext({ stdout, err, isTerminal: stderr.isTerminal });
    await dispatch(args, context);
    process.exitCode = toExitStatus(context.process.exitCode);
  } catch (error) {
    process.exitCode = await reportFailure(error, err, args.includes('--json'));
  }
  await held?.release((text) => runPager(text, env));
}

const NO_PAGER = '--no-pager';

/** The words without this flag, which may stand before or after the command, but not after `--`. */
function takeOut(flag: string, words: readonly string[]): string[] {
  const end = words.indexOf('--');
  return words.filter((word, at) => word !== flag || (end !== -1 && at > end));
}

/** The commands whose output is read from its top. */
const READ: ReadonlySet<string> = new Set(
  'help list show search sessions resume render diff timeline files why errors debt debug'.split(' '),
);

function isRead(args: readonly string[]): boolean {
  return READ.has(args[0] ?? '') || args.includes('--help') || args.includes('-h');
}

/** Agents run commands in terminals too, and would wait for a pager for ever. */
function isForPerson(stdout: TextSink, env: Env): boolean {
  return stdout.isTerminal && isInputTerminal() && detectAgent(env) === null && env.TERM !== 'dumb';
}

/** False when there is no pager. As with git, `less` ends at once when all fits, and keeps the text on the screen. */
async function runPager(text: string, env: Env): Promise<boolean> {
  const [program = '', ...args] = (env.HANDOVER_PAGER ?? env.PAGER ?? 'less')
    .split(/\s+/)
    .filter((word) => word !== '');
  if (program === '' || program === 'cat') return false;
  const { runInForeground } = await import('../../platform/processes.ts');
  try {
    await runInForeground(program, args, {
      cwd: process.cwd(),
      env: { LESS: 'FRX', LESSCHARSET: 'utf-8', ...env },
      input: text,
    });
    return true;
  } catch (error) {
    if (hasCode(error, 'HANDOVER_PROGRAM_MISSING')) return false;
    throw error;
  }
}

async function dispatch(args: readonly string[], context: CliContext): Promise<void> {
  const [name = '', ...rest] = args;
  if (isCommandName(name)) return await runOne(name, rest, context);
  if (name === '') return await (await import('./overview.ts')).printOverview(context);
  if (name === COMPLETE)
    return await (await import('./commands/completions.ts')).printCompletions(context, rest, build);
  const { printHelp, unknownCommandError } = await import('./help.ts');
  if (!HELP.has(name)) throw unknownCommandError(name);
  await printHelp(context, rest);
}

/** What the scripts of `completions` call. */
const COMPLETE = '__complete';
const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** Errors are thrown on, so that one place reports them. */
const configuration = {
  scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
  documentation: { caseStyle: 'convert-camel-to-kebab', disableAnsiColor: true, useAliasInUsageLine: false },
  localization: {
    text: {
      ...text_en,
      exceptionWhileRunningCommand: (error: unknown): string => {
        throw error;
      },
      exceptionWhileParsingArguments: (error: unknown): string => {
        throw error;
      },
    },
  },
} as const;

async function runOne(name: CommandName, args: readonly string[], context: CliContext): Promise<void> {
  try {
    // Raised when a field changes or goes: schemas/commands describes them.
    await run(await build(name, context), args, { ...context, out: stampJson(context.out, `${name}/1`) });
  } catch (error) {
    if (!(error instanceof ArgumentScannerError)) throw error;
    throw (await import('./help.ts')).argumentError(error, name, await COMMANDS[name]());
  }
}

/** A command as the parser takes it, with a help of our own. */
async function build(name: CommandName, context: CliContext): Promise<Application<CliContext>> {
  const target: CliTarget = await COMMANDS[name]();
  const settings = { name: `handover ${name}`, ...configuration };
  const printOwnHelp = async (): Promise<void> => (await import('./help.ts')).printHelp(context, [name]);
  const brief = 'Show this help';
  const help = { flag: { brief, aliases: ['h'], global: true, defaultForRouteMap: true, run: printOwnHelp } } as const;
  if ('loader' in target) return buildApplication<CliContext>(target, settings, { help });
  const actions = target.getAllEntries().map((entry) => entry.name.original);
  const noCommandRegisteredForInput = ({ input }: { input: string }): string => {
    throw usageError(`${name} has no action ${quoteInput(input)}`, suggestOneOf(input, actions));
  };
  const localization = { text: { ...configuration.localization.text, noCommandRegisteredForInput } };
  return buildApplication<CliContext>(target, { ...settings, localization }, { help });
}

/** The parser reports its own failures below zero: wrong arguments, or a command that cannot be loaded. */
function toExitStatus(code: number | string | null | undefined): number {
  const status = Number(code ?? EXIT.done);
  if (status >= 0) return status;
  return status === -4 || status === -5 ? EXIT.usage : EXIT.bug;
}
