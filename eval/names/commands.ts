import { LINE_END, LINE_START, WORD } from './characters.ts';
import { baseName } from './paths.ts';

/** Programs that any session runs and that tell nothing about this one. */
const TRIVIAL = new Set(
  `
    ls cat cd grep rg head tail echo find wc pwd sed awk sleep mkdir rm cp mv true which sort tree touch
    chmod export source for if while set test
  `
    .trim()
    .split(/\s+/),
);
const LOOKING_GIT = new Set('status diff log add show branch stash checkout rev-parse'.split(' '));
/** Programs that only run another one. */
const WRAPPERS = new Set('sudo time timeout env nohup npx bunx uv run poetry'.split(' '));

const HERE_DOCUMENT = new RegExp(
  String.raw`<<-?\s*(['"]?)([${WORD}]+)\1[^]*?(?:${LINE_START}\s*\2\s*${LINE_END}|(?![^]))`,
  'gu',
);
const QUOTED = /"(?:[^"\\]|\\[^\n])*"|'[^']*'/g;
const SEPARATOR = /&&|\|\||;|\||\n/;
const ASSIGNMENT = new RegExp(`^[${WORD}]+=`, 'u');
const PROGRAM = new RegExp(String.raw`^[${WORD}.\-]+$`, 'u');
const SUBCOMMAND = new RegExp(String.raw`^[a-zA-Z][${WORD}:\-]*$`, 'u');

/** What a shell command runs: each program with its first word-like argument, such as `npm test`. */
export function findStems(command: string): Set<string> {
  const stems = new Set<string>();
  const bare = command.replace(HERE_DOCUMENT, ' ').replace(QUOTED, ' "" ');
  for (const part of bare.split(SEPARATOR)) {
    const stem = findStem(part);
    if (stem !== null) stems.add(stem);
  }
  return stems;
}

function findStem(part: string): string | null {
  const [program, ...rest] = unwrap(part.split(/\s+/).filter((word) => word !== '' && !ASSIGNMENT.test(word)));
  if (program === undefined) return null;
  const name = baseName(program);
  if (TRIVIAL.has(name) || !PROGRAM.test(name)) return null;
  const sub = rest.slice(0, 2).find((word) => SUBCOMMAND.test(word));
  if (name === 'git' && sub !== undefined && LOOKING_GIT.has(sub)) return null;
  return sub === undefined ? name : `${name} ${sub}`;
}

function unwrap(words: readonly string[]): readonly string[] {
  let rest = words;
  for (let first = rest[0]; first !== undefined && WRAPPERS.has(first); first = rest[0]) {
    rest = rest.slice(first === 'timeout' && rest.length > 1 ? 2 : 1);
  }
  return rest;
}

/** The program of a stem. */
export function programOf(stem: string): string {
  return stem.split(' ', 1)[0] ?? '';
}
