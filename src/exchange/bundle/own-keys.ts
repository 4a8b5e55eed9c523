import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { HandoverError, hasErrno } from '../../errors.ts';
import { isOpenToOthers, readRegularFile, writeFileDurably } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { withLock } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { findConfigFolder } from '../../platform/paths.ts';
import { untrustedError } from '../errors.ts';
import { type AgeKeyPair, generateAgeKey, readIdentities } from './age.ts';
import {
  fingerprint,
  formatPublicKeyFile,
  formatSecretKeyFile,
  generateSecretKey,
  isSameKey,
  parseSecretKey,
  type SecretKey,
} from './minisign.ts';
import { assertNameIsFree, findTrusted, readTrustList, trustKey } from './trust-list.ts';

/** This user's keys for signing and for receiving encrypted bundles. */
export interface OwnKeys {
  name: string;
  secret: SecretKey;
  /** For age. */
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

/** Never replaces keys: what was encrypted to them could not be read any more. Completes what a killed call left. */
export async function generateKeys(machine: Machine, name: string): Promise<OwnKeys> {
  const fresh = await generateAgeKey();
  const folder = ensurePrivateFolder(findConfigFolder(machine), 'keys');
  const locks = ensurePrivateFolder(findConfigFolder(machine), 'locks');
  return withLock({ folder: locks, name: 'keys', waitMs: 2000, clock: machine.clock }, () => {
    const known = readOwnKeys(machine);
    if (known !== null) {
      const list = readTrustList(machine);
      const isListed = list.some(({ key }) => isSameKey(key, known.secret));
      if (!isListed && findTrusted(list, known.name) === undefined) trustKey(machine, known.secret, known.name);
      throw new HandoverError('HANDOVER_USAGE', `there is a key already: ${join(folder, SECRET)}`, {
        hint: 'To start over, move the whole folder away first, and tell those who trust the old key.',
      });
    }
    assertNameIsFree(machine, name);
    const keys = writeKeys(folder, name, fresh);
    trustKey(machine, keys.secret, name);
    return keys;
  });
}

/** Keeps an age key that is there already: bundles may be encrypted to it. */
function writeKeys(folder: string, name: string, { identity: fresh, recipient }: AgeKeyPair): OwnKeys {
  const secret = generateSecretKey(randomBytes);
  const [left] = readIdentities(readKeyFile(join(folder, IDENTITY)) ?? '');
  if (left === undefined) writeFileDurably(join(folder, IDENTITY), `# public key: ${recipient}\n${fresh}\n`);
  writeFileDurably(join(folder, PUBLIC), formatPublicKeyFile(secret));
  writeFileDurably(join(folder, NAME), `${name}\n`);
  // Last: keys exist once this file does.
  writeFileDurably(join(folder, SECRET), formatSecretKeyFile(secret));
  return { name, secret, identity: left ?? fresh };
}

export function readOwnKeys(machine: Machine): OwnKeys | null {
  const folder = findKeysFolder(machine);
  const secretText = readKeyFile(join(folder, SECRET));
  if (secretText === null) return null;
  const secret = parseSecretKey(secretText);
  const [identity] = readIdentities(readKeyFile(join(folder, IDENTITY)) ?? '');
  const name = readKeyFile(join(folder, NAME))?.trim();
  if (secret === null || identity === undefined || name === undefined)
    throw new HandoverError('HANDOVER_CONFIG_INVALID', `the keys in ${folder} cannot be read`, {
      hint: 'A key with a password is not supported here. Put the files back, or move the folder away and run: handover keys generate',
    });
  return { name, secret, identity };
}

export function requireOwnKeys(machine: Machine): OwnKeys {
  const keys = readOwnKeys(machine);
  if (keys !== null) return keys;
  throw new HandoverError('HANDOVER_KEY_MISSING', 'there is no key to sign with', {
    hint: 'Make one: handover keys generate',
  });
}

/** A revoked key must not sign: it may be in other hands. */
export function requireSigner(machine: Machine): OwnKeys {
  const keys = requireOwnKeys(machine);
  const listed = readTrustList(machine).find(({ key }) => isSameKey(key, keys.secret));
  if (listed?.state !== 'revoked') return keys;
  throw untrustedError(`your key was revoked: ${fingerprint(keys.secret)}`, {
    hint: `To make new ones, move ${findKeysFolder(machine)} away, then: handover keys generate`,
  });
}

function readKeyFile(path: string): string | null {
  try {
    if (isOpenToOthers(path))
      throw new HandoverError('HANDOVER_PERMISSION', `${path} is open to other users`, {
        hint: `Remove their access: chmod 600 ${path}`,
      });
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
