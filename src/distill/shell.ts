import { baseName } from '../model/paths.ts';
import { remember, type SimpleCommand, splitCommands } from './command-line.ts';
import { isFileName, locatePath, type Removal } from './touched-files.ts';

/** Programs that look around or move things: that they ran is worth no fact. */
const TRIVIAL = words(
  'ls cat cd grep rg head tail echo find wc pwd sed awk sleep mkdir rm cp mv true which sort tree touch chmod export source . for set test read shift trap unset local wait cut mktemp printf du kill pkill killall ps pgrep lsof nc ss netstat',
);
/** The same for PowerShell, by verb. */
const TRIVIAL_VERB =
  /^(?:Add|Clear|ConvertFrom|ConvertTo|Copy|ForEach|Format|Get|Join|Measure|Move|New|Out|Pop|Push|Read|Remove|Resolve|Select|Set|Sort|Split|Tee|Test|Where|Write)-/;
const SHELL_WORDS = words(
  'fi done do then else elif break continue pass esac case function select end EOF true exit return print import from with try except',
);
/** Keywords that stand before a command. */
const OPENINGS = words('do then else elif if while until ! { and or not begin');
const READING_GIT = words('status diff log add show branch stash checkout rev-parse');
/** Stems that only run the next argument. */
const RUNNERS =
  /^(?:(?:npm|pnpm|yarn|bun|mise|turbo|nx) run|(?:npm|pnpm|mise|bundle) exec|deno task|docker compose|php artisan|yarn workspace)$/;
/** Programs that only start another one, with their flags that take a value. */
const WRAPPERS = flagsByProgram(
  'sudo -u -g -C -h, doas -u, time -f -o, timeout -k -s, env -u -C, nice -n, xargs -n -I -P -L -d, npx -p --package, nohup, bunx, uvx --from --with, command, exec, run, uv --project --directory, poetry -C',
);
/** Of these only some subcommands start another program: others change what the project depends on. */
const MANAGERS = words('uv poetry');
const STARTED_BY_MANAGERS = words('run pip');
/** Flags with a value that stand between a program and its subcommand. */
const LEADING_FLAGS = flagsByProgram(
  'git -C -c, make -C -f, mvn -f, go -C, kubectl -n --namespace --context, docker --context',
);
/** Programs that in a pipe only process the output of another one. */
const FILTERS = words('jq yq tee less more column uniq tr rev nl base64 xxd python python3 node ruby perl');
/** Flags that name a part of a project: the subcommand comes after. */
const PART_FLAGS = words('--filter -F --workspace -w --prefix --cwd -pl');
const SHELLS = words('bash sh zsh dash ksh fish pwsh powershell');

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

function flagsByProgram(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    text.split(', ').map((entry) => {
      const [program = '', ...flags] = entry.split(' ');
      return [program, new Set(flags)];
    }),
  );
}

export interface Segment {
  /** As typed, on one line, without assignments and redirections. */
  text: string;
  environment: string[];
  /** Program and first word-like argument, as `npm test`. */
  stem: string;
  /** The stem, or more where that alone means little: `npm run lint` is not `npm run build`. */
  use: string;
  /** Whether it runs only if the command before it fails. */
  afterFailure: boolean;
  /** Whether its exit status is not part of that of the line: a pipe, `;`, `||` or a condition drops it. */
  isHidden: boolean;
  /** Its words without what only starts it: `uv run python -m pytest x` is `pytest x`, `npm run test` is `npm test`. */
  words: string[];
  /** Variables that it is given, with their values. */
  assigned: string[];
  /** The folder that the line goes to before it, as typed. */
  folder: string | null;
}

/** The stems of a command line, each once. Text in quotes and here-documents does not count. */
export function findStems(command: string): string[] {
  return [...new Set(splitSegments(command).map((segment) => segment.stem))];
}

/** The segments of a command line. A pipe is known by its first command that is neither trivial nor a filter. */
export const splitSegments: (command: string) => readonly Segment[] = remember(readSegments);

function readSegments(command: string): Segment[] {
  const segments: Segment[] = [];
  const exported: string[] = [];
  let isKnown = false;
  let folder: string | null = null;
  const commands = unfold(splitCommands(command), 0);
  for (const [at, { words: typed, piped, afterFailure }] of commands.entries()) {
    exported.push(...findExports(typed));
    if (CHANGING_FOLDER.has(typed[0] ?? '') && typed[1] !== undefined) folder = locatePath(unquote(typed[1]), folder);
    if (!piped) isKnown = false;
    const segment = isKnown ? null : readSegment(typed, exported);
    if (segment === null || (piped && FILTERS.has(segment.stem.split(' ', 1)[0] ?? ''))) continue;
    const place = GIT_FOLDER.exec(typed.join(' '))?.[1];
    segments.push({
      ...segment,
      afterFailure,
      isHidden: isHidden(commands, at),
      folder: place === undefined ? folder : locatePath(unquote(place), folder),
    });
    isKnown = true;
  }
  return segments;
}

