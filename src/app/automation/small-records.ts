import { join } from 'node:path';
import { HandoverError, isErrno } from '../../errors.ts';
import { isShapedLike } from '../../model/shape.ts';
import { writeSmallCacheFile } from '../../platform/cache-file.ts';
import { readRegularFile } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';

const MAX_BYTES = 1024 * 1024;

/** The text of a small file of ours; null when there is none that can be had. */
export function readSmallFile(path: string): string | null {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (isErrno(error) || error instanceof HandoverError) return null;
    throw error;
  }
}

/** Null for anything that is not built like the example. */
export function parseRecord<T extends object>(text: string | null, example: T): T | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isShapedLike(value, example) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function readRecord<T extends object>(path: string, example: T): T | null {
  return parseRecord(readSmallFile(path), example);
}

/** Replaces a small file below the store. */
export function writeRecord(
  store: string,
  [folders, name]: readonly [readonly string[], string],
  record: object,
): void {
  const folder = ensurePrivateFolder(store, ...folders);
  writeSmallCacheFile(join(folder, name), JSON.stringify(record));
}
