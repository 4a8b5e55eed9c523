import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { HandoverError, hasErrno } from '../errors.ts';
import {
  createFileDurably,
  isOpenToOthers,
  readRegularFile,
  writeFileDurably,
} from '../platform/durable-file.ts';
import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { findConfigFolder } from '../platform/paths.ts';
import { ensurePrivateFolder } from '../platform/private-folder.ts';
import { generateAgeKey, readIdentities } from './age.ts';
import {
  formatPublicKeyFile,
  formatSecretKeyFile,
  generateSecretKey,
  parseSecretKey,
  type SecretKey,
} from './minisign.ts';

/** The keys of this user: one to sign with, by the name that others know it by, and one to be sent locked bundles. */
export interface OwnKeys {
  name: string;
  secret: SecretKey;
  /** Of age. */
  identity: string;
}

const SECRET = 'signing.key';
const PUBLIC = 'signing.pub';
const IDENTITY = 'age.key';
const NAME = 'signer';
const MAX_BYTES = 64 * 1024;

export function findKeysFolder(machine: Machine): string {
  return join(findConfigFolder(machine), 'keys');
}

function ensureKeysFolder(machine: Machine): string {
  return ensurePrivateFolder(findConfigFolder(machine), 'keys');
}

/** Makes the keys of this user. Never over others: what was locked for them could not be opened any more. */
export async function generateKeys(machine: Machine, name: string): Promise<OwnKeys> {
  const folder = ensureKeysFolder(machine);
  if (pathExists(join(folder, SECRET))) throw refuseOther(folder);
  const secret = generateSecretKey(randomBytes);
  const { identity, recipient } = await generateAgeKey();
  writeFileDurably(join(folder, PUBLIC), formatPublicKeyFile(secret));
  writeFileDurably(join(folder, IDENTITY), `# public key: ${recipient}\n${identity}\n`);
  writeFileDurably(join(folder, NAME), `${name}\n`);
  // Last, for it is by this file that there are keys.
  if (!createFileDurably(join(folder, SECRET), formatSecretKeyFile(secret))) throw refuseOther(folder);
  return { name, secret, identity };
}

function refuseOther(folder: string): HandoverError {
  return new HandoverError('HANDOVER_USAGE', `there is a key already: ${join(folder, SECRET)}`, {
    hint: 'To begin anew, move the whole folder away first, and tell those who trust the old key.',
  });
}

/** Null where this user has no keys. */
export function readOwnKeys(machine: Machine): OwnKeys | null {
  const folder = findKeysFolder(machine);
  const secretText = readKeyFile(join(folder, SECRET));
  if (secretText === null) return null;
  const secret = parseSecretKey(secretText);
  const [identity] = readIdentities(readKeyFile(join(folder, IDENTITY)) ?? '');
  const name = readKeyFile(join(folder, NAME))?.trim();
  if (secret === null || identity === undefined || name === undefined) {
    throw new HandoverError('HANDOVER_CONFIG_INVALID', `the keys in ${folder} cannot be read`, {
      hint: 'A key with a password is not supported here. Put the files back, or move the folder away and run: handover keys generate',
    });
  }
  return { name, secret, identity };
}

export function requireOwnKeys(machine: Machine): OwnKeys {
  const keys = readOwnKeys(machine);
  if (keys !== null) return keys;
  throw new HandoverError('HANDOVER_KEY_MISSING', 'there is no key to sign with', {
    hint: 'Make one: handover keys generate',
  });
}

function readKeyFile(path: string): string | null {
  try {
    if (isOpenToOthers(path)) {
      throw new HandoverError('HANDOVER_PERMISSION', `${path} is open to other users`, {
        hint: `Take their access away: chmod 600 ${path}`,
      });
    }
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
