import { baseName } from '../model/paths.ts';
import { remember } from '../model/remember.ts';
import { type SimpleCommand, splitCommands } from './command-line.ts';

/** Programs that look around or move things: seeing that they ran tells nobody anything. */
const TRIVIAL = words(
  'ls cat cd grep rg head tail echo find wc pwd sed awk sleep mkdir rm cp mv true which sort tree touch chmod export source . for set test read shift trap unset local wait cut',
);
/** Verbs of PowerShell that do the same. */
const TRIVIAL_VERB =
  /^(?:Add|Clear|ConvertFrom|ConvertTo|Copy|ForEach|Format|Get|Join|Measure|Move|New|Out|Pop|Push|Read|Remove|Resolve|Select|Set|Sort|Split|Tee|Test|Where|Write)-/;
const SHELL_WORDS = words(
  'fi done do then else elif break continue pass esac case function select end EOF true exit return print import from with try except',
);
/** What stands before a command and leaves it one. */
const OPENINGS = words('do then else elif if while until ! { and or not begin');
const READING_GIT = words('status diff log add show branch stash checkout rev-parse');
/** Programs whose first argument says as little as they do: what they run is the next one. */
const RUNNERS = new Set(
  'npm run,pnpm run,yarn run,bun run,deno task,mise run,bundle exec,docker compose,pnpm exec,npm exec,php artisan,mise exec,yarn workspace'.split(
    ',',
  ),
);
/** Programs that only start another one, with those of their flags that take a value. */
const WRAPPERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['sudo', words('-u -g -C -h')],
  ['doas', words('-u')],
  ['time', words('-f -o')],
  ['timeout', words('-k -s')],
  ['env', words('-u -C')],
  ['nice', words('-n')],
  ['xargs', words('-n -I -P -L -d')],
  ['npx', words('-p --package')],
  ['nohup', words('')],
  ['bunx', words('')],
  ['uvx', words('--from --with')],
  ['command', words('')],
  ['exec', words('')],
  ['run', words('')],
  ['uv', words('--project --directory')],
  ['poetry', words('-C')],
]);
/** Flags with a value that stand between a program and what it is told to do. */
const LEADING_FLAGS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['git', words('-C -c')],
  ['make', words('-C -f')],
  ['mvn', words('-f')],
  ['go', words('-C')],
  ['kubectl', words('-n --namespace --context')],
  ['docker', words('--context')],
]);
/** What only reads on in a pipe what something else has written. */
const FILTERS = words('jq yq tee less more column uniq tr rev nl base64 xxd python python3 node ruby perl');
/** Flags that name a part of a project: what is done in it comes after. */
const PART_FLAGS = words('--filter -F --workspace -w --prefix --cwd -pl');
const SHELLS = words('bash sh zsh dash ksh fish pwsh powershell');

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** One simple command of a command line. */
export interface Segment {
  /** As it was typed, on one line, without what is set before it and where its output went. */
  text: string;
  /** The environment variables that were set for it. */
  environment: string[];
  /** What it is known by. */
  stem: string;
  /** What tells it from other uses of the same program: `npm run lint` is not `npm run build`. */
  use: string;
}

/**
 * What a command line is known by: program and first word-like argument of each simple command, as `npm test` or
 * `cargo build`. Text in quotes and here-documents does not count.
 */
export function findStems(command: string): string[] {
  return [...new Set(splitSegments(command).map((segment) => segment.stem))];
}

const MANY_COMMANDS = 1000;

/** The simple commands that mean something. A pipe is known by its head, or by the first that does more than read on. */
export const splitSegments: (command: string) => readonly Segment[] = remember(readSegments, MANY_COMMANDS);

function readSegments(command: string): Segment[] {
  const segments: Segment[] = [];
  const exported: string[] = [];
  let isTold = false;
  for (const { words: typed, piped } of unfold(splitCommands(command), 0)) {
    exported.push(...findExports(typed));
    if (!piped) isTold = false;
    const segment = isTold ? null : readSegment(typed, exported);
    if (segment === null || (piped && FILTERS.has(segment.stem.split(' ', 1)[0] ?? ''))) continue;
    segments.push(segment);
    isTold = true;
  }
  return segments;
}

function readSegment(typed: readonly string[], exported: readonly string[]): Segment | null {
  const { own, environment } = takeAssignments(typed);
  const tokens = unwrap(own);
  const stem = stemOf(tokens);
  const text = own.join(' ').replace(GIT_PLACE, 'git ');
  if (stem === null || SHELL_WORDS.has(stem.split(' ', 1)[0] ?? '') || SCRIPT.test(text)) return null;
  return {
    text,
    environment: [...new Set([...exported, ...environment])],
    stem,
    use: useOf(stem, tokens),
  };
}

/** Where git is told to work says as little as the `cd` before a command. */
const GIT_PLACE = /^git -C \S+ /;
/** An interpreter that was fed a script by hand: the script is gone, and its name alone tells nothing. */
const SCRIPT = /^[\w./]+(?: -)? <<\w+/;
const DEEPEST = 3;
const SUBSTITUTION = /^[A-Za-z_]\w*="?\$\((.*)\)"?$/s;
const COMMAND_FLAG = /^-(?:\w*c|command)$/i;

