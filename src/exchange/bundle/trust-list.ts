import { join } from 'node:path';
import { HandoverError, hasErrno } from '../../errors.ts';
import { readRegularFile, writeFileDurably } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { withLock } from '../../platform/lock.ts';
import type { Machine } from '../../platform/machine.ts';
import { findConfigFolder } from '../../platform/paths.ts';
import { malformedError, untrustedError } from '../errors.ts';
import { fingerprint, formatPublicKey, isSameKey, type PublicKey, parsePublicKey } from './minisign.ts';

/** ASCII only, so that no name looks like another. `none` stands for nobody. */
const SIGNER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@+-]{0,62}[A-Za-z0-9._@+-])?$/;

export function isSignerName(text: string): boolean {
  return SIGNER_NAME.test(text) && text.toLowerCase() !== 'none';
}

export function assertSignerName(text: string): void {
  if (isSignerName(text)) return;
  throw new HandoverError(
    'HANDOVER_USAGE',
    'the name of a signer has 1 to 64 letters, digits, blanks or ._@+-',
    { hint: 'Give one with --name, such as --name alice' },
  );
}

export interface TrustedKey {
  state: 'trusted' | 'revoked';
  key: PublicKey;
  name: string;
}

const NAME = 'trusted-keys';
const MAX_BYTES = 1024 * 1024;
const HEAD =
  '# Keys whose bundles may be imported. One a line: trusted or revoked, the public key (as minisign has it), the signer.\n';
const LINE = /^(trusted|revoked)\s+([A-Za-z0-9+/=]{56})\s+(\S.*)$/;

export function findTrustList(machine: Machine): string {
  return join(findConfigFolder(machine), NAME);
}

/** A line that cannot be read stops everything: trust must not hang on a slip of the pen. */
export function readTrustList(machine: Machine): TrustedKey[] {
  const path = findTrustList(machine);
  return readLines(path).flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const [, state, text = '', name = ''] = LINE.exec(line.trim()) ?? [];
    const key = parsePublicKey(text);
    if (key === null || !isSignerName(name)) {
      throw new HandoverError('HANDOVER_CONFIG_INVALID', `${path} cannot be read at line ${index + 1}`, {
        hint: 'Mend or remove that line.',
      });
    }
    return [{ state: state === 'revoked' ? 'revoked' : 'trusted', key, name }];
  });
}

