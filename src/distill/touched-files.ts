import type { FileEdit } from '../model/event.ts';
import { baseName, isProse } from '../model/paths.ts';
import { splitCommands } from './command-line.ts';
import { findDefinitions, findParts, findPaths, findTodos } from './names.ts';

export class TouchedFile {
  path: string;
  line: number;
  edits = 0;
  failures = 0;
  /** Edits that no result was seen of. */
  begun = 0;
  created = false;
  deleted = false;
  /** Where it went, if it was moved rather than removed. */
  movedTo: string | null = null;
  reads = 0;
  /** Numbers of calls. */
  lastEdit = 0;
  /** The call that took its edits back, such as `git restore`; 0 where none did. */
  undone = 0;
  lastRead = 0;
  /** The numbers of the calls that edited it. */
  editCalls: number[] = [];
  /** Names declared by edits and not taken out since, with the call. */
  defined = new Map<string, number>();
  /** The same for lines that say what is left to do. */
  todos = new Map<string, number>();
  /** The same for headings and keys. */
  parts = new Map<string, number>();

  constructor(path: string, line = 0) {
    this.path = path;
    this.line = line;
  }
}

/** Whether anything was done to the file, or tried. */
export function isChanged(file: TouchedFile): boolean {
  return file.edits + file.failures + file.begun > 0 || file.deleted;
}

/** What edits declare in a file and none has taken out since. */
export function noteDeclared(file: TouchedFile, { path, before, after }: FileEdit, call: number): void {
  noteLasting(file.parts, [findParts(path, before), findParts(path, after)], call);
  if (isProse(path)) return;
  noteLasting(file.defined, [findDefinitions(before), findDefinitions(after)], call);
  noteLasting(file.todos, [findTodos(before), findTodos(after)], call);
}

function noteLasting(known: Map<string, number>, [before, after]: [string[], string[]], call: number): void {
  const [old, now] = [new Set(before), new Set(after)];
  for (const name of old) if (!now.has(name)) known.delete(name);
  for (const name of now) if (!old.has(name)) known.set(name, call);
}

const ABSOLUTE = /^(?:[/~\\]|[A-Za-z]:)/;

/** A home folder, as systems place them, at the beginning of a path. */
const HOME = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/;

/** The absolute path of a path in a command that runs in `folder`. */
export function locatePath(path: string, folder: string | null): string {
  if (folder !== null && /^~(?:\/|$)/.test(path)) return `${HOME.exec(folder)?.[0] ?? '~'}${path.slice(1)}`;
  if (folder === null || ABSOLUTE.test(path)) return path;
  const isWindows = /^[A-Za-z]:\\|^\\\\/.test(folder);
  let base = folder;
  let rest = path.replace(/^(?:\.[\\/])+/, '');
  if (rest === '.' || rest === '') return base;
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

/** Dependencies and build outputs. */
const MADE = /(?:^|[\\/])(?:node_modules|site-packages|\.venv|dist|build|target|coverage|__pycache__)[\\/]/;
/** What is right in a folder for temporary files. */
const TEMPORARY =
  /^(?:\/(?:private\/)?tmp|\/var\/folders\/[^/]+\/[^/]+\/\w+|\/var\/folders|.*\\AppData\\Local\\Temp)[\\/][^\\/]+/;

/** Dependencies, build outputs, and temporary files unless the session itself works among them. */
export function isOutsideWork(path: string, cwd: string | null): boolean {
  const own = relatePath(path, cwd);
  const [of] = TEMPORARY.exec(path) ?? [];
  if (own !== path || of === undefined) return MADE.test(own);
  return of !== TEMPORARY.exec(cwd ?? '')?.[0] || MADE.test(path.slice(of.length));
}

export interface Removal {
  path: string;
  /** Where it is moved to; null where it is removed. */
  to: string | null;
  /** Whether the command succeeds without such a file, too. */
  forced: boolean;
  /** Whether git takes back what was changed there, only what was created there, or brings it back from the stash. */
  git: 'restored' | 'cleaned' | 'brought back' | null;
}

/** Notes removals of known files, and of unknown ones where the command shows that they were there. */
export function applyRemovals(
  files: Map<string, TouchedFile>,
  removals: readonly Removal[],
  { call, line, cwd }: { call: number; line: number; cwd: string | null },
): void {
  for (const removal of removals) {
    for (const file of findAffected(files, removal, cwd)) {
      if (removal.git === 'cleaned' && !file.created) continue;
      if (!file.deleted) file.movedTo = removal.to;
      file.deleted = removal.git === null;
      file.line = line;
      if (removal.git === null) file.lastEdit = call;
      else file.undone = removal.git === 'brought back' ? 0 : call;
    }
    if (removal.to === null || !isWorkFile(removal.to, cwd)) continue;
    const moved = files.get(removal.to) ?? new TouchedFile(removal.to, line);
    files.set(removal.to, { ...moved, edits: moved.edits + 1, lastEdit: call, line, deleted: false, movedTo: null });
  }
}

function findAffected(files: Map<string, TouchedFile>, removal: Removal, cwd: string | null): TouchedFile[] {
  const known = [...files.values()].filter((file) => isWithin(file.path, removal.path));
  if (known.length > 0 || removal.forced || !isWorkFile(removal.path, cwd)) return known;
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

function isWorkFile(path: string, cwd: string | null): boolean {
  return !isOutsideWork(path, cwd) && isFileName(baseName(path));
}

/** Whether a name has the form of a file's name, such as `retry.ts`. */
export function isFileName(name: string): boolean {
  return findPaths(name)[0] === name;
}

const WRITING =
  /^(?:tee|cp|mv|rm|patch|install|truncate|dd|rsync|isort|rustfmt|(?:Set|Add|Clear|Copy|Move|New|Out|Remove)-(?:Content|Item|File))$/;
const WRITING_GIT =
  /^git (?:-\S+ \S+ )*(?:am|apply(?! --(?:check|stat|numstat)\b)|checkout|cherry-pick|clean(?! (?:-n|--dry-run)\b)|merge|mv|pull|rebase|reset|restore|revert|rm|stash(?! (?:list|show)\b)|switch)(?![\w-])/;
/** Editing in place, formatters, interpreters with a script of their own, package managers. */
const WRITING_LINE =
  /^(?:sed|perl|ruby) (?:.* )?-\w*i|(?:^| )(?:--write|--fix|--in-place|--apply)\b|^(?:gofmt|goimports) .*-w\b|\b(?:go|cargo|ruff) (?:fmt|format)\b|^black (?!.*--check)|^(?:python[\d.]*|node|ruby|perl|php|bun|deno)(?: -)? (?:<<|-[ce]\b|--eval\b)|^(?:npm|pnpm|yarn|bun) (?:install|i|add|remove|uninstall|update|up)\b/;
const STARTING = /^(?:sudo|npx|bunx|uvx|uv run|poetry run) /;

/** Whether a command line may change files of the work. */
export function mayWrite(command: string, cwd: string | null = null): boolean {
  return splitCommands(command).some(({ words, into }) => {
    if (into.some((path) => !/^(?:\/dev\/|\$null$|nul$)/i.test(path) && !isOutsideWork(path, cwd))) return true;
    const line = words.join(' ').replace(STARTING, '');
    const target = words.at(-1) ?? '';
    if (WRITING.test(baseName(words[0] ?? ''))) return !isOutsideWork(target, cwd);
    return WRITING_GIT.test(line) || WRITING_LINE.test(line);
  });
}
