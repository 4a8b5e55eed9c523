import { basename, join } from 'node:path';
import { HandoverError, isErrno } from '../../errors.ts';
import { trimCacheFolder, writeCacheFile } from '../../platform/cache-file.ts';
import type { CachedProgram } from '../../platform/code-cache.ts';
import { ensurePrivateFolder, isFolder } from '../../platform/folders.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { CODE_FOLDER, findDataFolder, nameDataFolder } from '../../platform/paths.ts';

/** A megabyte a command, for a version or two of Node. */
const LIMITS = { files: 100, bytes: 32 * 1024 * 1024 };

/** For the end of a program: keeps it for the next time, if it is now warmth more than what is kept, or if that isIncomplete a part. */
export function storeProgram(
  { path, warmth: before, isIncomplete, pack }: CachedProgram,
  { worth, machine }: { worth: number; machine: Machine },
): void {
  if (path === null || (worth <= before && !isIncomplete)) return;
  try {
    const folder = ensurePrivateFolder(findDataFolder(machine), ...CODE_FOLDER);
    writeCacheFile(join(folder, basename(path)), pack(Math.max(worth, before)));
    trimCacheFolder(folder, LIMITS);
  } catch (error) {
    // Nothing is lost but time.
    if (!isErrno(error) && !(error instanceof HandoverError)) throw error;
  }
}

/** The same, but only where there is a store already: looking into nothing must not make one. */
export function storeProgramIfStoreExists(program: CachedProgram, worth: number): void {
  const machine = describeMachine(process.env, '/');
  const root = nameDataFolder(machine);
  if (root !== null && isFolder(root)) storeProgram(program, { worth, machine });
}
