import {
  AliasNotFoundError,
  ArgumentParseError,
  type ArgumentScannerError,
  type Command,
  EnumValidationError,
  FlagNotFoundError,
  InvalidNegatedFlagSyntaxError,
  UnexpectedFlagError,
  UnexpectedPositionalError,
  UnsatisfiedFlagError,
  UnsatisfiedPositionalError,
} from '@stricli/core';
import { bold, dim, type Line } from '../../app/describe/styled-text.ts';
import { HandoverError, usageError } from '../../errors.ts';
import { quoteInput } from '../../model/text.ts';
import { suggestNames, suggestOneOf } from '../../search/typos.ts';
import { COMMAND_SUMMARIES, type CommandName, GROUPS } from './command-summaries.ts';
import { type CliTarget, COMMANDS } from './commands/table.ts';
import type { CliContext } from './context.ts';
import { DETAILS, EXAMPLES, QUESTIONS } from './help-texts.ts';
import { stampJson, wrap } from './output.ts';

type Term = { term: string; text: string };

/** A command as its help, the manual and the documentation show it. */
export interface CommandHelp {
  name: string;
  summary: string;
  /** Empty where the summary says it all. */
  details: string;
  usage: string[];
  parameters: Term[];
  flags: Term[];
  examples: { line: string; purpose: string }[];
}

export function describeCommand(name: CommandName, target: CliTarget): CommandHelp {
  const all = listCommands(`handover ${name}`, target);
  const only = all.length === 1 ? all[0]?.[1] : undefined;
  return {
    name,
    summary: COMMAND_SUMMARIES[name],
    details: DETAILS[name] ?? '',
    usage: all.map(([line, command]) => writeUsage(line, command)),
    parameters: only === undefined ? all.map(([line, { brief }]) => nameRoute(line, brief)) : listArguments(only),
    flags: mergeFlags(all.flatMap(([, command]) => listFlags(command))),
    examples: EXAMPLES[name].map(([line, purpose]) => ({ line, purpose })),
  };
}

function listCommands(line: string, target: CliTarget): [line: string, command: Command<CliContext>][] {
  if ('loader' in target) return [[line, target]];
  return target.getAllEntries().flatMap(({ name, target: part }) => listCommands(`${line} ${name.original}`, part));
}

function nameRoute(line: string, text: string): Term {
  return { term: line.split(' ').at(-1) ?? line, text };
}

function mergeFlags(flags: readonly Term[]): Term[] {
  return [...new Map(flags.map((flag) => [flag.term, flag])).values()];
}

function writeUsage(line: string, { parameters }: Command<CliContext>): string {
  const flags = Object.entries(parameters.flags ?? {}).filter(([, { hidden }]) => hidden !== true);
  const required = flags.filter(([, flag]) => flag.optional !== true && !('default' in flag));
  const isOptional = flags.length > required.length;
  return [
    line,
    ...required.map(([name, flag]) => nameFlag(name, flag)),
    ...(isOptional ? ['[FLAGS]'] : []),
    ...listPositionals(parameters).map(({ term }) => term),
  ].join(' ');
}

type Parameters = Command<CliContext>['parameters'];
type Flag = NonNullable<Parameters['flags']>[string];

function listPositionals({ positional }: Parameters): Term[] {
  if (positional === undefined) return [];
  if (positional.kind === 'array') {
    const { placeholder, brief } = positional.parameter;
    return [{ term: `[${(placeholder ?? 'word').toUpperCase()}...]`, text: brief }];
  }
  return positional.parameters.map(({ placeholder, brief, optional }) => {
    const term = (placeholder ?? 'word').toUpperCase();
    return { term: optional === true ? `[${term}]` : term, text: brief };
  });
}

function listArguments({ parameters }: Command<CliContext>): Term[] {
  return listPositionals(parameters).map(({ term, text }) => ({ term: term.replace(/[[\].]/g, ''), text }));
}

function listFlags({ parameters }: Command<CliContext>): Term[] {
  const aliases = Object.entries(parameters.aliases ?? {});
  return Object.entries(parameters.flags ?? {})
    .filter(([, { hidden }]) => hidden !== true)
    .map(([name, flag]) => {
      const short = aliases.filter(([, long]) => long === name).map(([letter]) => `-${letter}, `);
      return {
        term: `${short.join('')}${nameFlag(name, flag)}`,
        text: `${flag.brief}${listValues(flag)}${nameDefault(flag)}`,
      };
    });
}

function nameFlag(name: string, flag: Flag): string {
  const long = toKebab(name);
  if (flag.kind === 'boolean') return flag.default === true ? `--${long}, --no-${long}` : `--${long}`;
  if (flag.kind === 'counter') return `--${long}`;
  const value = flag.kind === 'enum' ? nameValues(flag.values) : (flag.placeholder ?? 'text').toUpperCase();
  return `--${long} ${value}${'variadic' in flag && flag.variadic !== false && flag.variadic !== undefined ? '...' : ''}`;
}

