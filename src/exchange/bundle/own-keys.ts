import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { catchErrno, HandoverError, usageError } from '../../errors.ts';
import { isOpenToOthers, readRegularFile, writeFileDurably } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { withLock } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { findConfigFolder } from '../../platform/paths.ts';
import { untrustedError } from '../errors.ts';
import { type AgeKeyPair, generateAgeKey, readIdentities } from './age.ts';
import * as minisign from './minisign.ts';
import { assertNameIsFree, findTrusted, readTrustList, trustKey } from './trust-list.ts';

/** This user's keys for signing and for receiving encrypted bundles. */
export interface OwnKeys {
  name: string;
  secret: minisign.SecretKey;
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
      const isListed = list.some(({ key }) => minisign.isSameKey(key, known.secret));
      if (!isListed && findTrusted(list, known.name) === undefined) trustKey(machine, known.secret, known.name);
      const hint = 'To start over, move the whole folder away first, and tell those who trust the old key.';
      throw usageError(`there is a key already: ${join(folder, SECRET)}`, hint);
    }
    assertNameIsFree(machine, name);
    const keys = writeKeys(folder, name, fresh);
    trustKey(machine, keys.secret, name);
    return keys;
  });
}

/** Keys that are kept nowhere, to show what would be sent. */
export async function makePassingKeys(): Promise<OwnKeys> {
  const { identity } = await generateAgeKey();
  return { name: 'nobody', secret: minisign.generateSecretKey(randomBytes), identity };
}

/** Keeps an age key that is there already: bundles may be encrypted to it. */
function writeKeys(folder: string, name: string, { identity: fresh, recipient }: AgeKeyPair): OwnKeys {
  const secret = minisign.generateSecretKey(randomBytes);
  const [left] = readIdentities(readKeyFile(join(folder, IDENTITY)) ?? '');
  if (left === undefined) writeFileDurably(join(folder, IDENTITY), `# public key: ${recipient}\n${fresh}\n`);
  writeFileDurably(join(folder, PUBLIC), minisign.formatPublicKeyFile(secret));
  writeFileDurably(join(folder, NAME), `${name}\n`);
  // Last: keys exist once this file does.
  writeFileDurably(join(folder, SECRET), minisign.formatSecretKeyFile(secret));
  return { name, secret, identity: left ?? fresh };
}

export function readOwnKeys(machine: Machine): OwnKeys | null {
  const folder = findKeysFolder(machine);
  const secretText = readKeyFile(join(folder, SECRET));
  if (secretText === null) return null;
  const secret = minisign.parseSecretKey(secretText);
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
  const hint = 'Make one: handover keys generate';
  throw new HandoverError('HANDOVER_KEY_MISSING', 'there is no key to sign with', { hint });
}

/** A revoked key must not sign: it may be in other hands. */
export function requireSigner(machine: Machine): OwnKeys {
  const keys = requireOwnKeys(machine);
  const listed = readTrustList(machine).find(({ key }) => minisign.isSameKey(key, keys.secret));
  if (listed?.state !== 'revoked') return keys;
  const hint = `To make new ones, move ${findKeysFolder(machine)} away, then: handover keys generate`;
  throw untrustedError(`your key was revoked: ${minisign.fingerprint(keys.secret)}`, { hint });
}

function readKeyFile(path: string): string | null {
  return catchErrno(['ENOENT', 'ENOTDIR'], null, () => {
    const hint = `Remove their access: chmod 600 ${path}`;
    if (isOpenToOthers(path))
      throw new HandoverError('HANDOVER_PERMISSION', `${path} is open to other users`, { hint });
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  });
}