const CHANGING_FOLDER = words('cd pushd chdir Set-Location');
/** A git folder given as `DIR/.git` is that of `DIR`. */
const GIT_FOLDER = /^git (?:-c \S+ )*(?:-C |--git-dir[= ])(\S+?)(?:\/\.git)? /;

function isHidden(commands: readonly SimpleCommand[], at: number): boolean {
  const modes = commands.slice(0, at).filter(({ words: [program] }) => program === 'set');
  const stops = modes.some(({ words: [, flag = ''] }) => /^-\w*e/.test(flag));
  const first = commands[at]?.operator;
  if (first === '||' || (first === '|' && !modes.some(({ words: own }) => own.includes('pipefail')))) return true;
  return commands
    .slice(at)
    .some(({ operator }, index, rest) =>
      operator === '&' || index === rest.length - 1
        ? operator === '&'
        : operator === '||' || (operator === ';' && !stops),
    );
}

function readSegment(
  typed: readonly string[],
  exported: readonly string[],
): Omit<Segment, 'afterFailure' | 'isHidden' | 'folder'> | null {
  const first = typed.findIndex((word) => !ASSIGNMENT.test(word));
  const own = first === -1 ? [] : typed.slice(first);
  const assigned = typed.slice(0, typed.length - own.length);
  const tokens = unwrap(own);
  const stem = stemOf(tokens);
  const text = own.join(' ').replace(GIT_PLACE, 'git ');
  if (stem === null || SHELL_WORDS.has(stem.split(' ', 1)[0] ?? '') || SCRIPT.test(text)) return null;
  const environment = [...new Set([...exported, ...assigned.map((word) => word.replace(/\+?=.*$/s, ''))])];
  return { text, environment, stem, use: useOf(stem, tokens), words: dropRunner(tokens), assigned };
}

const GIT_PLACE = /^git -C \S+ /;
/** An interpreter that reads a script from a here-document: its name alone says nothing. */
const SCRIPT = /^[\w./]+(?: -)? <<\w+/;
const DEEPEST = 3;
const SUBSTITUTION = /^[A-Za-z_]\w*="?\$\((.*)\)"?$/s;
const COMMAND_FLAG = /^-(?:\w*c|command)$/i;

/** Replaces `sh -c TEXT` and the like by the commands in the text. */
function unfold(commands: readonly SimpleCommand[], depth: number): SimpleCommand[] {
  return commands.flatMap((command) => {
    const own = dropOpenings(command.words);
    const text = depth < DEEPEST ? findScript(own) : null;
    const operator = CONDITIONS.has(command.words[0] ?? '') ? '||' : command.operator;
    if (text === null) return [{ ...command, words: own, operator }];
    const inner = unfold(splitCommands(text), depth + 1);
    return inner.map((part, at) => (at === inner.length - 1 ? { ...part, operator } : part));
  });
}

const CONDITIONS = words('if elif while until ! not');
const INTERPRETER = /^(?:python[\d.]*|py)$/;

function dropRunner(tokens: readonly string[]): string[] {
  const [program = '', flag, ...rest] = tokens;
  if (INTERPRETER.test(programOf(program)) && flag === '-m') return rest;
  if (flag === 'exec' && RUNNERS.test(`${program} exec`)) return rest.filter((word, at) => at > 0 || word !== '--');
  if (flag === 'run' && /^(?:npm|pnpm|yarn)$/.test(program)) return [program, ...rest];
  return [programOf(program), ...tokens.slice(1)];
}