const MAX_VALUES = 16;

function nameValues(values: readonly string[]): string {
  const all = values.join('|');
  return all.length > MAX_VALUES ? 'NAME' : all;
}

/** The values that its name has no room for. */
function listValues(flag: Flag): string {
  return flag.kind === 'enum' && nameValues(flag.values) === 'NAME' ? `: ${flag.values.join(', ')}` : '';
}

function nameDefault(flag: Flag): string {
  if (flag.kind === 'boolean') return flag.default === true ? ' (on unless negated)' : '';
  return 'default' in flag && typeof flag.default === 'string' ? ` (${flag.default})` : '';
}

function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The help of a command, in lines that fit the width. */
export function writeHelp(help: CommandHelp, width: number): Line[] {
  const section = (title: string, terms: readonly Term[]): Line[] =>
    terms.length === 0 ? [] : [[], [bold(title)], ...writeTerms(terms, width)];
  return [
    ...[help.summary, ...(help.details === '' ? [] : ['', help.details])]
      .flatMap((text) => wrap(text, width, 0))
      .map((line) => [line]),
    [],
    [bold('Usage')],
    ...help.usage.flatMap((line) => wrap(line, width, 2).map((part) => [part])),
    ...section(help.usage.length === 1 ? 'Arguments' : 'Commands', help.parameters),
    ...section('Flags', help.flags),
    [],
    [bold('Examples')],
    ...help.examples.flatMap(({ line, purpose }): Line[] => [
      ...wrapCommand(line, width).map((part) => [part]),
      ...wrap(purpose, width, 6).map((part) => [dim(part)]),
    ]),
  ];
}

const MAX_TERM = 26;

/** In two columns where there is room, else each text below its term. */
export function writeTerms(terms: readonly Term[], width: number): Line[] {
  const longest = Math.max(...terms.map(({ term }) => term.length).filter((length) => length <= MAX_TERM), 0);
  const isNarrow = width < 60;
  const indent = isNarrow ? 6 : longest + 4;
  return terms.flatMap(({ term, text }): Line[] => {
    const lines = wrap(text, width, indent);
    if (isNarrow || term.length > longest) return [...wrap(term, width, 2), ...lines].map((line) => [line]);
    const [first = '', ...rest] = lines;
    return [[`  ${term.padEnd(longest + 2)}${first.trimStart()}`], ...rest.map((line) => [line])];
  });
}

/** A command that is longer than a line still runs when it is copied. */
function wrapCommand(line: string, width: number): string[] {
  const [first = '', ...rest] = wrap(line, width - 4, 2);
  const lines = [first, ...rest.map((part) => `  ${part}`)];
  return lines.map((part, at) => (at === lines.length - 1 ? part : `${part} \\`));
}

/** `help`, `help COMMAND`, and `help --all`, which is also there as JSON. */
export async function printHelp(context: CliContext, words: readonly string[]): Promise<void> {
  const { out, width } = context;
  const [name] = words.filter((word) => !word.startsWith('-'));
  const known = listNames().find((each) => each === name);
  if (words.includes('--json')) return stampJson(out, 'help/1').json(await describeAll(known));
  if (known !== undefined) return out.lines(writeHelp(describeCommand(known, await COMMANDS[known]()), width));
  if (name !== undefined) throw unknownCommandError(name);
  out.lines(words.includes('--all') ? writeAll(width) : writeEveryday(width));
}

async function describeAll(only: CommandName | undefined): Promise<CommandHelp[]> {
  const names = only === undefined ? GROUPS.flatMap(({ names: group }) => group) : [only];
  return await Promise.all(names.map(async (name) => describeCommand(name, await COMMANDS[name]())));
}

export function listNames(): CommandName[] {
  return GROUPS.flatMap(({ names }) => names);
}

const LEAD = 'Carries the work of an AI coding session over to the next one.';
const MORE = [
  { term: 'handover help COMMAND', text: 'what a command does, with examples' },
  { term: 'handover help --all', text: `all ${listNames().length} commands` },
];

function writeLead(width: number): Line[] {
  return wrap(LEAD, width, 0).map((line) => [line]);
}

function writeEveryday(width: number): Line[] {
  return [...writeLead(width), [], ...writeQuestions(width), [], ...writeTerms(MORE, width)];
}

/** The commands of every day, by what a person asks. */
export function writeQuestions(width: number, questions = QUESTIONS): Line[] {
  return writeTerms(
    questions.map(([question, line]) => ({ term: question, text: line })),
    width,
  );
}

function writeAll(width: number): Line[] {
  const groups = GROUPS.flatMap(({ title, names }): Line[] => [
    [],
    [bold(title)],
    ...writeTerms(
      names.map((name) => ({ term: name.padEnd(11), text: COMMAND_SUMMARIES[name] })),
      width,
    ),
  ]);
  return [
    ...writeLead(width),
    [],
    ['usage: handover COMMAND [FLAGS]'],
    ...groups,
    [],
    ...writeTerms(MORE.slice(0, 1), width),
  ];
}

