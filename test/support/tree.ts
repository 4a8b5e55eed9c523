import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Everything at and below a folder: path, kind, mode, inode, time of change and content. */
export function snapshotTree(root: string, skip: (path: string) => boolean = () => false): Map<string, string> {
  const found = new Map<string, string>();
  const open = [root];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (skip(path)) continue;
    const stat = lstatSync(path, { bigint: true });
    const marks = [stat.mode.toString(8), stat.ino, stat.mtimeNs, stat.size];
    if (stat.isDirectory()) open.push(...readdirSync(path).map((name) => join(path ?? '', name)));
    else if (stat.isSymbolicLink()) marks.push(readlinkSync(path));
    else if (stat.isFile())
      found.set(`${relative(root, path)} content`, createHash('sha256').update(readFileSync(path)).digest('hex'));
    found.set(relative(root, path), marks.join(' '));
  }
  return found;
}

/** The paths of all regular files below a folder, sorted. */
export function listFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