/** The text that a command only runs. */
function findScript([program = '', flag = '', ...rest]: readonly string[]): string | null {
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

function programOf(word: string): string {
  return baseName(unquote(word)).replace(/\.exe$/i, '');
}

const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=/;

const FISH_EXPORT = /^(?:-\w*x\w*|--export)$/;

/** The variables that a command sets for those after it, in POSIX shells, fish, PowerShell and cmd.exe. */
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

/** Without the wrappers that only start the program. */
function unwrap(own: readonly string[]): string[] {
  let start = 0;
  for (;;) {
    const wrapper = programOf(own[start] ?? '');
    const flags = WRAPPERS.get(wrapper);
    if (flags === undefined) return own.slice(start);
    const next = skipFlags(own, start + 1, flags);
    if (MANAGERS.has(wrapper) && !STARTED_BY_MANAGERS.has(own[next] ?? '')) return own.slice(start);
    start = next;
    while (ASSIGNMENT.test(own[start] ?? '')) start++;
    if (wrapper === 'timeout') start++;
  }
}

/** The position of the first word that is neither a flag nor the value of one. Without `withValue` no flags are expected. */
function skipFlags(own: readonly string[], from: number, withValue?: ReadonlySet<string>): number {
  let start = from;
  while (withValue !== undefined && own[start]?.startsWith('-')) start += withValue.has(own[start] ?? '') ? 2 : 1;
  return start;
}

/** Tasks of Gradle may begin with a colon. */
const WORD_LIKE = /^:?[a-zA-Z][\w:-]*$/;
/** The name of a package, a folder or a pattern for them. */
const PART = /^["']?[@.:]?[\w./*][\w./*:-]*["']?$/;
/** Programs are in lower case, but for the commands of PowerShell. */
const PROGRAM = /^(?:[a-z.][\w.-]*|[A-Z][a-z]+-[A-Z]\w*)$/;

function stemOf(tokens: readonly string[]): string | null {
  const [first, ...rest] = tokens;
  if (first === undefined) return null;
  const program = programOf(first);
  if (TRIVIAL.has(program) || TRIVIAL_VERB.test(program) || !PROGRAM.test(program)) return null;
  const start = skipFlags(rest, 0, LEADING_FLAGS.get(program));
  const isPart = (at: number): boolean => at === 1 && PART_FLAGS.has(rest[start] ?? '');
  const argument = rest.slice(start, start + 2).find((token, at) => (isPart(at) ? PART : WORD_LIKE).test(token));
  if (program === 'git' && argument !== undefined && READING_GIT.has(argument)) return null;
  return argument === undefined ? program : `${program} ${argument}`;
}

function useOf(stem: string, tokens: readonly string[]): string {
  const at = tokens.indexOf(stem.split(' ')[1] ?? '');
  if (at === -1 || !(RUNNERS.test(stem) || PART_FLAGS.has(tokens[at - 1] ?? ''))) return stem;
  const next = tokens.slice(at + 1).filter((token) => WORD_LIKE.test(token) && token !== 'run');
  return [stem, ...next.slice(0, stem === 'yarn workspace' ? 2 : 1)].join(' ');
}

const SHOWING = words('cat bat nl less more head tail sed type Get-Content gc');

/** The files that a command line shows, as it names them. */
export function findShownFiles(command: string): string[] {
  return splitCommands(command).flatMap(({ words: [program = '', ...rest] }) => {
    if (!SHOWING.has(program) || rest.some((word) => word.startsWith('<<'))) return [];
    if (program === 'sed' && rest[0] !== '-n') return [];
    return rest.map(unquote).filter((word) => !word.startsWith('-') && isFileName(baseName(word)));
  });
}

const REMOVING = words('rm unlink trash del erase Remove-Item ri');
const MOVING = words('mv move Move-Item mi');
const RESTORING = words('restore checkout reset stash clean');

/** What a command line removes, moves and restores if it succeeds. */
export function findRemovals(command: string, cwd: string | null): Removal[] {
  if (!/\b(?:rm|mv|unlink|trash|del|erase|move|ri|mi|restore|checkout|reset|stash|clean)\b|-Item\b/.test(command))
    return [];
  let folder = cwd;
  return splitCommands(command).flatMap(({ words: typed, afterFailure }) => {
    const [program = '', ...rest] = typed[0] === 'sudo' ? typed.slice(1) : typed;
    if (program === 'cd' && rest[0] !== undefined) folder = locatePath(unquote(rest[0]), folder);
    return afterFailure ? [] : readRemoval(program, rest, folder);
  });
}

function readRemoval(program: string, rest: readonly string[], folder: string | null): Removal[] {
  const isGit = program === 'git';
  const [verb = '', ...own] = isGit ? rest : [program, ...rest];
  const flags = own.filter((word) => word.startsWith('-'));
  const paths = own.filter((word) => !word.startsWith('-') && !word.includes('$')).map(unquote);
  const at = (path: string): string => locatePath(path, folder);
  if (REMOVING.has(verb)) {
    if (flags.includes('--cached')) return [];
    const forced = flags.some((flag) => /^-\w*f|^--force$|^-Force$/.test(flag)) && !isGit;
    return paths.map((path) => ({ path: at(path), to: null, forced, git: null }));
  }
  if (MOVING.has(verb) && paths.length >= 2) {
    const target = paths.at(-1) ?? '';
    const intoFolder = paths.length > 2 || /[\\/]$/.test(target) || !baseName(target).includes('.');
    const place = (path: string): string =>
      at(intoFolder ? `${target.replace(/[\\/]$/, '')}/${baseName(path)}` : target);
    return paths.slice(0, -1).map((path) => ({ path: at(path), to: place(path), forced: false, git: null }));
  }
  if (!isGit || !RESTORING.has(verb)) return [];
  const git = findRestoring(verb, own);
  if (git === null) return [];
  const whole = verb === 'restore' || verb === 'checkout' ? [] : ['.'];
  return (whole.length > 0 ? whole : paths).map((path) => ({ path: at(path), to: null, forced: true, git }));
}

function findRestoring(verb: string, own: readonly string[]): Removal['git'] {
  const [first = 'push'] = own;
  if (verb === 'reset') return own.includes('--hard') ? 'restored' : null;
  if (verb === 'clean') return own.some((word) => /^-\w*f/.test(word)) && !own.includes('-n') ? 'cleaned' : null;
  if (verb === 'stash' && /^(?:pop|apply)$/.test(first)) return 'brought back';
  if (verb === 'stash') return /^(?:push|save|-\w+|--\w.*)$/.test(first) && !own.includes('--') ? 'restored' : null;
  return own.includes('--staged') && !own.includes('--worktree') ? null : 'restored';
}
