import {
  ArgumentScannerError,
  buildApplication,
  formatMessageForArgumentScannerError,
  run,
  text_en,
} from '@stricli/core';
import { bold } from '../../app/describe/styled-text.ts';
import { usageError } from '../../app/failure.ts';
import { EXIT, HandoverError } from '../../errors.ts';
import { openSink } from '../../platform/streams.ts';
import { COMMAND_SUMMARIES, type CommandName, GROUPS } from './command-summaries.ts';
import { type CliTarget, COMMANDS } from './commands/table.ts';
import { type CliContext, createContext } from './context.ts';
import { reportFailure } from './failure.ts';
import { createOutput, type Output, wantsColours } from './output.ts';

/** Runs one command and sets the exit status. Nothing is thrown: every failure is reported here. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  const stderr = openSink(2);
  const err = createOutput(stderr, wantsColours(stderr, process.env));
  try {
    const context = createContext(err, stderr.isTerminal);
    await dispatch(args, context);
    process.exitCode = toExitStatus(context.process.exitCode);
  } catch (error) {
    process.exitCode = await reportFailure(error, err, args.includes('--json'));
  }
}

async function dispatch(args: readonly string[], context: CliContext): Promise<void> {
  const [name = '', ...rest] = args;
  if (isCommand(name)) return await runOne(name, rest, context);
  const asked = HELP.has(name) ? (rest[0] ?? '') : name;
  if (asked === '' || HELP.has(asked)) printOverview(context.out);
  else if (isCommand(asked)) await runOne(asked, ['--help'], context);
  else throw unknownCommandError(asked);
}

const HELP: ReadonlySet<string> = new Set(['', 'help', '--help', '-h']);

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

function unknownCommandError(name: string): HandoverError {
  if (name.startsWith('-'))
    return usageError(`"${name}" is not a command`, 'Flags come after the command. See the commands: handover --help');
  const hint = `The commands are: ${Object.keys(COMMANDS).join(', ')}. More: handover --help`;
  return usageError(`there is no command "${name}"`, hint);
}

const NAME_WIDTH = 10;

function printOverview(out: Output): void {
  out.line('Carries the work of an AI coding session over to the next one.');
  out.line();
  out.line('usage: handover COMMAND [FLAGS]');
  for (const { title, names } of GROUPS) {
    out.line();
    out.line(bold(title));
    for (const name of names) out.line(`  ${name.padEnd(NAME_WIDTH)}`, COMMAND_SUMMARIES[name]);
  }
  out.line();
  out.line('Help on a command: handover COMMAND --help. Start with: handover init');
}

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
        throw argumentError(error);
      },
    },
  },
} as const;

function argumentError(error: unknown): HandoverError {
  if (error instanceof HandoverError) return error;
  const message =
    error instanceof ArgumentScannerError ? formatMessageForArgumentScannerError(error, {}) : String(error);
  const hint = 'See the flags of a command: handover COMMAND --help';
  return new HandoverError('HANDOVER_USAGE', message, { hint, cause: error });
}

async function runOne(name: CommandName, args: readonly string[], context: CliContext): Promise<void> {
  const target: CliTarget = await COMMANDS[name]();
  const settings = { name: `handover ${name}`, ...configuration };
  // Two calls, because the overloads take a command or a route map, not their union.
  const application = 'loader' in target ? buildApplication(target, settings) : buildApplication(target, settings);
  await run(application, args, context);
}

/** The parser reports its own failures below zero: wrong arguments, or a command that cannot be loaded. */
function toExitStatus(code: number | string | null | undefined): number {
  const status = Number(code ?? EXIT.done);
  if (status >= 0) return status;
  return status === -4 || status === -5 ? EXIT.usage : EXIT.bug;
}
