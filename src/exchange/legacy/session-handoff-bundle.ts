import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import * as v from 'valibot';
import { sha256Hex } from '../../model/hash.ts';
import { acceptHandover } from '../bundle/accept-import.ts';
import { type DecryptionKeys, wrongPassphraseError } from '../bundle/age.ts';
import { holdsMoreValues, nameField, parseOrRefuse } from '../bundle/content.ts';
import { decodeBase64, idOfKey, type PublicKey, signBytes, verifyBytes } from '../bundle/minisign.ts';
import type { BundleContents, OpenOptions } from '../bundle/open-bundle.ts';
import type { OwnKeys } from '../bundle/own-keys.ts';
import { checkSigner, isSignerName, type SignerClaim } from '../bundle/trust-list.ts';
import { malformedError } from '../errors.ts';
import { nameRecordedProject, readSessionHandoffRecord, SessionHandoffRecord } from './session-handoff-record.ts';

/** Like Go's encoding/json: escapes markup and line separators. */
function formatGoText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The canonical form that session-handoff computes its checksum of. */
export function formatGoRecord(record: BundleRecord): string {
  const list = (texts: readonly string[]): string => `[${texts.map(formatGoText).join(',')}]`;
  const { id, created_at, tool, project, title, summary, next, changed } = record;
  const members = Object.entries({ id, created_at, tool, project, title, summary }).map(
    ([key, text]) => `"${key}":${formatGoText(text)}`,
  );
  members.push(`"next":${next === null ? 'null' : list(next)}`);
  if (changed.length > 0) members.push(`"changed":${list(changed)}`);
  return `{${members.join(',')}}`;
}

/** Like Go's MarshalIndent with two spaces. */
export function indentJson(json: string): string {
  let out = '';
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json.charAt(at);
    if (char === '"') {
      const end = endOfText(json, at);
      out += json.slice(at, end);
      at = end - 1;
    } else if (char === '{' || char === '[') {
      const isEmpty = json.charAt(at + 1) === '}' || json.charAt(at + 1) === ']';
      out += isEmpty ? char + json.charAt(++at) : `${char}\n${'  '.repeat(++depth)}`;
    } else if (char === '}' || char === ']') out += `\n${'  '.repeat(--depth)}${char}`;
    else if (char === ',') out += `,\n${'  '.repeat(depth)}`;
    else out += char === ':' ? ': ' : char;
  }
  return out;
}

function endOfText(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json.charAt(at) === '\\') at++;
    else if (json.charAt(at) === '"') return at + 1;
  }
  return json.length;
}

/** A record as it is signed: null and an empty list of steps have different checksums. */
export type BundleRecord = Omit<SessionHandoffRecord, 'next'> & { next: string[] | null };

const BundleFile = v.object({
  version: v.number(),
  checksum: v.nullish(v.string()),
  signer: v.nullish(v.object({ name: v.nullish(v.string()), key_id: v.nullish(v.string()), public_key: v.string() })),
  signature: v.nullish(v.string()),
  record: v.object({ ...SessionHandoffRecord.entries, next: v.nullish(v.array(v.string()), null) }),
});

/** Verified except for who signed it. No claim: it is unsigned, or of a version that has no signatures. */
type SessionHandoffBundle = { record: BundleRecord; claim: SignerClaim | null; missing: readonly string[] };

/** Strict, because it is parsed before the signature is checked. */
const LIMITS = { maxBytes: 8 * 1024 * 1024, maxDepth: 16 };
const MAX_VALUES = 20_000;

function parseBundleJson(bytes: Buffer): unknown {
  if (bytes.length > LIMITS.maxBytes) throw malformedError('size');
  if (holdsMoreValues(bytes, MAX_VALUES)) throw malformedError('number of values');
  return parseOrRefuse(bytes.toString('utf8'), 'JSON', LIMITS);
}

/** Unknown versions are always refused. */
export function readSessionHandoffBundle(value: unknown): SessionHandoffBundle {
  const result = v.safeParse(BundleFile, value);
  if (!result.success || Array.isArray(value))
    throw malformedError(`field ${result.success ? 'root' : nameField(result.issues[0])}`);
  const { version, checksum, signer, signature, record } = result.output;
  if (![1, 2, 3].includes(version)) throw malformedError('version');
  const sum = sha256Hex(formatGoRecord(record));
  const hasSum = typeof checksum === 'string' && checksum !== '';
  if ((version > 1 || hasSum) && checksum !== sum) throw malformedError('checksum');
  const isSigned = (signature ?? '') !== '' || (signer ?? null) !== null;
  if (version === 3) {
    const claim = readClaim(signer?.name ?? '', signer?.public_key ?? '', signature ?? '', sum);
    if (claim === null) throw malformedError('signature');
    return { record, claim, missing: [] };
  }
  const missing = ['a signature', ...(hasSum ? [] : ['a checksum'])];
  if (isSigned) missing.unshift(`the version that its signature needs (it says ${version})`);
  return { record, claim: null, missing };
}

