import { dirname, join, posix } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { compareCodeUnits, sha256Hex } from '../../model/hash.ts';
import { createFileDurably, isTempName } from '../../platform/durable-file.ts';
import { listNames } from '../../platform/external-file.ts';
import { isFolder, walkFolder } from '../../platform/folders.ts';
import { toRelativePath } from '../../platform/project.ts';
import { ensureProjectFolder, readProjectFile, writeProjectFile } from '../../platform/project-file.ts';
import type { ObjectStore } from './objects.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** A folder that a sync program shares. `folder` must exist: an unmounted drive must not be recreated. */
export function openFolderStore(folder: string, name: string): ObjectStore {
  const top = join(folder, name);
  const read = (path: string): Buffer | null => readProjectFile(join(top, path), MAX_BYTES);
  return {
    backend: 'folder',
    destination: top,
    assertPresent: () => assertMounted(folder),
    list: async () => {
      assertMounted(folder);
      const paths = [...walkFolder(top)]
        .filter(({ kind, name: file }) => kind === 'file' && !isTempName(file))
        .map(({ path }) => toRelativePath(top, path));
      return new Map(paths.map((path) => [path, sha256Hex(read(path) ?? Buffer.of())]));
    },
    read: async (path) => {
      const bytes = read(path);
      return bytes === null ? null : { bytes, version: sha256Hex(bytes) };
    },
    write: async (path, bytes, expected) => {
      assertMounted(folder);
      const target = join(top, path);
      ensureProjectFolder(folder, ...toRelativePath(folder, dirname(target)).split('/'));
      if (expected === null) return createFileDurably(target, bytes) ? sha256Hex(bytes) : null;
      const present = read(path);
      if (present === null || sha256Hex(present) !== expected) return null;
      writeProjectFile(target, bytes);
      return sha256Hex(bytes);
    },
    inspect: async (paths) =>
      paths.flatMap((path) => {
        const copies = findConflictCopies(path, listNames(dirname(join(top, path))));
        const advice = `is a conflict copy: check whether it has something that ${path} lacks`;
        return copies.map((copy) => `${join(top, copy)} ${advice}`);
      }),
  };
}

function assertMounted(folder: string): void {
  if (isFolder(folder)) return;
  const hint =
    'Check that the drive is mounted, then publish again; or correct publish.folder.path in your config.toml.';
  throw new HandoverError('HANDOVER_REMOTE_UNREACHABLE', `the folder ${folder} is not there`, { hint });
}

/** What sync programs insert before the extension of a conflicting copy: Syncthing, Dropbox, then plain counters. */
const CONFLICT_MARKS = [
  /^\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?$/,
  /^ ?\([^()]*conflict(?:ed)?[^()]*\)$/i,
  /^_conf\([^()]*\)$/,
  /^ ?\(\d{1,3}\)$/,
  /^ \d{1,3}$/,
];

/** Of the names in the folder of `path`, its conflict copies, as paths. */
export function findConflictCopies(path: string, names: readonly string[]): string[] {
  const { dir, name, ext } = posix.parse(path);
  return names
    .filter((other) => {
      const between = other.slice(name.length, other.length - ext.length);
      return `${name}${between}${ext}` === other && CONFLICT_MARKS.some((mark) => mark.test(between));
    })
    .sort(compareCodeUnits)
    .map((other) => (dir === '' ? other : `${dir}/${other}`));
}
