import { dirname, join } from 'node:path';
import { HandoverError, hasErrno } from '../../errors.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { createFileDurably, hasHardLinks, isTempName, removeFile } from '../../platform/durable-file.ts';
import { isFolder, pathExists, walkFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { toRelativePath } from '../../platform/project.ts';
import { ensureProjectFolder, readProjectFile } from '../../platform/project-file.ts';
import type { BlobStore } from './blobs.ts';
import type { RemoteCheck } from './remote.ts';

/** A folder on a shared disk. It must exist: a missing one may be a drive that is not mounted. Files get the usual permissions. */
export function openFolderBlobs(address: string, machine: Machine): BlobStore {
  const folder = expandHome(address, machine);
  const assertThere = (): void => {
    if (!isFolder(folder)) throw unreachableError(folder);
  };
  const create: BlobStore['create'] = async (path, bytes) => {
    assertThere();
    const target = join(folder, path);
    return explain(folder, () => {
      ensureProjectFolder(folder, ...toRelativePath(folder, dirname(target)).split('/'));
      return createFileDurably(target, bytes, { mode: 'usual' });
    });
  };
  const remove: BlobStore['remove'] = async (paths) => {
    assertThere();
    for (const path of paths) explain(folder, () => removeFile(join(folder, path)));
  };
  return {
    address,
    create,
    createAll: async (blobs) => {
      for (const { path, bytes } of blobs) await create(path, bytes);
    },
    read: async (path, maxBytes) => {
      assertThere();
      return explain(folder, () => readProjectFile(join(folder, path), maxBytes));
    },
    list: async (below, most = Number.POSITIVE_INFINITY) => {
      assertThere();
      const paths: string[] = [];
      for (const { path, kind, name } of walkFolder(join(folder, below))) {
        if (kind !== 'file' || isTempName(name)) continue;
        if (paths.push(toRelativePath(folder, path)) > most) throw tooManyError(below, most);
      }
      return paths.sort(compareCodeUnits);
    },
    remove,
    check: async () => {
      if (!isFolder(folder)) return [describeFailure(unreachableError(folder))];
      return await checkWrites({ create, remove }, machine);
    },
    close: async () => undefined,
  };
}

/** Whether a blob can be created, and only once. */
export async function checkWrites(
  { create, remove }: Pick<BlobStore, 'create' | 'remove'>,
  { random }: Machine,
): Promise<RemoteCheck[]> {
  const probe = `probes/${Buffer.from(random.bytes(8)).toString('hex')}`;
  try {
    const isNew = await create(probe, Buffer.from('\n'));
    const again = await create(probe, Buffer.from('\n'));
    await remove([probe]);
    const isGood = isNew && !again;
    const found = isGood ? 'it can be written, and nothing there is overwritten' : 'what is there can be overwritten';
    return [
      { name: 'reachable', isGood: true, found: 'yes' },
      { name: 'conditional writes', isGood, found },
    ];
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    return [describeFailure(error)];
  }
}

function describeFailure({ message, hint = '' }: HandoverError): RemoteCheck {
  return { name: 'reachable', isGood: false, found: `${message}${hint === '' ? '' : `. ${hint}`}` };
}

/** A disk that disappears meanwhile counts as a remote that cannot be reached. */
function explain<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (hasErrno(cause, 'EACCES', 'EPERM', 'EROFS'))
      throw new HandoverError('HANDOVER_REMOTE_REFUSED', `${folder} cannot be written by this user`, {
        hint: 'Ask its owner for access.',
        cause,
      });
    if (hasErrno(cause, 'ENODEV', 'ESTALE', 'ENOTCONN', 'EHOSTDOWN', 'ETIMEDOUT'))
      throw unreachableError(folder, cause);
    throw cause;
  }
}

function unreachableError(folder: string, cause?: unknown): HandoverError {
  const what =
    pathExists(folder) && !isFolder(folder) ? `${folder} is not a folder` : `the folder ${folder} is not there`;
  return new HandoverError('HANDOVER_REMOTE_UNREACHABLE', what, {
    hint: 'Check that the drive is mounted, or create the folder. Nothing is lost: the next sync goes on.',
    cause,
  });
}

export function tooManyError(below: string, most: number): HandoverError {
  return new HandoverError('HANDOVER_TEXT_TOO_LARGE', `${below} has more than ${most} entries, and was not read`);
}

/** Files by which a folder that a program copies to other machines is recognised. */
const COPIED: readonly (readonly [mark: string, program: string])[] = [
  ['.stfolder', 'Syncthing'],
  ['.dropbox', 'Dropbox'],
  ['.dropbox.cache', 'Dropbox'],
  ['.owncloudsync.log', 'ownCloud'],
  ['.sync', 'Resilio Sync'],
];

/** Why several machines could create the same name in a folder; null where only one can. */
export function findFolderTrouble(folder: string): string | null {
  if (!isFolder(folder)) return null;
  for (let path = folder; ; path = dirname(path)) {
    const [, program] = COPIED.find(([mark]) => pathExists(join(path, mark))) ?? [];
    if (program !== undefined) return `${program} copies ${path} to other machines, and only later`;
    if (dirname(path) === path) break;
  }
  return hasHardLinks(folder) ? null : `the file system of ${folder} has no hard links`;
}
