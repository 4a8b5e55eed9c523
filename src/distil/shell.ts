import { baseName } from '../model/base-name.ts';
import { findPaths } from './names.ts';

/** Programs that look around or move things: seeing that they ran tells nobody anything. */
const TRIVIAL = words(
  'ls cat cd grep rg head tail echo find wc pwd sed awk sleep mkdir rm cp mv true which sort tree touch chmod export source for if while set test',
);
/** Programs that only start another one. */
const WRAPPERS = words('sudo time timeout env nohup npx bunx uv run poetry');
const SHELL_WORDS = words(
  'fi done do then else elif break continue pass esac EOF true exit return print import from with try except',
);
const READING_GIT = words('status diff log add show branch stash checkout rev-parse');
/** Programs whose first argument says as little as they do: what they run is the next one. */
const RUNNERS = new Set(
  'npm run,pnpm run,yarn run,bun run,deno task,mise run,bundle exec,docker compose,pnpm exec,npm exec,php artisan,mise exec'.split(
    ',',
  ),
);

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
  return [...new Set(splitBlanked(blankQuoted(command)).flatMap((part) => stemOf(tokenise(part)) ?? []))];
}

/** The simple commands that mean something. */
export function splitSegments(command: string): Segment[] {
  const flat = foldQuotedLines(dropHereDocuments(inlineMessages(command)).replace(/\\\n/g, ' '));
  return splitSimple(flat).flatMap((part) => {
    const { text, environment } = tidy(part);
    if (SCRIPT.test(text)) return [];
    const tokens = tokenise(blankQuoted(text));
    const stem = stemOf(tokens);
    if (
      stem === null ||
      SHELL_WORDS.has(stem.split(' ')[0] ?? '') ||
      !/^[a-z.]|^[A-Z][a-z]+-[A-Z]/.test(stem)
    )
      return [];
    return [{ text, environment, stem, use: useOf(stem, tokens) }];
  });
}

/** An interpreter that was fed a script by hand: the script is gone, and its name alone tells nothing. */
const SCRIPT = /^[\w./]+(?: -)? <<\w+/;
const ASSIGNMENT = /^([A-Za-z_]\w*)=(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']\S*|)(?:\s+|$)/;
const SUBSTITUTION = /^[A-Za-z_]\w*=\$\((.*)\)$/;
const OPENING = /^(?:[({!]|do|then|else)\s+/;
const REDIRECTION = /\s+(?:\d?>&\d|&>>?\s*\S+|\d?>>?\s*\S+|&|\\)$/;

/** The command itself: what was set for it apart, redirections and shell words gone. */
function tidy(part: string): { text: string; environment: string[] } {
  const environment: string[] = [];
  let text = part.replace(/\s+/g, ' ').trim();
  const substituted = SUBSTITUTION.exec(text)?.[1];
  if (substituted !== undefined) return tidy(substituted);
  for (let opening = OPENING.exec(text); opening !== null; opening = OPENING.exec(text))
    text = text.slice(opening[0].length);
  for (let set = ASSIGNMENT.exec(text); set !== null; set = ASSIGNMENT.exec(text)) {
    const [whole, name = ''] = set;
    environment.push(name);
    text = text.slice(whole.length);
  }
  while (REDIRECTION.test(text)) text = text.replace(REDIRECTION, '');
  return { text: text.trim(), environment };
}

const SHOWING = /^(?:cat|bat|nl|less|more|head|tail|sed -n|type|Get-Content|gc)\s/;

/** The files that a command shows, as it names them. */
export function findShownFiles(command: string): string[] {
  const parts = command.slice(0, MAX_SCANNED).split(/&&|\|\||;|\||\n/);
  return parts
    .map((part) => part.trim())
    .flatMap((part) => (SHOWING.test(part) && !/<<|>/.test(part) ? findPaths(part) : []));
}

function tokenise(part: string): string[] {
  const tokens = part
    .trim()
    .split(/\s+/)
    .filter((token) => token !== '' && !/^\w+=/.test(token));
  let start = 0;
  while (WRAPPERS.has(tokens[start] ?? '')) start += tokens[start] === 'timeout' && tokens.length > 1 ? 2 : 1;
  return tokens.slice(start);
}

const WORD_LIKE = /^[a-zA-Z][\w:-]*$/;

function stemOf(tokens: readonly string[]): string | null {
  const [first] = tokens;
  if (first === undefined) return null;
  const program = baseName(first);
  if (TRIVIAL.has(program) || !/^[\w.-]+$/.test(program)) return null;
  const argument = tokens.slice(1, 3).find((token) => WORD_LIKE.test(token));
  if (program === 'git' && argument !== undefined && READING_GIT.has(argument)) return null;
  return argument === undefined ? program : `${program} ${argument}`;
}

function useOf(stem: string, tokens: readonly string[]): string {
  if (!RUNNERS.has(stem)) return stem;
  const argument = stem.split(' ')[1] ?? '';
  const next = tokens.slice(tokens.indexOf(argument) + 1).find((token) => WORD_LIKE.test(token));
  return next === undefined ? stem : `${stem} ${next}`;
}

function splitBlanked(command: string): string[] {
  return command.split(/&&|\|\||;|\||\n/);
}

/** Splits at the operators that stand outside of quotes and of command substitutions. Of a pipe only its head is kept. */
function splitSimple(command: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quote = '';
  let depth = 0;
  let isFilter = false;
  for (let at = 0; at < command.length; at++) {
    const char = command.charAt(at);
    if (char === '\\' && quote !== "'") at++;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '(') depth++;
    else if (char === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0 && (char === ';' || char === '\n' || char === '|' || isDoubleAnd(command, at))) {
      if (!isFilter) parts.push(command.slice(start, at));
      const isDouble = command.charAt(at + 1) === char;
      isFilter = char === '|' && !isDouble;
      if (isDouble) at++;
      start = at + 1;
    }
  }
  if (!isFilter) parts.push(command.slice(start));
  return parts;
}

function isDoubleAnd(command: string, at: number): boolean {
  return command.charAt(at) === '&' && command.charAt(at + 1) === '&';
}

const MAX_SCANNED = 20_000;

function dropHereDocuments(command: string): string {
  return command
    .slice(0, MAX_SCANNED)
    .replace(/<<-?\s*(['"]?)(\w+)\1[\s\S]*?(?:^\s*\2\s*$|(?![\s\S]))/gm, '<<$2 ');
}

/** A message that is passed through a here-document is shown by its first line. */
function inlineMessages(command: string): string {
  return command
    .slice(0, MAX_SCANNED)
    .replace(/\$\(cat <<-?\s*(['"]?)(\w+)\1\n([^\n"]*)[^\n]*\n[\s\S]*?^\s*\2\s*\)/gm, '$3…');
}

function blankQuoted(command: string): string {
  return dropHereDocuments(command).replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, ' "" ');
}

/** A quoted text of several lines is shown by its first. */
function foldQuotedLines(command: string): string {
  return command.replace(
    /"[^"]*\n[^"]*"|'[^']*\n[^']*'/g,
    (quoted) => `${quoted.split('\n')[0]}…${quoted.charAt(0)}`,
  );
}
