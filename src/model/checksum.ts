import { createHash } from 'node:crypto';
import { canonicalize } from './canonical.ts';

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** SHA-256 over the canonical form of a record without its own `checksum`. */
export function computeChecksum(record: object): string {
  return sha256Hex(canonicalize({ ...record, checksum: undefined }));
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** The first `length` characters of the SHA-256 of `text`, in lower-case Crockford base32. At most 51 characters. */
export function shortHash(text: string, length: number): string {
  return encodeBase32(createHash('sha256').update(text).digest(), length);
}

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
