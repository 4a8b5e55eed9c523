import { createHash } from 'node:crypto';

/** Crockford's alphabet in lower case, without letters that look like digits. */
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** The first `length` characters of the bytes in base32; fewer when the bytes do not give that many. */
export function encodeBase32(bytes: Uint8Array, length: number): string {
  let out = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += BASE32.charAt((buffer >> bits) & 31);
      if (out.length === length) return out;
    }
  }
  return out;
}

/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code unit, no white space, ECMAScript number and string forms.
 * Throws a TypeError on what the RFC has no form for: NaN, infinities, lone surrogates, anything that is not JSON.
 * Members whose value is undefined are left out, as `JSON.stringify` does.
 */
export function canonicalize(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return formatNumber(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalize(item)).join(',')}]`;
  if (typeof value === 'object') return `{${canonicalizeMembers(value)}}`;
  throw new TypeError(`${typeof value} has no canonical form`);
}

/** One text, grown in place: a record has thousands of members. Sorting without a comparator goes by code unit. */
function canonicalizeMembers(object: object): string {
  let text = '';
  for (const key of Object.keys(object).sort()) {
    const member: unknown = Reflect.get(object, key);
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${quote(key)}:${canonicalize(member)}`;
  }
  return text;
}

export function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Text without anything to escape in JSON: `JSON.stringify` would only add quotes, at several times the cost. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new TypeError('a lone surrogate has no canonical form');
  return JSON.stringify(text);
}

function formatNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical form`);
  return JSON.stringify(value);
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Over the parts as if they were one. */
export function sha256Bytes(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** SHA-256 over the canonical form of a record without its own `checksum`. */
export function computeChecksum(record: object): string {
  return sha256Hex(canonicalize({ ...record, checksum: undefined }));
}

/** The first `length` characters of the SHA-256 of `text`, in lower-case Crockford base32. At most 51 characters. */
export function shortHash(text: string, length: number): string {
  return encodeBase32(Buffer.from(sha256Hex(text), 'hex'), length);
}

/** Two halves of 32 bits. */
interface Fingerprint {
  low: number;
  high: number;
}

/**
 * A fast hash, not safe against forged collisions: two lanes of FNV-1a. Needs no library: loading one would take longer
 * than a whole hook may.
 */
export function takeFingerprint(text: string): Fingerprint {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code ^ (low >>> 16), 0x85ebca6b);
  }
  return { low: low >>> 0, high: high >>> 0 };
}

/** As 16 hexadecimal digits. */
export function printFingerprint(text: string): string {
  return print(takeFingerprint(text));
}

export function printLongFingerprint(text: string): string {
  return print(takeLongFingerprint(text));
}

/** A variant for long texts that takes four bytes at a time: in a short run, code is not optimised. */
export function takeLongFingerprint(text: string): Fingerprint {
  const bytes = Buffer.from(text);
  const words = new Int32Array(Math.ceil(bytes.length / 4));
  new Uint8Array(words.buffer).set(bytes);
  let low = 0x811c9dc5 ^ bytes.length;
  let high = 0x01000193;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    low = Math.imul(low ^ word, 0x01000193);
    high = Math.imul(high ^ word ^ (low >>> 15), 0x85ebca6b);
    low ^= high >>> 13;
  }
  return { low: low >>> 0, high: high >>> 0 };
}

function print({ low, high }: Fingerprint): string {
  return [high, low].map((half) => half.toString(16).padStart(8, '0')).join('');
}
