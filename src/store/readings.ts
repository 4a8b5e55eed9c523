import { join } from 'node:path';
import { HandoverError, isErrno } from '../errors.ts';
import { trimCacheFolder, writeCacheFile } from '../platform/cache-file.ts';
import { readRegularFile, removeFile } from '../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder } from '../platform/folders.ts';
import { READINGS, type Store } from './store.ts';

/** What was read of transcripts, so that it need not be read again. A cache: without it, everything works as well. */
const LIMITS = { files: 64, bytes: 64 * 1024 * 1024 };

/** Null when there is none under the name, or none that can be had. */
export function readCheckpointFile(store: Store, name: string): Buffer | null {
  try {
    return readRegularFile(join(store.root, READINGS, name), LIMITS.bytes);
  } catch (error) {
    if (isErrno(error) || error instanceof HandoverError) return null;
    throw error;
  }
}

/** What was read goes with what was made of it. */
export function dropCheckpoints(store: Store): void {
  const folder = join(store.root, READINGS);
  for (const name of listFolder(folder)) removeFile(join(folder, name));
}

/** Does nothing where nothing can be written: the next reading is then a whole one. */
export function writeCheckpointFile(store: Store, name: string, parts: readonly Uint8Array[]): void {
  try {
    const folder = ensurePrivateFolder(store.root, READINGS);
    writeCacheFile(join(folder, name), parts);
    trimCacheFolder(folder, LIMITS);
  } catch (error) {
    if (!isErrno(error) && !(error instanceof HandoverError)) throw error;
  }
}
