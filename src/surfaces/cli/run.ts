import {
  ArgumentScannerError,
  buildApplication,
  formatMessageForArgumentScannerError,
  run,
  type StricliProcess,
  text_en,
} from '@stricli/core';
import { EXIT, HandoverError } from '../../errors.ts';
import { describeMachine } from '../../platform/machine.ts';
import { isInputTerminal, openSink, readInput } from '../../platform/streams.ts';
import { type CliTarget, COMMANDS } from './commands/table.ts';
import type { CliContext } from './context.ts';
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

function createContext(err: Output, isTerminal: boolean): CliContext {
  const stdout = openSink(1);
  const machine = describeMachine();
  const out = createOutput(stdout, wantsColours(stdout, machine.env));
  const stricliProcess: StricliProcess = {
    stdout: { write: (text) => out.block(text) },
    stderr: { write: (text) => err.block(text) },
    env: machine.env,
  };
  return {
    process: stricliProcess,
    machine,
    out,
    err,
    interactive: isInputTerminal() && isTerminal,
    drawsProgress: isTerminal,
    readInput,
    stdout,
  };
}

async function dispatch(args: readonly string[], context: CliContext): Promise<void> {
  const [name = '', ...rest] = args;
  const load = findCommand(name);
  if (load !== null) return await runOne(`handover ${name}`, { target: await load(), args: rest, context });
  const asked = HELP.has(name) ? (rest[0] ?? '') : name;
  if (asked === '' || HELP.has(asked)) return await explainAll(context);
  const explained = findCommand(asked);
  if (explained === null) throw noSuchCommand(asked);
  await runOne(`handover ${asked}`, { target: await explained(), args: ['--help'], context });
}

const HELP: ReadonlySet<string> = new Set(['', 'help', '--help', '-h']);

function findCommand(name: string): (() => Promise<CliTarget>) | null {
  return (Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined) ?? null;
}

function noSuchCommand(name: string): HandoverError {
  return name.startsWith('-')
    ? new HandoverError('HANDOVER_USAGE', `"${name}" is not a command`, {
        hint: 'Flags come after the command. See the commands with: handover --help',
      })
    : new HandoverError('HANDOVER_USAGE', `there is no command "${name}"`, {
        hint: `The commands are: ${Object.keys(COMMANDS).join(', ')}. More: handover --help`,
      });
}

interface Call {
  target: CliTarget;
  args: readonly string[];
  context: CliContext;
}

/** Errors of commands are thrown on, so that one place reports them. */
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
        throw describeWrongWords(error);
      },
    },
  },
} as const;

function describeWrongWords(error: unknown): HandoverError {
  if (error instanceof HandoverError) return error;
  const message =
    error instanceof ArgumentScannerError ? formatMessageForArgumentScannerError(error, {}) : String(error);
  return new HandoverError('HANDOVER_USAGE', message, {
    hint: 'See the flags of a command with: handover COMMAND --help',
    cause: error,
  });
}

async function runOne(name: string, { target, args, context }: Call): Promise<void> {
  const settings = { name, ...configuration };
  const application =
    'loader' in target ? buildApplication(target, settings) : buildApplication(target, settings);
  await run(application, args, context);
}

async function explainAll(context: CliContext): Promise<void> {
  const { printOverview } = await import('./overview.ts');
  const commands = new Map<string, CliTarget>();
  for (const [name, load] of Object.entries(COMMANDS)) commands.set(name, await load());
  printOverview(context.out, commands);
}

/** The parser counts its own failures below zero: wrong words from the user, or a command that cannot be loaded. */
function toExitStatus(code: number | string | null | undefined): number {
  const status = Number(code ?? EXIT.done);
  if (status >= 0) return status;
  return status === -4 || status === -5 ? EXIT.usage : EXIT.bug;
}
