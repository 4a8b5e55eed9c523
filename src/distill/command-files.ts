import { baseName } from '../model/paths.ts';
import { splitCommands } from './command-line.ts';
import { findPaths } from './names.ts';
import { describeUntouched, isForeign, locatePath, type TouchedFile } from './touched-file.ts';

const SHOWING = new Set([
  'cat',
  'bat',
  'nl',
  'less',
  'more',
  'head',
  'tail',
  'sed',
  'type',
  'Get-Content',
  'gc',
]);

/** The files that a command shows, as it names them. */
export function findShownFiles(command: string): string[] {
  return splitCommands(command).flatMap(({ words: [program = '', ...rest] }) => {
    if (!SHOWING.has(program) || rest.some((word) => word.startsWith('<<'))) return [];
    if (program === 'sed' && rest[0] !== '-n') return [];
    return rest.map(unquote).filter((word) => !word.startsWith('-') && isFileName(baseName(word)));
  });
}

/** A file or a folder that a command takes away, or gives back. */
export interface Removal {
  path: string;
  /** Where it is afterwards; null where it is gone. */
  to: string | null;
  /** Set when the command succeeds whether there was such a file or not. */
  forced: boolean;
  restored: boolean;
}

const REMOVING = new Set(['rm', 'unlink', 'trash', 'del', 'erase', 'Remove-Item', 'ri']);
const MOVING = new Set(['mv', 'move', 'Move-Item', 'mi']);
const RESTORING = new Set(['restore', 'checkout']);

/** What a command line removes, moves and restores if it succeeds. */
export function findRemovals(command: string, cwd: string | null): Removal[] {
  if (!/\b(?:rm|mv|unlink|trash|del|erase|move|ri|mi|restore|checkout)\b|-Item\b/.test(command)) return [];
  let folder = cwd;
  return splitCommands(command).flatMap(({ words, otherwise }) => {
    const [program = '', ...rest] = words[0] === 'sudo' ? words.slice(1) : words;
    if (program === 'cd' && rest[0] !== undefined) folder = locatePath(unquote(rest[0]), folder);
    return otherwise ? [] : readRemoval(program, rest, folder);
  });
}

function readRemoval(program: string, rest: readonly string[], folder: string | null): Removal[] {
  const isGit = program === 'git';
  const verb = isGit ? (rest[0] ?? '') : program;
  const own = isGit ? rest.slice(1) : rest;
  const flags = own.filter((word) => word.startsWith('-'));
  const paths = own.filter((word) => !word.startsWith('-') && !word.includes('$')).map(unquote);
  const forced = flags.some((flag) => /^-\w*f|^--force$|^-Force$/.test(flag)) && !isGit;
  const at = (path: string): string => locatePath(path, folder);
  if (REMOVING.has(verb)) {
    if (flags.includes('--cached')) return [];
    return paths.map((path) => ({ path: at(path), to: null, forced, restored: false }));
  }
  if (MOVING.has(verb) && paths.length >= 2) {
    const target = paths.at(-1) ?? '';
    const intoFolder = paths.length > 2 || /[\\/]$/.test(target) || !baseName(target).includes('.');
    return paths.slice(0, -1).map((path) => ({
      path: at(path),
      to: at(intoFolder ? `${target.replace(/[\\/]$/, '')}/${baseName(path)}` : target),
      forced: false,
      restored: false,
    }));
  }
  if (isGit && RESTORING.has(verb))
    return paths.map((path) => ({ path: at(path), to: null, forced: true, restored: true }));
  return [];
}

function unquote(word: string): string {
  return word.replace(/^(["'])(.*)\1$/s, '$2');
}

interface Moment {
  call: number;
  line: number;
}

/** Notes what has happened to the files: those that are known, and those whose removal alone tells that they were there. */
export function enterRemovals(
  files: Map<string, TouchedFile>,
  removals: readonly Removal[],
  { call, line }: Moment,
): void {
  for (const removal of removals) {
    for (const file of findTouched(files, removal)) {
      file.deleted = !removal.restored;
      file.line = line;
      if (!removal.restored) file.lastEdit = call;
    }
    if (removal.to === null || !isFilePath(removal.to)) continue;
    const moved = files.get(removal.to) ?? describeUntouched(removal.to, line);
    files.set(removal.to, { ...moved, edits: moved.edits + 1, lastEdit: call, line, deleted: false });
  }
}

function findTouched(files: Map<string, TouchedFile>, removal: Removal): TouchedFile[] {
  const known = [...files.values()].filter((file) => isWithin(file.path, removal.path));
  if (known.length > 0 || removal.forced || !isFilePath(removal.path)) return known;
  const file = describeUntouched(removal.path);
  files.set(removal.path, file);
  return [file];
}

/** Whether a path is the one that was named, lies below it, or is meant by a star in it. */
function isWithin(path: string, named: string): boolean {
  const [head = '', ...tails] = named.replace(/[\\/]$/, '').split('*');
  if (!path.startsWith(head)) return false;
  if (tails.length === 0) return path.length === head.length || /[\\/]/.test(path.charAt(head.length));
  let at = head.length;
  for (const tail of tails) {
    const found = path.indexOf(tail, at);
    if (found === -1 || /[\\/]/.test(path.slice(at, found))) return false;
    at = found + tail.length;
  }
  return at === path.length || tails.at(-1) === '';
}

/** A file of the work itself, by its name. */
function isFilePath(path: string): boolean {
  return !isForeign(path) && isFileName(baseName(path));
}

function isFileName(name: string): boolean {
  return findPaths(name)[0] === name;
}
