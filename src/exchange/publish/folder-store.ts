import { dirname, join, posix } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { createFileDurably, isTempName } from '../../platform/durable-file.ts';
import { listNames } from '../../platform/external-file.ts';
import { isFolder, surveyFolder } from '../../platform/folders.ts';
import { toRelativePath } from '../../platform/place.ts';
import { ensureProjectFolder, readProjectFile, writeProjectFile } from '../../platform/project-file.ts';
import type { ObjectStore } from './objects.ts';
import { digest } from './sync-state.ts';

/**
 * What programs that carry folders put between the stem and the extension of a file that was changed in two places:
 * Syncthing, Dropbox and its like, then those that only count.
 */
const MARKS = [
  /^\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?$/,
  /^ ?\([^()]*conflict(?:ed)?[^()]*\)$/i,
  /^_conf\([^()]*\)$/,
  /^ ?\(\d{1,3}\)$/,
  /^ \d{1,3}$/,
];

/** Of the names in the folder of `path`, those that are conflict copies of it, as paths beside it. */
export function findConflictCopies(path: string, names: readonly string[]): string[] {
  const { dir, name, ext } = posix.parse(path);
  return names
    .filter((other) => {
      if (other.length <= name.length + ext.length || !other.startsWith(name) || !other.endsWith(ext))
        return false;
      const between = other.slice(name.length, other.length - ext.length);
      return MARKS.some((mark) => mark.test(between));
    })
    .sort(compareCodeUnits)
    .map((other) => (dir === '' ? other : `${dir}/${other}`));
}

const MAX_BYTES = 64 * 1024 * 1024;

/** A folder that some program carries elsewhere. `folder` must be there: one that is not mounted must not be made. */
export function openFolderStore(folder: string, name: string): ObjectStore {
  const top = join(folder, name);
  const read = (path: string): Buffer | null => readProjectFile(join(top, path), MAX_BYTES);
  return {
    backend: 'folder',
    destination: top,
    list: async () => {
      requireTop(folder);
      const files = [...surveyFolder(top)].filter(
        ({ kind, name: file }) => kind === 'file' && !isTempName(file),
      );
      return new Map(
        files
          .map(({ path }) => toRelativePath(top, path))
          .map((path) => [path, digest(read(path) ?? Buffer.of())]),
      );
    },
    read: async (path) => {
      const bytes = read(path);
      return bytes === null ? null : { bytes, version: digest(bytes) };
    },
    write: async (path, bytes, expected) => {
      requireTop(folder);
      const target = join(top, path);
      const parts = toRelativePath(folder, dirname(target)).split('/');
      ensureProjectFolder(folder, ...parts);
      if (expected === null) return createFileDurably(target, bytes) ? digest(bytes) : null;
      const there = read(path);
      if (there === null || digest(there) !== expected) return null;
      writeProjectFile(target, bytes);
      return digest(bytes);
    },
    inspect: async (paths) =>
      paths.flatMap((path) =>
        findConflictCopies(path, listNames(dirname(join(top, path)))).map(
          (copy) => `${join(top, copy)} is a conflict copy: look whether it has something that ${path} lacks`,
        ),
      ),
  };
}

function requireTop(folder: string): void {
  if (isFolder(folder)) return;
  throw new HandoverError('HANDOVER_REMOTE_UNREACHABLE', `the folder ${folder} is not there`, {
    hint: 'See whether the drive is mounted, then publish again; or mend publish.folder.path in your config.toml.',
  });
}
