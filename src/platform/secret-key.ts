import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import { createFileDurably, readRegularFile } from './durable-file.ts';
import { ensurePrivateFolder } from './private-folder.ts';

const KEY_BYTES = 32;

/** The file of the key by which marks of secrets are computed, in the store's folder. */
export const REDACTION_KEY = 'redaction.key';

/** Null when there is none. */
export function findSecretKey(path: string): Uint8Array | null {
  try {
    const key = readRegularFile(path, KEY_BYTES);
    if (key.length === KEY_BYTES) return key;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
  throw new HandoverError('HANDOVER_STORE_DAMAGED', `${path} is not a key`, {
    hint: 'Move it away: the next command makes a new one, and equal secrets look different before and after.',
  });
}

/** Makes the key on first use. Of two that make it at once, one wins, and both use its key. */
export function requireSecretKey(folder: string, name: string): Uint8Array {
  const path = join(ensurePrivateFolder(folder), name);
  const known = findSecretKey(path);
  if (known !== null) return known;
  const key = randomBytes(KEY_BYTES);
  return createFileDurably(path, key) ? key : (findSecretKey(path) ?? key);
}
