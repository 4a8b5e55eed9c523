import {
  type BaseArgs,
  buildCommand,
  type Command,
  type CommandFunction,
  type TypedCommandParameters,
} from '@stricli/core';
import { redactInput } from '../../app/context.ts';
import { usageError } from '../../app/failure.ts';
import { HandoverError } from '../../errors.ts';
import { COMMAND_SUMMARIES, type CommandName } from './command-summaries.ts';
import type { CliContext } from './context.ts';

export function command<const F extends Readonly<Partial<Record<keyof F, unknown>>>, const A extends BaseArgs>(
  name: CommandName,
  func: CommandFunction<F, A, CliContext>,
  parameters: NoInfer<TypedCommandParameters<F, A, CliContext>>,
): Command<CliContext> {
  return buildCommand<F, A, CliContext>({ func, parameters, docs: { brief: COMMAND_SUMMARIES[name] } });
}

const asIs = (input: string): string => input;

/** A flag that takes a text and may be left out. */
export const text = (brief: string, placeholder = 'text') =>
  ({ kind: 'parsed', parse: asIs, optional: true, brief, placeholder }) as const;

/** The same, given any number of times. */
export const texts = (brief: string, placeholder = 'text') =>
  ({ ...text(brief, placeholder), variadic: true }) as const;

export const textOr = (otherwise: string, brief: string, placeholder = 'text') =>
  ({ kind: 'parsed', parse: asIs, default: otherwise, brief, placeholder }) as const;

/** The same as `text`, for what is shown again or handed on: secrets are taken out first. */
export const redactedText = (brief: string, placeholder = 'text') =>
  ({ ...text(brief, placeholder), parse: redactText }) as const;

function redactText(this: CliContext, input: string): Promise<string> {
  return redactInput(this, input);
}

export const toggle = (brief: string) => ({ kind: 'boolean', default: false, withNegated: false, brief }) as const;

/** On unless it is negated: `--no-files`. */
export const enabled = (brief: string) => ({ kind: 'boolean', default: true, brief }) as const;

export const choice = <const V extends string>(values: readonly V[], otherwise: V, brief: string) =>
  ({ kind: 'enum', values, default: otherwise, brief }) as const;

export const json = toggle('Print JSON');
export const dryRun = toggle('Show what would be done, change nothing');

export type FlagValues<F> = {
  -readonly [K in keyof F as F[K] extends { optional: true } ? never : K]: FlagValue<F[K]>;
} & { -readonly [K in keyof F as F[K] extends { optional: true } ? K : never]?: FlagValue<F[K]> };

type FlagValue<F> = F extends { kind: 'boolean' }
  ? boolean
  : F extends { kind: 'enum'; values: readonly (infer V)[] }
    ? V
    : F extends { variadic: true | string }
      ? readonly string[]
      : string;

export const argument = (brief: string, placeholder: string) => ({ parse: asIs, brief, placeholder }) as const;

export const optionalArgument = (brief: string, placeholder: string) =>
  ({ parse: asIs, optional: true, brief, placeholder }) as const;

export const tuple = <const P extends readonly unknown[]>(...parameters: P) => ({ kind: 'tuple', parameters }) as const;

export const repeated = (brief: string, placeholder: string) =>
  ({ kind: 'array', parameter: argument(brief, placeholder) }) as const;

const ID = 'An id, the start of one, or latest';
export const idFlag = text(ID, 'id');
export const idPositional = tuple(optionalArgument(ID, 'id'));
export const folderPositional = tuple(optionalArgument('The project’s folder; default: this one', 'folder'));
export const terminalFlag = text('Only from sessions in this terminal', 'id');
export const agentsFlag = texts('Only this agent; may be repeated', 'name');
export const mcpFlag = enabled('Also register the MCP server with the agents');
export const checkpointFlag = text(
  'The checkpoint file; default: .agent-handover/checkpoint.json of the project',
  'file',
);
export const modeFlag = (otherwise: string) => textOr(otherwise, 'A label for the session, such as build', 'label');

/** agent-handoff took it. It is declared so that whoever still gives it hears what to do instead. */
export const apiKeyFlag = { ...text('Not accepted: other users could see it'), hidden: true } as const;

export function conflictError(a: string, b: string): HandoverError {
  return usageError(`${a} and ${b} cannot be used together`, 'Leave one of them out.');
}

const MAX_INPUT_BYTES = 2 * 1024 * 1024;

/** All of standard input, for a flag that was given as `-`. */
export function readInputText(context: CliContext, hint: string, maxBytes = MAX_INPUT_BYTES): string {
  const input = context.readInput(maxBytes);
  if (input !== null) return input;
  throw new HandoverError('HANDOVER_TEXT_TOO_LARGE', `standard input has more than ${maxBytes} bytes`, { hint });
}
