import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { catchErrno, HandoverError, notFoundError } from '../errors.ts';
import { createFileDurably, readRegularFile } from './durable-file.ts';
import { readHead } from './external-file.ts';
import { ensurePrivateFolder } from './folders.ts';

const KEY_BYTES = 32;

/** The key for the markers of redacted secrets, in the store's folder. */
export const REDACTION_KEY = 'redaction.key';

/** Null when there is none. */
export function findSecretKey(path: string): Uint8Array | null {
  const key = catchErrno(['ENOENT', 'ENOTDIR'], null, () => readRegularFile(path, KEY_BYTES));
  if (key === null || key.length === KEY_BYTES) return key;
  const hint = 'Move it away: the next command makes a new one, with which the same secret gets another placeholder.';
  throw new HandoverError('HANDOVER_STORE_DAMAGED', `${path} is not a key`, { hint });
}

/** Creates the key on first use. Of two processes at once one wins, and both use its key. */
export function requireSecretKey(folder: string, name: string): Uint8Array {
  const path = join(ensurePrivateFolder(folder), name);
  const known = findSecretKey(path);
  if (known !== null) return known;
  const key = randomBytes(KEY_BYTES);
  return createFileDurably(path, key) ? key : (findSecretKey(path) ?? key);
}

const MAX_BYTES = 64 * 1024;

/** The text of a file that holds a secret. One that others can read is refused, as ssh does. */
export function readSecretFile(path: string): string {
  const head = readHead(path, MAX_BYTES);
  if (head === null)
    throw notFoundError(
      `${path} cannot be read`,
      'It should contain a secret: check that the file exists, and correct its path in your config.toml.',
    );
  const mode = catchErrno(['ENOENT'], 0, () => statSync(path).mode);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new HandoverError('HANDOVER_PERMISSION', `${path} holds a secret that others can read`, {
      hint: `Restrict it: chmod 600 ${path}`,
    });
  return head.bytes.toString('utf8');
}
