import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { attempt, catchErrno, HandoverError } from '../errors.ts';
import { syncFolder } from './durable-file.ts';

const MISSING = ['ENOENT', 'ENOTDIR'];

/** The names in a folder, in no order; none when it does not exist. */
export function listFolder(path: string): string[] {
  return catchErrno(MISSING, [], () => readdirSync(path));
}

/** Some file systems store times in steps of two seconds: a second change within a step leaves the time as it was. */
const COARSEST_STEP_MS = 2000;

/** Differs when names were added or removed; null for a missing folder, and while a further change might not show. */
export function readFolderState(path: string): string | null {
  const stat = catchErrno(MISSING, null, () => statSync(path));
  const isSettled = stat !== null && Date.now() - stat.mtimeMs > COARSEST_STEP_MS;
  return isSettled ? `${stat.ino}:${stat.mtimeMs}` : null;
}

const PRIVATE_FOLDER = 0o700;
/**
 * The sticky bit, which is meaningless on a private folder. It is set until the name of a new folder is durable: whoever
 * sees it must make the name durable first, or a power cut could take the folder with all that is put there.
 */
const NEW = 0o1000;

/**
 * Makes sure that `root` and each of `parts` below it is a folder of ours that nobody else can enter, and returns the
 * last one. Below the root no link is followed: whoever can plant one there must not choose where we write.
 */
export function ensurePrivateFolder(root: string, ...parts: readonly string[]): string {
  ensureFolder(root);
  return parts.reduce((parent, part) => {
    const path = join(parent, part);
    ensureFolder(path);
    return path;
  }, root);
}

function ensureFolder(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) createFolder(path);
  else assertOwnFolder(path, stat);
  if (stat === undefined || process.platform === 'win32') return;
  if ((stat.mode & NEW) !== 0) finishFolder(path);
  else if ((stat.mode & 0o077) !== 0) chmodSync(path, PRIVATE_FOLDER);
}

function createFolder(path: string): void {
  ensureParent(dirname(path));
  if (attempt(() => mkdirSync(path, PRIVATE_FOLDER | NEW), 'EEXIST')) finishFolder(path);
  else ensureFolder(path);
}

/** Folders above the root are not checked, except one that was just made for it. */
function ensureParent(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) createFolder(path);
  else if ((stat.mode & 0o1777) === (PRIVATE_FOLDER | NEW) && stat.uid === process.getuid?.()) finishFolder(path);
}

function finishFolder(path: string): void {
  syncFolder(dirname(path));
  chmodSync(path, PRIVATE_FOLDER);
}

function assertOwnFolder(path: string, stat: Stats): void {
  if (!stat.isDirectory())
    throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is not a folder`, {
      hint: 'A link or a file is in the place of a folder of the store. Move it away, or set HANDOVER_HOME to the real folder.',
    });
  if (!isOwn(stat))
    throw new HandoverError('HANDOVER_PATH_UNSAFE', `${path} belongs to another user`, {
      hint: 'Set HANDOVER_HOME to a folder of your own, or give this one back with chown.',
    });
}

function isOwn(stat: Stats): boolean {
  const user = process.getuid?.();
  return user === undefined || stat.uid === user;
}

export interface Entry {
  path: string;
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  mode: number;
  /** False for what another user owns; true on systems without owners. */
  own: boolean;
}

/** Everything at and below a folder, the folder first, without following links. What vanishes meanwhile is skipped. */
export function* walkFolder(root: string): Iterable<Entry> {
  const open = [{ path: root, name: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path } = next;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    yield { ...next, kind: kindOf(stat), mode: stat.mode & 0o777, own: isOwn(stat) };
    if (!stat.isDirectory()) continue;
    const names = catchErrno(['ENOENT', 'EACCES', 'EPERM'], [], () => readdirSync(path));
    open.push(...names.map((name) => ({ path: join(path, name), name })));
  }
}

function kindOf(stat: Stats): Entry['kind'] {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'folder';
  return stat.isSymbolicLink() ? 'link' : 'other';
}

/** Whether others can access it. On Windows modes do not show that. */
export function isTooOpen(entry: Entry): boolean {
  const hasMode = process.platform !== 'win32' && (entry.kind === 'folder' || entry.kind === 'file');
  return hasMode && (entry.mode & 0o077) !== 0;
}

export function makePrivate(entry: Entry): void {
  chmodSync(entry.path, entry.kind === 'folder' ? 0o700 : 0o600);
}

/** Runs work with a private temporary folder, removed afterwards. */
export function withTempFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'agent-handover-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Not durable: for temporary files. */
export function writeWithFolders(path: string, data: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, data, { mode: 0o600 });
}

/** Runs work with a text in a private temp file, removed afterwards. */
export async function withTempFile<T>(name: string, text: string, work: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-handover-'));
  try {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return await work(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Errors for what is missing or out of this user's reach. The last one is for a path with a NUL in it. */
export const OUT_OF_REACH = [...MISSING, 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'] as const;

/** The canonical path, without links and in the case that the file system stores; null if out of reach. */
export function resolveRealPath(path: string): string | null {
  return catchErrno(OUT_OF_REACH, null, () => realpathSync.native(path));
}

/** Whether a path is a folder or in it, with the links of both resolved. */
export function isInside(path: string, folder: string): boolean {
  return isLexicallyInside(resolveRealPath(path) ?? path, resolveRealPath(folder) ?? folder);
}

export function isLexicallyInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Follows links, as the two below do. */
export function isFolder(path: string): boolean {
  return statOrNull(path)?.isDirectory() ?? false;
}

export function pathExists(path: string): boolean {
  return statOrNull(path) !== null;
}

/**
 * Whether a program that reads a path gets at most so many bytes at once: a regular file, or what holds nothing: no file,
 * a folder, or /dev/null, by which sandboxes hide files.
 */
export function isFileWithin(path: string, mostBytes: number): boolean {
  const stat = statOrNull(path);
  if (stat === null || stat.isDirectory()) return true;
  return stat.isFile() ? stat.size <= mostBytes : stat.rdev === statOrNull('/dev/null')?.rdev;
}

/** The real path of a folder named by the user. */
export function requireFolder(path: string): string {
  const real = resolveRealPath(path);
  if (real !== null && isFolder(real)) return real;
  const wrong = real === null ? 'does not exist or cannot be reached' : 'is not a folder';
  const hint = 'Pass the path of an existing folder, or run the command inside the project.';
  throw new HandoverError('HANDOVER_PROJECT_MISSING', `${path} ${wrong}`, { hint });
}

function statOrNull(path: string): Stats | null {
  return catchErrno(OUT_OF_REACH, null, () => statSync(path, { throwIfNoEntry: false }) ?? null);
}
