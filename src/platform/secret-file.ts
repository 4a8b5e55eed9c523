import { statSync } from 'node:fs';
import { HandoverError, hasErrno } from '../errors.ts';
import { readHead } from './foreign-file.ts';

const MAX_BYTES = 64 * 1024;

/** The text of a file that holds a secret. One that others can read is refused, as ssh does. */
export function readSecretFile(path: string): string {
  const head = readHead(path, MAX_BYTES);
  if (head === null) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `${path} cannot be read`, {
      hint: 'It should hold a secret: see whether the file is there, and mend its path in your config.toml.',
    });
  }
  if (isOpenToOthers(path)) {
    throw new HandoverError('HANDOVER_PERMISSION', `${path} holds a secret that others can read`, {
      hint: `Close it: chmod 600 ${path}`,
    });
  }
  return head.bytes.toString('utf8');
}

function isOpenToOthers(path: string): boolean {
  if (process.platform === 'win32') return false;
  try {
    return (statSync(path).mode & 0o077) !== 0;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
