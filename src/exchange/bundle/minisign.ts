import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { catchIf, HandoverError } from '../../errors.ts';
import { sha256Bytes, sha256Hex } from '../../model/hash.ts';

/** Ed25519 keys and signatures, in the formats of the minisign program. */
export interface PublicKey {
  /** Eight bytes by which minisign looks up a key. Chosen by its maker, so they prove nothing. */
  id: Buffer;
  key: Buffer;
}

export type SecretKey = PublicKey & { seed: Buffer };

export interface Signature {
  id: Buffer;
  signature: Buffer;
  trustedComment: string;
  /** Over the signature and the trusted comment. */
  commentSignature: Buffer;
}

const ALGORITHM = Buffer.from('Ed');
const PREHASHED = Buffer.from('ED');
const CHECKSUM_ALGORITHM = Buffer.from('B2');
const ID_BYTES = 8;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

export function generateSecretKey(random: (count: number) => Buffer): SecretKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-KEY_BYTES);
  return makeSecretKey(seed, random(ID_BYTES));
}

export function makeSecretKey(seed: Buffer, id: Buffer): SecretKey {
  const spki = createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' });
  return { id, seed, key: spki.subarray(-KEY_BYTES) };
}

function privateKeyOf(seed: Buffer) {
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

/** For people to compare: 128 bits of the key's SHA-256, in groups of four. */
export function fingerprint({ key }: PublicKey): string {
  return (sha256Hex(key).slice(0, 32).match(/.{4}/g) ?? []).join(' ');
}

export function isSameKey(a: PublicKey, b: PublicKey): boolean {
  return a.key.equals(b.key);
}

/** The id that session-handoff gives to a key. */
export function idOfKey(key: Buffer): Buffer {
  return sha256Bytes(key).subarray(0, 8);
}

/** The line that minisign takes after `-P`. */
export function formatPublicKey({ id, key }: PublicKey): string {
  return Buffer.concat([ALGORITHM, id, key]).toString('base64');
}

export function formatPublicKeyFile(key: PublicKey): string {
  return `untrusted comment: minisign public key ${formatKeyId(key)}\n${formatPublicKey(key)}\n`;
}

/** As minisign prints it. */
function formatKeyId({ id }: { id: Buffer }): string {
  return Buffer.from(id)
    .reverse()
    .toString('hex')
    .toUpperCase()
    .replace(/^0+(?=.)/, '');
}

/** From the one line, or from a file of two. Null for anything else. */
export function parsePublicKey(text: string): PublicKey | null {
  const lines = text.trim().split(/\r?\n/);
  const line = lines.length === 2 && lines[0]?.startsWith('untrusted comment:') ? lines[1] : lines[0];
  if (lines.length > 2 || line === undefined) return null;
  const bytes = decodeBase64(line, ALGORITHM.length + ID_BYTES + KEY_BYTES);
  if (bytes === null || !bytes.subarray(0, 2).equals(ALGORITHM)) return null;
  const [id, key] = cut(bytes.subarray(2), ID_BYTES, KEY_BYTES);
  return id === undefined || key === undefined ? null : { id, key };
}

/** Without a password, as `minisign -G -W` writes it. */
export function formatSecretKeyFile({ id, seed, key }: SecretKey): string {
  const [noKdf, noSaltNorCost, noChecksum] = [Buffer.alloc(2), Buffer.alloc(48), Buffer.alloc(32)];
  const bytes = [ALGORITHM, noKdf, CHECKSUM_ALGORITHM, noSaltNorCost, id, seed, key, noChecksum];
  return `untrusted comment: minisign secret key ${formatKeyId({ id })}\n${Buffer.concat(bytes).toString('base64')}\n`;
}

/** Null for anything else, and for a key with a password. */
export function parseSecretKey(text: string): SecretKey | null {
  const [comment = '', line = '', ...rest] = text.trimEnd().split(/\r?\n/);
  const bytes = rest.length === 0 && comment.startsWith('untrusted comment:') ? decodeBase64(line, 158) : null;
  if (bytes === null || !bytes.subarray(0, 6).equals(Buffer.from('Ed\0\0B2'))) return null;
  const [id, seed, key] = cut(bytes.subarray(54), ID_BYTES, KEY_BYTES, KEY_BYTES);
  if (id === undefined || seed === undefined || key === undefined) return null;
  const secret = makeSecretKey(seed, id);
  return secret.key.equals(key) ? secret : null;
}

/** A signature file over the BLAKE2b-512 of the bytes, as minisign makes and verifies it. */
export function signFile(
  bytes: Uint8Array,
  secret: SecretKey,
  comments: { untrusted: string; trusted: string },
): string {
  const { untrusted, trusted } = comments;
  const signature = signBytes(hash(bytes), secret);
  const commentSignature = signBytes(Buffer.concat([signature, Buffer.from(trusted)]), secret);
  const line = Buffer.concat([PREHASHED, secret.id, signature]).toString('base64');
  return `untrusted comment: ${untrusted}\n${line}\ntrusted comment: ${trusted}\n${commentSignature.toString('base64')}\n`;
}

const SIGNATURE_FILE =
  /^untrusted comment: ?[^\n]{0,512}\n([A-Za-z0-9+/=]{1,200})\ntrusted comment: ([^\n]{0,1024})\n([A-Za-z0-9+/=]{1,200})\n?$/;

/** Only prehashed signatures, which is what minisign writes. */
export function parseSignature(text: string): Signature | null {
  const [, line = '', trustedComment = '', last = ''] = SIGNATURE_FILE.exec(text) ?? [];
  const bytes = decodeBase64(line, 2 + ID_BYTES + SIGNATURE_BYTES);
  const commentSignature = decodeBase64(last, SIGNATURE_BYTES);
  if (bytes === null || commentSignature === null || !bytes.subarray(0, 2).equals(PREHASHED)) return null;
  const [id, signature] = cut(bytes.subarray(2), ID_BYTES, SIGNATURE_BYTES);
  if (id === undefined || signature === undefined) return null;
  return { id, signature, trustedComment, commentSignature };
}

/** Whether this key signed the bytes and the trusted comment. */
export function verifyFile(bytes: Uint8Array, signature: Signature, key: PublicKey): boolean {
  const comment = Buffer.concat([signature.signature, Buffer.from(signature.trustedComment)]);
  return (
    signature.id.equals(key.id) &&
    verifyBytes(hash(bytes), signature.signature, key) &&
    verifyBytes(comment, signature.commentSignature, key)
  );
}

export function signBytes(bytes: Uint8Array, secret: SecretKey): Buffer {
  return sign(null, bytes, privateKeyOf(secret.seed));
}

export function verifyBytes(bytes: Uint8Array, signature: Uint8Array, { key }: PublicKey): boolean {
  const spki = { key: Buffer.concat([SPKI, key]), format: 'der', type: 'spki' } as const;
  return verify(null, bytes, createPublicKey(spki), signature);
}

function hash(bytes: Uint8Array): Buffer {
  return createHash('blake2b512').update(bytes).digest();
}

/** Null unless it is canonical base64 of exactly `length` bytes. */
export function decodeBase64(text: string, length: number): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text ? bytes : null;
}

