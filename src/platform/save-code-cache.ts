import { basename, join } from 'node:path';
import { catchIf, isFailure } from '../errors.ts';
import { trimCacheFolder, writeCacheFile } from './cache-file.ts';
import type { CachedProgram } from './code-cache.ts';
import { ensurePrivateFolder, isFolder } from './folders.ts';
import { describeMachine, type Machine } from './machine.ts';
import { CODE_FOLDER, findDataFolder, nameDataFolder } from './paths.ts';

/** A megabyte a command, for a version or two of Node. */
const LIMITS = { files: 100, bytes: 32 * 1024 * 1024 };

/** Called at the end of a program: stores its compiled code if that is warmer or more complete than what is stored. */
export function saveCompiledCode(
  { path, warmth: before, isIncomplete, pack }: CachedProgram,
  { warmth, machine }: { warmth: number; machine: Machine },
): void {
  if (path === null || (warmth <= before && !isIncomplete)) return;
  // Without the cache the next start is only slower.
  catchIf(isFailure, undefined, () => {
    const folder = ensurePrivateFolder(findDataFolder(machine), ...CODE_FOLDER);
    writeCacheFile(join(folder, basename(path)), pack(Math.max(warmth, before)));
    trimCacheFolder(folder, LIMITS);
  });
}

/** The same, but only where a store exists: commands that only look must not create one. */
export function saveCompiledCodeIfStoreExists(program: CachedProgram, warmth: number): void {
  const machine = describeMachine(process.env, '/');
  const root = nameDataFolder(machine);
  if (root !== null && isFolder(root)) saveCompiledCode(program, { warmth, machine });
}