/** What people type who know other tools. */
const OTHER_WORDS: readonly { words: readonly string[]; commands: readonly string[] }[] = [
  { words: ['install', 'setup', 'config'], commands: ['init'] },
  { words: ['uninstall'], commands: ['init --remove'] },
  { words: ['log', 'history', 'yesterday', 'today'], commands: ['timeline', 'list'] },
  { words: ['ls'], commands: ['list', 'sessions'] },
  { words: ['find', 'grep', 'ask'], commands: ['search'] },
  { words: ['blame', 'decisions'], commands: ['why', 'search'] },
  { words: ['note', 'add', 'remember', 'write'], commands: ['save'] },
  { words: ['continue', 'brief', 'context', 'last'], commands: ['resume', 'to'] },
  { words: ['start', 'open', 'launch', 'switch'], commands: ['to', 'resume'] },
  { words: ['delete', 'remove', 'rm', 'purge'], commands: ['forget'] },
  { words: ['pull', 'fetch', 'share'], commands: ['sync', 'import'] },
  { words: ['pick', 'choose'], commands: ['select'] },
  { words: ['copy'], commands: ['render --copy'] },
  { words: ['stats', 'ui', 'dashboard', 'web'], commands: ['report'] },
];

export function unknownCommandError(name: string): Error {
  if (name.startsWith('-'))
    return usageError(`"${name}" is not a command`, 'Flags come after the command. See the commands: handover help');
  const meant = OTHER_WORDS.find(({ words }) => words.includes(name.toLowerCase()))?.commands;
  const near = meant ?? suggestNames(name, listNames());
  const guess = near.length === 0 ? '' : `Did you mean: ${near.map((each) => `handover ${each}`).join(', or ')}? `;
  return usageError(`there is no command "${name}"`, `${guess}All commands: handover help --all`);
}

/** What is wrong with the arguments of a command, and what it takes. */
export function argumentError(error: ArgumentScannerError, name: CommandName, target: CliTarget): HandoverError {
  if (error instanceof ArgumentParseError && error.exception instanceof HandoverError) return error.exception;
  const [message, hint = ''] = describeMistake(error, name, target);
  return new HandoverError('HANDOVER_USAGE', message, { hint: `${hint}See: handover ${name} --help`, cause: error });
}

function describeMistake(
  error: ArgumentScannerError,
  name: CommandName,
  target: CliTarget,
): [message: string, hint?: string] {
  if (error instanceof FlagNotFoundError) {
    const flags = 'loader' in target ? Object.keys(target.parameters.flags ?? {}).map(toKebab) : [];
    const begun = flags.filter((flag) => error.input.startsWith(flag) || flag.startsWith(error.input));
    // In a flag of few letters, any other is near.
    const typos = error.input.length < 4 ? [] : error.corrections.filter(([first]) => first === error.input[0]);
    const near = [...new Set([...begun, ...typos.map(toKebab)])].map((flag) => `--${flag}`);
    if (error.input === 'all' && (name === 'list' || name === 'sessions'))
      return [`${name} has no flag --all`, 'It lists those of all projects; without a limit: --limit 0. '];
    return [`${name} has no flag --${error.input}`, near.length === 0 ? '' : `Did you mean ${near.join(' or ')}? `];
  }
  if (error instanceof AliasNotFoundError) return [`${name} has no flag -${error.input}`];
  if (error instanceof EnumValidationError)
    return [
      `--${error.externalFlagName} cannot be ${quoteInput(error.input)}`,
      `${suggestOneOf(error.input, error.values)} `,
    ];
  if (error instanceof UnsatisfiedFlagError) return [`a value for --${error.externalFlagName} is missing`];
  if (error instanceof UnexpectedFlagError) return [`--${error.externalFlagName} can be given only once`];
  if (error instanceof InvalidNegatedFlagSyntaxError) return [`--${error.externalFlagName} takes no value`];
  if (error instanceof ArgumentParseError)
    return [`${quoteInput(error.input)} is not a value of --${error.externalFlagNameOrPlaceholder}`];
  if (error instanceof UnexpectedPositionalError) {
    const taken = ['no arguments', 'one argument', 'two arguments'][error.expectedCount];
    const hint = error.expectedCount === 0 ? '' : 'Put words that belong together in quotes. ';
    return [`${name} takes ${taken}; ${quoteInput(error.input)} is too many`, hint];
  }
  if (error instanceof UnsatisfiedPositionalError) {
    const term = error.placeholder.toUpperCase();
    const terms = 'loader' in target ? listArguments(target) : [];
    const text = terms.find((each) => each.term === term)?.text;
    return [`${name} needs ${/^[AEIOU]/.test(term) ? 'an' : 'a'} ${term}`, text === undefined ? '' : `${text}. `];
  }
  return [error.message];
}