function cut(bytes: Buffer, ...lengths: readonly number[]): Buffer[] {
  let at = 0;
  return lengths.map((length) => {
    at += length;
    return bytes.subarray(at - length, at);
  });
}

/** A line of minisign, among other words: as `keys export` prints it, as text or JSON. */
const KEY_LINE = /(?<![\w+/])RW[\w+/]{54}(?![\w+/=])/g;

/**
 * A public key of minisign, as a line, a file or what `keys export` prints, or in PEM; of session-handoff's secret key file
 * only the public part.
 */
export function readPublicKey(text: string): PublicKey {
  const [line = '', ...others] = new Set(text.match(KEY_LINE));
  const only = others.length === 0 ? parsePublicKey(line) : null;
  const key = parsePublicKey(text) ?? (text.includes('-----BEGIN') ? readPem(text) : only);
  if (key !== null) return key;
  const hint = 'Use what handover keys export prints, a minisign .pub file, or an Ed25519 key in PEM.';
  throw new HandoverError('HANDOVER_INPUT_INVALID', 'this is not a public key for signatures', { hint });
}

function readPem(text: string): PublicKey | null {
  const pem = catchIf(
    (error) => error instanceof Error && 'code' in error,
    null,
    () => createPublicKey(text),
  );
  if (pem?.asymmetricKeyType !== 'ed25519') return null;
  const key = pem.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
  return { id: idOfKey(key), key };
}
