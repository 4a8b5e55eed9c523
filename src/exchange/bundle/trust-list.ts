import { join } from 'node:path';
import { HandoverError, notFoundError, usageError } from '../../errors.ts';
import type { Signer } from '../../model/handover.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { withLock } from '../../platform/lock.ts';
import { type Machine, nameHost } from '../../platform/machine.ts';
import { findConfigFolder } from '../../platform/paths.ts';
import { readProjectFile } from '../../platform/project-file.ts';
import { malformedError, unsignedError, untrustedError } from '../errors.ts';
import { fingerprint, formatPublicKey, isSameKey, type PublicKey, parsePublicKey } from './minisign.ts';

/** ASCII only, so that few names look alike. `none` is reserved. */
const SIGNER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@+-]{0,62}[A-Za-z0-9._@+-])?$/;

export function isSignerName(text: string): boolean {
  return SIGNER_NAME.test(text) && text.toLowerCase() !== 'none';
}

/** Of the user and the machine: one person's machines must not look alike. */
export function suggestSignerName({ env }: Machine): string {
  const name = `${env.USER ?? env.LOGNAME ?? 'me'}-${nameHost()}`.replace(/[^A-Za-z0-9._@+-]+/g, '-');
  const short = name.replace(/^[^A-Za-z0-9]+/, '').slice(0, 60);
  return isSignerName(short) ? short : 'me';
}

function assertSignerName(text: string): void {
  if (isSignerName(text)) return;
  const message = 'the name of a signer has 1 to 64 letters, digits, spaces or ._@+-';
  throw usageError(message, 'Choose one with --name, such as --name alice');
}

export type TrustedKey = { state: 'trusted' | 'revoked'; key: PublicKey; name: string };

const NAME = 'trusted-keys';
const MAX_BYTES = 1024 * 1024;
const HEAD =
  '# Keys whose bundles may be imported. One a line: trusted or revoked, the public key (as minisign has it), the signer.\n';
const LINE = /^(trusted|revoked)\s+([A-Za-z0-9+/=]{56})\s+(\S.*)$/;

export function findTrustList(machine: Machine): string {
  return join(findConfigFolder(machine), NAME);
}

/** A key with any revoked line is revoked in all. An invalid line is an error: trust must not depend on a typo. */
export function readTrustList(machine: Machine): TrustedKey[] {
  const path = findTrustList(machine);
  const list = readLines(path).flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const [, state, text = '', name = ''] = LINE.exec(line.trim()) ?? [];
    const key = parsePublicKey(text);
    if (key === null || !isSignerName(name))
      throw new HandoverError('HANDOVER_CONFIG_INVALID', `${path} cannot be read at line ${index + 1}`, {
        hint: 'Fix or remove that line.',
      });
    return [{ state, key, name }];
  });
  const revoked = new Set(list.flatMap(({ state, key }) => (state === 'revoked' ? [fingerprint(key)] : [])));
  return list.map(({ key, name }) => ({ state: revoked.has(fingerprint(key)) ? 'revoked' : 'trusted', key, name }));
}

function readLines(path: string): string[] {
  return readProjectFile(path, MAX_BYTES)?.toString('utf8').split('\n') ?? [];
}

/** Pins a key to a name. A name has one trusted key, a key one name, and a revoked key stays revoked. */
export function trustKey(machine: Machine, key: PublicKey, name: string): void {
  assertSignerName(name);
  changeTrustList(machine, (lines) => {
    const known = readTrustList(machine);
    const same = known.find((entry) => isSameKey(entry.key, key));
    if (same?.state === 'revoked') throw revokedError(same);
    if (same?.name === name) return lines;
    if (same !== undefined)
      throw usageError(`this key is trusted already, as the key of ${same.name}`, 'List keys: handover keys list');
    assertNoNamesake(known, { name, key });
    return [...lines, `trusted ${formatPublicKey(key)} ${name}`];
  });
}

/** A new key must not take the name of another trusted key. */
export function assertNameIsFree(machine: Machine, name: string): void {
  assertSignerName(name);
  const other = findTrusted(readTrustList(machine), name);
  if (other === undefined) return;
  const what = other.name === name ? 'is' : `looks like ${other.name},`;
  throw usageError(
    `${name} ${what} the name of a key that you trust`,
    `Choose another name with --name, or if that key was yours: handover keys revoke "${other.name}"`,
  );
}

/** The trusted key of that name, else of one that looks like it. */
export function findTrusted(list: readonly TrustedKey[], name: string): TrustedKey | undefined {
  const trusted = list.filter(({ state }) => state === 'trusted');
  return trusted.find((entry) => entry.name === name) ?? trusted.find((entry) => lookAlike(entry.name, name));
}

/** Whether a reader may confuse two names: the same but for case, separators and look-alikes, or with digits added to one. */
function lookAlike(a: string, b: string): boolean {
  return listLooks(a).includes(listLooks(b)[0] ?? '') || listLooks(b).includes(listLooks(a)[0] ?? '');
}

