/** Crockford's alphabet in lower case: no letter that is taken for a digit. */
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
