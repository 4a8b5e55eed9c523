import { baseName } from '../model/paths.ts';
import { findPaths } from './names.ts';

export class TouchedFile {
  path: string;
  line: number;
  edits = 0;
  failures = 0;
  created = false;
  deleted = false;
  reads = 0;
  /** Numbers of calls. */
  lastEdit = 0;
  lastRead = 0;
  /** The numbers of the calls that edited it. */
  editCalls: number[] = [];
  /** Names declared by edits and not taken out since, with the call. */
  defined = new Map<string, number>();

  constructor(path: string, line = 0) {
    this.path = path;
    this.line = line;
  }
}

/** Whether anything was done to the file, or tried. */
export function isChanged(file: TouchedFile): boolean {
  return file.edits + file.failures > 0 || file.deleted;
}

const ABSOLUTE = /^(?:[/~\\]|[A-Za-z]:)/;

/** The absolute path of a path in a command that runs in `folder`. */
export function locatePath(path: string, folder: string | null): string {
  if (folder === null || ABSOLUTE.test(path)) return path;
  const isWindows = /^[A-Za-z]:\\|^\\\\/.test(folder);
  let base = folder;
  let rest = path.replace(/^(?:\.[\\/])+/, '');
  while (/^\.\.[\\/]/.test(rest)) {
    base = base.replace(/[\\/][^\\/]+$/, '');
    rest = rest.slice(3);
  }
  return isWindows ? `${base}\\${rest.replaceAll('/', '\\')}` : `${base}/${rest}`;
}

/** A path relative to a folder above it. Windows paths stay absolute, as their programs write them. */
export function relatePath(path: string, folder: string | null): string {
  return folder !== null && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

/** Dependencies, build outputs and temporary files. */
const OUTSIDE_WORK =
  /(?:^|[\\/])(?:node_modules|site-packages|\.venv|dist|build|target|coverage|__pycache__)[\\/]|^\/(?:private\/)?tmp\/|^\/var\/folders\/|\\AppData\\Local\\Temp\\/;

export function isOutsideWork(path: string): boolean {
  return OUTSIDE_WORK.test(path);
}

export interface Removal {
  path: string;
  /** Where it is moved to; null where it is removed. */
  to: string | null;
  /** Whether the command succeeds without such a file, too. */
  forced: boolean;
  restored: boolean;
}

/** Notes removals of known files, and of unknown ones where the command shows that they were there. */
export function applyRemovals(
  files: Map<string, TouchedFile>,
  removals: readonly Removal[],
  { call, line }: { call: number; line: number },
): void {
  for (const removal of removals) {
    for (const file of findAffected(files, removal)) {
      file.deleted = !removal.restored;
      file.line = line;
      if (!removal.restored) file.lastEdit = call;
    }
    if (removal.to === null || !isWorkFile(removal.to)) continue;
    const moved = files.get(removal.to) ?? new TouchedFile(removal.to, line);
    files.set(removal.to, { ...moved, edits: moved.edits + 1, lastEdit: call, line, deleted: false });
  }
}

function findAffected(files: Map<string, TouchedFile>, removal: Removal): TouchedFile[] {
  const known = [...files.values()].filter((file) => isWithin(file.path, removal.path));
  if (known.length > 0 || removal.forced || !isWorkFile(removal.path)) return known;
  const file = new TouchedFile(removal.path);
  files.set(removal.path, file);
  return [file];
}

/** Whether a path is the one given, lies below it, or matches a `*` in it. */
function isWithin(path: string, pattern: string): boolean {
  const [head = '', ...tails] = pattern.replace(/[\\/]$/, '').split('*');
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

function isWorkFile(path: string): boolean {
  return !isOutsideWork(path) && isFileName(baseName(path));
}

/** Whether a name has the form of a file's name, such as `retry.ts`. */
export function isFileName(name: string): boolean {
  return findPaths(name)[0] === name;
}