/** A name as it looks, by what Unicode's table of confusables has of ASCII; without digits before it; then without its last digit, its last two, … */
function listLooks(name: string): string[] {
  const signs = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '')
    .replace(/^[0-9]+(?=[a-z])/, '');
  const digits = /[0-9]*$/.exec(signs)?.[0].length ?? 0;
  return Array.from({ length: digits + 1 }, (_, cut) => {
    const letters = signs
      .slice(0, signs.length - cut)
      .replace(/[1i]/g, 'l')
      .replaceAll('0', 'o');
    return letters.replaceAll('rn', 'm').replaceAll('vv', 'w');
  });
}

/** For a key that is not on the list. */
function assertNoNamesake(list: readonly TrustedKey[], { name, key }: SignerIdentity): void {
  const other = findTrusted(list, name);
  if (other === undefined) return;
  if (other.name === name) throw changedKeyError(other, key);
  const [known, its] = [fingerprint(other.key), fingerprint(key)];
  throw untrustedError(
    `${name} looks like ${other.name}, whom you trust, and is not: the keys differ\n  ${other.name}: ${known}\n  ${name}: ${its}`,
    {
      hint: `Ask both in person. If they are two people, give this key a name that cannot be confused: handover keys trust ${formatPublicKey(key)} --name NAME`,
      data: { known: other.name, signer: name, fingerprint: its },
    },
  );
}

/** Marks keys as revoked, by name, public key or fingerprint. Their lines stay in the file. */
export function revokeKeys(machine: Machine, words: string): TrustedKey[] {
  const matching = readTrustList(machine).filter(makeMatcher(words));
  if (matching.length === 0)
    throw notFoundError('no key on the trust list has that name or fingerprint', 'List keys: handover keys list');
  const texts = new Set(matching.map(({ key }) => formatPublicKey(key)));
  changeTrustList(machine, (lines) =>
    lines.map((line) =>
      texts.has(LINE.exec(line.trim())?.[2] ?? '') ? line.replace(/^(\s*)trusted/, '$1revoked') : line,
    ),
  );
  return matching;
}

function makeMatcher(words: string): (entry: TrustedKey) => boolean {
  const text = words.trim();
  const hex = text.replace(/[\s:]/g, '').toLowerCase();
  return ({ name, key }) =>
    name === text ||
    formatPublicKey(key) === text ||
    (hex.length >= 8 && fingerprint(key).replaceAll(' ', '').startsWith(hex));
}

function changeTrustList(machine: Machine, change: (lines: string[]) => string[]): void {
  const folder = ensurePrivateFolder(findConfigFolder(machine), 'locks');
  const path = findTrustList(machine);
  withLock({ folder, name: NAME, waitMs: 2000, clock: machine.clock }, () => {
    const before = readLines(path).filter((line, index, all) => line !== '' || index < all.length - 1);
    const after = change(before);
    writeFileDurably(path, `${before.length === 0 ? HEAD : ''}${after.map((line) => `${line}\n`).join('')}`);
  });
}

function revokedError({ name, key }: TrustedKey): HandoverError {
  return untrustedError(`the key of ${name} was revoked: ${fingerprint(key)}`, {
    hint: 'Ask the sender for a bundle signed with a new key, and how the old one was lost.',
  });
}

/** A known name with another key is always refused. */
function changedKeyError({ name, key }: TrustedKey, other: PublicKey): HandoverError {
  const [was, is] = [fingerprint(key), fingerprint(other)];
  return untrustedError(`the key of ${name} has changed\n  known key:   ${was}\n  other key:   ${is}`, {
    hint: `Somebody may be posing as ${name}. Ask in person. If the key really is new: handover keys revoke "${name}", then handover keys trust ${formatPublicKey(other)} --name "${name}"`,
    data: { known: was, other: is },
  });
}

export type SignerIdentity = Pick<TrustedKey, 'name' | 'key'>;

/** What a bundle claims about its signer; untrusted. */
export type SignerClaim = SignerIdentity & { isSignedBy(key: PublicKey): boolean };

export interface SignerOptions {
  machine: Machine;
  allowUnsigned: boolean;
  /** Called for an unknown key: pins it if the user vouches for it, else throws. */
  confirmSigner(signer: SignerIdentity): Promise<void>;
}

/**
 * Who signed a bundle; null for an unsigned one, if that is allowed. The key in the bundle only selects an entry of the
 * trust list; that entry's key verifies. An unknown signer is confirmed only if the signature is valid.
 */
export async function checkSigner(claim: SignerClaim | null, options: SignerOptions): Promise<Signer | null> {
  if (claim === null && options.allowUnsigned) return null;
  if (claim === null) throw unsignedError();
  const list = readTrustList(options.machine);
  const known = list.find((entry) => isSameKey(entry.key, claim.key));
  if (known?.state === 'revoked') throw revokedError(known);
  if (known === undefined) assertNoNamesake(list, claim);
  const { name, key } = known ?? claim;
  if (!claim.isSignedBy(key)) throw malformedError('signature');
  if (known === undefined) await options.confirmSigner({ name, key });
  return { name, key: fingerprint(key) };
}

export function unknownSignerError({ name, key }: SignerIdentity): HandoverError {
  return untrustedError(
    `the bundle is signed by ${name}, whose key is not known here\n  fingerprint: ${fingerprint(key)}`,
    {
      hint: `Compare the fingerprint with the sender, then: handover keys trust ${formatPublicKey(key)} --name "${name}"`,
      data: { signer: name, fingerprint: fingerprint(key), key: formatPublicKey(key) },
    },
  );
}
