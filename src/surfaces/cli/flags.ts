import {
  type BaseArgs,
  buildCommand,
  type Command,
  type CommandFunction,
  type TypedCommandParameters,
} from '@stricli/core';
import { findStore, redactInput, withCatalog } from '../../app/context.ts';
import { HandoverError, usageError } from '../../errors.ts';
import { quoteInput } from '../../model/text.ts';
import { suggestOneOf } from '../../search/typos.ts';
import type { CatalogRow } from '../../store/catalog.ts';
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

export const MAX_PROPOSED = 200;

/** What a shell completes, by the placeholder of a value. */
const PROPOSED: Readonly<Record<string, (context: CliContext) => Promise<readonly string[]>>> = {
  agent: async () => (await import('../../agents/agent.ts')).AGENT_NAMES,
  id: (context) => listRows(context, (row) => row.id),
  project: (context) => listRows(context, (row) => row.project.name),
  session: listSessions,
};

async function listRows(context: CliContext, take: (row: CatalogRow) => string): Promise<string[]> {
  const { listByWork, takeRows } = await import('../../store/catalog.ts');
  return await withCatalog(context, findStore(context), async (catalog) => [
    ...new Set((await takeRows(listByWork(catalog, {}), MAX_PROPOSED)).map(take)),
  ]);
}

/** Those on this machine: a handover may be of none, or of one elsewhere. */
async function listSessions({ machine }: CliContext): Promise<string[]> {
  const { findSessions } = await import('../../agents/find-session.ts');
  return (await findSessions(machine)).slice(0, MAX_PROPOSED).map(({ id }) => id);
}

const proposing = (placeholder: string) => {
  const propose = Object.hasOwn(PROPOSED, placeholder) ? PROPOSED[placeholder] : undefined;
  return {
    placeholder,
    proposeCompletions(this: CliContext): readonly string[] | Promise<readonly string[]> {
      return propose?.(this) ?? [];
    },
  } as const;
};

/** A flag that takes a text and may be left out. */
export const text = (brief: string, placeholder = 'text') =>
  ({ kind: 'parsed', parse: asIs, optional: true, brief, ...proposing(placeholder) }) as const;

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

export const argument = (brief: string, placeholder: string) =>
  ({ parse: asIs, brief, ...proposing(placeholder) }) as const;

export const optionalArgument = (brief: string, placeholder: string) =>
  ({ parse: asIs, optional: true, brief, ...proposing(placeholder) }) as const;

export const tuple = <const P extends readonly unknown[]>(...parameters: P) => ({ kind: 'tuple', parameters }) as const;

export const repeated = (brief: string, placeholder: string) =>
  ({ kind: 'array', parameter: argument(brief, placeholder) }) as const;

/** The first argument of a command with several actions: one of their names. */
export const actionArgument = <const A extends string>(name: CommandName, actions: readonly A[]) =>
  ({
    parse: (input: string): A => {
      const action = actions.find((known) => known === input);
      if (action !== undefined) return action;
      throw usageError(`${name} has no action ${quoteInput(input)}`, suggestOneOf(input, actions));
    },
    brief: `What to do: ${actions.join(', ')}`,
    placeholder: 'action',
    proposeCompletions: (): readonly string[] => actions,
  }) as const;

const ID = 'An id, its start, its last four characters, or latest';
export const idFlag = text(ID, 'id');
/** For commands whose output leaves the machine. */
export const allProjectsFlag = toggle('Also look in other projects, without the whole id');
export const idPositional = tuple(optionalArgument(ID, 'id'));
export const folderPositional = tuple(optionalArgument('The project’s folder; default: this one', 'folder'));
export const resumedPositional = tuple(
  optionalArgument('A handover by its id, or a project by its folder; default: the newest of this folder', 'id'),
);
export const remoteFlag = text('Ask this PostgreSQL remote directly, without copying anything here', 'name');

export const terminalFlag = text('Only from sessions in this terminal', 'terminal');
export const agentsFlag = texts('Only this agent; may be repeated', 'agent');
export const mcpFlag = enabled('Also register the MCP server with the agents');
export const checkpointFlag = text(
  'The checkpoint file; default: .agent-handover/checkpoint.json of the project',
  'file',
);
export const modeFlag = (otherwise: string) => textOr(otherwise, 'A label for the session, such as build', 'label');

/** A flag of agent-handoff, declared so that the error can say what to do instead. */
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
