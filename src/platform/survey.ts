import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { hasErrno } from '../errors.ts';

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

export interface Entry {
  path: string;
  name: string;
  kind: EntryKind;
  mode: number;
  /** False for what another user owns. Systems without owners say true. */
  own: boolean;
}

/** Everything at and below a folder, the folder first, without following links. What vanishes meanwhile is passed over. */
export function* surveyFolder(root: string): Iterable<Entry> {
  const open = [{ path: root, name: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path } = next;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    const entry = describeEntry(next, stat);
    yield entry;
    if (entry.kind === 'folder')
      open.push(...listEntries(path).map((name) => ({ path: join(path, name), name })));
  }
}

function listEntries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES', 'EPERM')) return [];
    throw error;
  }
}

function describeEntry(place: { path: string; name: string }, stat: Stats): Entry {
  const user = process.getuid?.();
  return {
    ...place,
    kind: kindOf(stat),
    mode: stat.mode & 0o777,
    own: user === undefined || stat.uid === user,
  };
}

function kindOf(stat: Stats): EntryKind {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'folder';
  return stat.isSymbolicLink() ? 'link' : 'other';
}

/** What a private file or folder must not be open to. Windows keeps its own access lists, which modes do not show. */
export function isTooOpen(entry: Entry): boolean {
  if (process.platform === 'win32') return false;
  return entry.kind === 'folder' || entry.kind === 'file' ? (entry.mode & 0o077) !== 0 : false;
}

export function makePrivate(entry: Entry): void {
  chmodSync(entry.path, entry.kind === 'folder' ? 0o700 : 0o600);
}