/** Commands that are only there to run what they are given as a text give way to it. */
function unfold(commands: readonly SimpleCommand[], depth: number): SimpleCommand[] {
  return commands.flatMap((command) => {
    const own = dropOpenings(command.words);
    const text = depth < DEEPEST ? findGiven(own) : null;
    return text === null ? [{ ...command, words: own }] : unfold(splitCommands(text), depth + 1);
  });
}

/** The text that a command is only there to run. */
function findGiven([program = '', flag = '', ...rest]: readonly string[]): string | null {
  const [text] = rest;
  if (SHELLS.has(programOf(program)) && COMMAND_FLAG.test(flag) && text !== undefined) return unquote(text);
  if (programOf(program) === 'cmd' && flag.toLowerCase() === '/c') return rest.join(' ');
  return flag === '' ? (SUBSTITUTION.exec(program)?.[1] ?? null) : null;
}

function dropOpenings(typed: readonly string[]): string[] {
  let start = 0;
  if (/^[\w-]+\(\)$/.test(typed[0] ?? '')) start = 1;
  else if (typed[0] === 'function') start = 2;
  while (OPENINGS.has(typed[start] ?? '')) start++;
  return typed.slice(start).filter((word) => word !== '}');
}

function unquote(word: string): string {
  return /^(["']).*\1$/s.test(word) ? word.slice(1, -1) : word;
}

/** A program by its name alone. */
function programOf(word: string): string {
  return baseName(unquote(word)).replace(/\.exe$/i, '');
}

const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=/;

function takeAssignments(typed: readonly string[]): { own: string[]; environment: string[] } {
  const environment: string[] = [];
  for (const word of typed) {
    const name = ASSIGNMENT.exec(word)?.[1];
    if (name === undefined) break;
    environment.push(name);
  }
  return { own: typed.slice(environment.length), environment };
}

const FISH_EXPORT = /^(?:-\w*x\w*|--export)$/;

/** The variables that a command sets for those after it, in any of the usual shells. */
function findExports([program = '', ...rest]: readonly string[]): string[] {
  const inPowerShell = /^\$env:(\w+)/i.exec(program)?.[1];
  if (inPowerShell !== undefined) return [inPowerShell];
  if (program === 'export') return rest.flatMap((word) => /^([A-Za-z_]\w*)(?:=|$)/.exec(word)?.[1] ?? []);
  if (program !== 'set') return [];
  const inFish = rest.some((word) => FISH_EXPORT.test(word))
    ? rest.find((word) => /^[A-Za-z_]\w*$/.test(word))
    : undefined;
  return [inFish ?? ASSIGNMENT.exec(rest[0] ?? '')?.[1]].filter((name) => name !== undefined);
}

/** The words of the program that is meant, without those that only start it. */
function unwrap(own: readonly string[]): string[] {
  let start = 0;
  for (;;) {
    const wrapper = programOf(own[start] ?? '');
    const flags = WRAPPERS.get(wrapper);
    if (flags === undefined) return own.slice(start);
    start = skipFlags(own, start + 1, flags);
    while (ASSIGNMENT.test(own[start] ?? '')) start++;
    if (wrapper === 'timeout') start++;
  }
}

/** The position of the first word that is neither a flag nor the value of one. */
function skipFlags(own: readonly string[], from: number, withValue: ReadonlySet<string>): number {
  let start = from;
  while (own[start]?.startsWith('-')) start += withValue.has(own[start] ?? '') ? 2 : 1;
  return start;
}

/** A task of Gradle may begin with a colon. */
const WORD_LIKE = /^:?[a-zA-Z][\w:-]*$/;

/** Programs are written small, but for the commands of PowerShell. */
const PROGRAM = /^(?:[a-z.][\w.-]*|[A-Z][a-z]+-[A-Z]\w*)$/;

function stemOf(tokens: readonly string[]): string | null {
  const [first, ...rest] = tokens;
  if (first === undefined) return null;
  const program = programOf(first);
  if (TRIVIAL.has(program) || TRIVIAL_VERB.test(program) || !PROGRAM.test(program)) return null;
  const argument = findArgument(program, rest);
  if (program === 'git' && argument !== undefined && READING_GIT.has(argument)) return null;
  return argument === undefined ? program : `${program} ${argument}`;
}

function findArgument(program: string, rest: readonly string[]): string | undefined {
  const flags = LEADING_FLAGS.get(program);
  const start = flags === undefined ? 0 : skipFlags(rest, 0, flags);
  return rest.slice(start, start + 2).find((token) => WORD_LIKE.test(token));
}

function useOf(stem: string, tokens: readonly string[]): string {
  const at = tokens.indexOf(stem.split(' ')[1] ?? '');
  if (at === -1 || !(RUNNERS.has(stem) || PART_FLAGS.has(tokens[at - 1] ?? ''))) return stem;
  const next = tokens.slice(at + 1).filter((token) => WORD_LIKE.test(token));
  return [stem, ...next.slice(0, stem === 'yarn workspace' ? 2 : 1)].join(' ');
}