function readLines(path: string): string[] {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8').split('\n');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** Pins a key to a name. A name has one trusted key, a key has one name, and a revoked key stays revoked. */
export function trustKey(machine: Machine, key: PublicKey, name: string): void {
  assertSignerName(name);
  changeTrustList(machine, (lines) => {
    const known = readTrustList(machine);
    const same = known.find((entry) => isSameKey(entry.key, key));
    if (same?.state === 'revoked') throw revokedError(same);
    if (same !== undefined && same.name !== name) throw alreadyTrustedError(same);
    if (same !== undefined) return lines;
    const other = findTrusted(known, name);
    if (other !== undefined) throw changedKeyError(other, key);
    return [...lines, `trusted ${formatPublicKey(key)} ${name}`];
  });
}

/** Whoever makes a key needs a name that is not that of another key here. */
export function assertNameIsFree(machine: Machine, name: string): void {
  assertSignerName(name);
  const other = findTrusted(readTrustList(machine), name);
  if (other === undefined) return;
  throw new HandoverError('HANDOVER_USAGE', `${name} is the name of a key that you trust`, {
    hint: `Take another name with --name, or if that key was yours: handover keys revoke "${name}"`,
  });
}

export function findTrusted(list: readonly TrustedKey[], name: string): TrustedKey | undefined {
  return list.find((entry) => entry.name === name && entry.state === 'trusted');
}

function alreadyTrustedError({ name }: TrustedKey): HandoverError {
  return new HandoverError('HANDOVER_USAGE', `that key is trusted already, as the key of ${name}`, {
    hint: 'See: handover keys list',
  });
}

/** Marks every key that is meant as revoked, by name, public key or fingerprint. The lines stay, so that it is remembered. */
export function revokeKeys(machine: Machine, words: string): TrustedKey[] {
  const isMeant = makeMatcher(words);
  const meant = readTrustList(machine).filter(isMeant);
  if (meant.length === 0) {
    throw new HandoverError('HANDOVER_NOT_FOUND', 'no key on the trust list has that name or fingerprint', {
      hint: 'See them with: handover keys list',
    });
  }
  const texts = new Set(meant.map(({ key }) => formatPublicKey(key)));
  changeTrustList(machine, (lines) =>
    lines.map((line) =>
      texts.has(LINE.exec(line.trim())?.[2] ?? '') ? line.replace(/^(\s*)trusted/, '$1revoked') : line,
    ),
  );
  return meant;
}

function makeMatcher(words: string): (entry: TrustedKey) => boolean {
  const text = words.trim();
  const hex = text.replace(/[\s:]/g, '').toLowerCase();
  return ({ name, key }) =>
    name === text ||
    formatPublicKey(key) === text ||
    (hex.length >= 8 && fingerprint(key).replaceAll(' ', '').startsWith(hex));
}

const LOCK_WAIT_MS = 2000;

function changeTrustList(machine: Machine, change: (lines: string[]) => string[]): void {
  const folder = ensurePrivateFolder(findConfigFolder(machine), 'locks');
  const path = findTrustList(machine);
  withLock({ folder, name: NAME, waitMs: LOCK_WAIT_MS, clock: machine.clock }, () => {
    const before = readLines(path).filter((line, index, all) => line !== '' || index < all.length - 1);
    const after = change(before);
    const text = `${before.length === 0 ? HEAD : ''}${after.map((line) => `${line}\n`).join('')}`;
    writeFileDurably(path, text);
  });
}

export function revokedError({ name, key }: TrustedKey): HandoverError {
  return untrustedError(
    `the key of ${name} was revoked: ${fingerprint(key)}`,
    'Ask the sender for a bundle signed with a new key, and how the old one was lost.',
  );
}

/** The one thing that must never be waved through: a known name with another key. */
export function changedKeyError({ name, key }: TrustedKey, other: PublicKey): HandoverError {
  return untrustedError(
    `the key of ${name} has changed\n  known key:   ${fingerprint(key)}\n  other key:   ${fingerprint(other)}`,
    `Somebody may pose as ${name}. Ask in person. If the key really is new: handover keys revoke "${name}", then handover keys trust ${formatPublicKey(other)} --name "${name}"`,
    { known: fingerprint(key), other: fingerprint(other) },
  );
}

/** What a bundle says of its signer. Nothing of it is believed. */
export interface SignerClaim {
  name: string;
  key: PublicKey;
  /** Whether the signature over the bundle is one of this key. */
  isSignedBy(key: PublicKey): boolean;
}

export interface SignerIdentity {
  name: string;
  key: PublicKey;
}

/** Asked when a key is met for the first time: the user vouches for it, and it is pinned, or this throws. */
export type ConfirmSigner = (stranger: SignerIdentity) => Promise<void>;

/**
 * Who signed a bundle, by the trust list. The key in the bundle only says which one to look for: what is verified with is
 * the key on the list. A stranger is introduced first, and only with a signature that holds.
 */
export async function checkSigner(
  claim: SignerClaim,
  machine: Machine,
  introduce: ConfirmSigner,
): Promise<SignerIdentity> {
  const list = readTrustList(machine);
  const known = list.find((entry) => isSameKey(entry.key, claim.key));
  if (known !== undefined) return verifyKnown(known, claim);
  const namesake = findTrusted(list, claim.name);
  if (namesake !== undefined) throw changedKeyError(namesake, claim.key);
  if (!claim.isSignedBy(claim.key)) throw malformedError('signature');
  const stranger = { name: claim.name, key: claim.key };
  await introduce(stranger);
  return stranger;
}

function verifyKnown(entry: TrustedKey, claim: SignerClaim): SignerIdentity {
  if (entry.state === 'revoked') throw revokedError(entry);
  if (!claim.isSignedBy(entry.key)) throw malformedError('signature');
  return { name: entry.name, key: entry.key };
}

export function unknownSignerError({ name, key }: SignerIdentity): HandoverError {
  return untrustedError(
    `the bundle is signed by ${name}, whose key is not known here\n  fingerprint: ${fingerprint(key)}`,
    `Compare the fingerprint with the sender, then: handover keys trust ${formatPublicKey(key)} --name "${name}"`,
    { signer: name, fingerprint: fingerprint(key), key: formatPublicKey(key) },
  );
}