function readClaim(name: string, publicKey: string, signature: string, sum: string): SignerClaim | null {
  const key = decodeBase64(publicKey, 32);
  const bytes = decodeBase64(signature, 64);
  if (key === null || bytes === null) return null;
  const id = idOfKey(key);
  const isSignedBy = (known: PublicKey): boolean => verifyBytes(Buffer.from(sum), bytes, known);
  return { name: isSignerName(name) ? name : `key ${id.toString('hex')}`, key: { id, key }, isSignedBy };
}

/** Version 3 with a signer, else version 2. Without a final newline, as it is encrypted. */
export function formatSessionHandoffBundle(
  record: BundleRecord,
  signer: Pick<OwnKeys, 'name' | 'secret'> | null,
): string {
  const canonical = formatGoRecord(record);
  const sum = sha256Hex(canonical);
  if (signer === null) return indentJson(`{"version":2,"checksum":"${sum}","record":${canonical}}`);
  const { name, secret } = signer;
  const who = `{"name":${formatGoText(name)},"key_id":"${idOfKey(secret.key).toString('hex')}","public_key":"${secret.key.toString('base64')}"}`;
  const signature = `"signer":${who},"signature":"${signBytes(Buffer.from(sum), secret).toString('base64')}"`;
  return indentJson(`{"version":3,"checksum":"${sum}",${signature},"record":${canonical}}`);
}

const ALGORITHM = 'aes-256-gcm';
const DERIVATION = 'scrypt(N=32768,r=8,p=1)';
const COST = { N: 32768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** An encrypted file of session-handoff. Anything else is refused. */
const EncryptedFile = v.object({
  version: v.literal(1),
  algorithm: v.literal(ALGORITHM),
  kdf: v.literal(DERIVATION),
  salt: v.string(),
  nonce: v.string(),
  ciphertext: v.string(),
});

export function deriveSessionHandoffKey(passphrase: Buffer, salt: Buffer): Buffer {
  return scryptSync(passphrase, salt, 32, COST);
}

export function encryptSessionHandoff(
  plain: Buffer,
  passphrase: Buffer,
  { salt, nonce } = { salt: randomBytes(SALT_BYTES), nonce: randomBytes(NONCE_BYTES) },
): string {
  const cipher = createCipheriv(ALGORITHM, deriveSessionHandoffKey(passphrase, salt), nonce);
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const encode = (bytes: Buffer): string => bytes.toString('base64');
  const header = { version: 1, algorithm: ALGORITHM, kdf: DERIVATION };
  const body = { salt: encode(salt), nonce: encode(nonce), ciphertext: encode(ciphertext) };
  return indentJson(JSON.stringify({ ...header, ...body }));
}

/** Checks the whole header before it asks for the passphrase. */
async function decryptSessionHandoff(value: unknown, opener: Pick<DecryptionKeys, 'askPassphrase'>): Promise<Buffer> {
  const result = v.safeParse(EncryptedFile, value);
  if (!result.success) throw malformedError(`field ${nameField(result.issues[0])}`);
  const { salt, nonce, ciphertext } = result.output;
  const saltBytes = decodeBase64(salt, SALT_BYTES);
  const nonceBytes = decodeBase64(nonce, NONCE_BYTES);
  const sealed = Buffer.from(ciphertext, 'base64');
  if (saltBytes === null) throw malformedError('field salt');
  if (nonceBytes === null) throw malformedError('field nonce');
  if (sealed.length < TAG_BYTES || sealed.toString('base64') !== ciphertext) throw malformedError('field ciphertext');
  const key = deriveSessionHandoffKey(await opener.askPassphrase(), saltBytes);
  const decipher = createDecipheriv(ALGORITHM, key, nonceBytes);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw wrongPassphraseError(cause);
  }
}

/**
 * Opens a bundle of session-handoff. Its signature is inside the encryption and covers the record only, so the header is
 * checked strictly first. The format has no sequence and no expiry to check.
 */
export async function openSessionHandoffBundle(bytes: Buffer, options: OpenOptions): Promise<BundleContents> {
  const outer = parseBundleJson(bytes);
  const isEncrypted = typeof outer === 'object' && outer !== null && 'ciphertext' in outer;
  const inner = isEncrypted ? parseBundleJson(await decryptSessionHandoff(outer, options.opener)) : outer;
  const bundle = readSessionHandoffBundle(inner);
  const signer = await checkSigner(bundle.claim, options);
  const record = { ...bundle.record, next: bundle.record.next ?? [] };
  const draft = readSessionHandoffRecord(record, nameRecordedProject(record.project), '.');
  const { format, id } = draft.imported ?? { format: '', id: '' };
  const imported = { format, id, signer };
  const handover = acceptHandover(draft, { imported, inBundle: new Set(), redactor: options.makeRedactor() });
  return { digest: sha256Hex(bytes), signer, missing: bundle.missing, detail: {}, handovers: [handover] };
}
