import { baseName } from '../model/base-name.ts';

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

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** One simple command of a command line, with what it is known by. */
export interface Segment {
  text: string;
  stem: string;
}

/**
 * What a command line is known by: program and first word-like argument of each simple command, as `npm test` or
 * `cargo build`. Text in quotes and here-documents does not count.
 */
export function findStems(command: string): string[] {
  return [...new Set(splitCommand(blankQuoted(command)).flatMap((part) => stemOf(part) ?? []))];
}

/** The simple commands that mean something, each as it was typed, on one line. */
export function splitSegments(command: string): Segment[] {
  const flat = foldQuotedLines(dropHereDocuments(command));
  return splitCommand(flat).flatMap((part) => {
    const stem = stemOf(blankQuoted(part));
    if (stem === null || SHELL_WORDS.has(stem.split(' ')[0] ?? '') || !/^[a-z.]/.test(stem)) return [];
    return [{ text: part.replace(/\s+/g, ' ').trim(), stem }];
  });
}

function stemOf(part: string): string | null {
  let tokens = part
    .trim()
    .split(/\s+/)
    .filter((token) => token !== '' && !/^\w+=/.test(token));
  while (WRAPPERS.has(tokens[0] ?? ''))
    tokens = tokens.slice(tokens[0] === 'timeout' && tokens.length > 1 ? 2 : 1);
  const [first] = tokens;
  if (first === undefined) return null;
  const program = baseName(first);
  if (TRIVIAL.has(program) || !/^[\w.-]+$/.test(program)) return null;
  const argument = tokens.slice(1, 3).find((token) => /^[a-zA-Z][\w:-]*$/.test(token));
  if (program === 'git' && argument !== undefined && READING_GIT.has(argument)) return null;
  return argument === undefined ? program : `${program} ${argument}`;
}

function splitCommand(command: string): string[] {
  return command.split(/&&|\|\||;|\||\n/);
}

const MAX_SCANNED = 20_000;

function dropHereDocuments(command: string): string {
  return command
    .slice(0, MAX_SCANNED)
    .replace(/<<-?\s*(['"]?)(\w+)\1[\s\S]*?(?:^\s*\2\s*$|(?![\s\S]))/gm, '<<$2 ');
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

const FAILURE_LINE =
  /^.*(?:\berror\b|\bfail(?:ed|ure|ing)?\b|exception|panic:|traceback|cannot |not found|undefined:|exit code [1-9]).*$/gim;

/** Lines of an output that tell of a failure, first ones first. */
export function findFailureLines(output: string, limit: number): string[] {
  const found: string[] = [];
  for (const [line] of output.matchAll(FAILURE_LINE)) {
    const text = line.replace(/\s+/g, ' ').trim();
    if (text.length > 12) found.push(text);
    if (found.length === limit) break;
  }
  return found;
}

const CHECKS =
  /\b(?:test|tests|pytest|jest|vitest|mocha|rspec|ctest|lint|eslint|ruff|mypy|tsc|biome|check|clippy|vet|fmt|format|prettier|build|compile|typecheck|verify)\b/;

/** Whether a command checks the work: tests, builds, linters, type checks. */
export function isCheck(stem: string): boolean {
  return CHECKS.test(stem) || stem === 'make';
}
