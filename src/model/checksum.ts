import { createHash } from 'node:crypto';
import { encodeBase32 } from './base32.ts';
import { canonicalize } from './canonical.ts';

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
