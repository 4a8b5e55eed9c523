const QUOTE = 0x22;
const LONGEST = 60;

/** The bytes of `"name":"`, to look for with `peekText`. */
export function toKey(name: string): Buffer {
  return Buffer.from(`"${name}":"`);
}

/**
 * The first text that stands under a key in the bytes of a JSON object, without parsing it; empty when there is none, or
 * a long one. Inside texts quotes are escaped, so what is found is a key: of the object itself, or of one inside it.
 */
export function peekText(bytes: Buffer, key: Buffer): string {
  const at = bytes.indexOf(key);
  if (at === -1) return '';
  const start = at + key.length;
  const end = bytes.subarray(start, start + LONGEST).indexOf(QUOTE);
  return end === -1 ? '' : bytes.toString('latin1', start, start + end);
}
