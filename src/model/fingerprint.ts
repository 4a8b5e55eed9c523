/** Two halves of 32 bits. */
export interface Fingerprint {
  low: number;
  high: number;
}

/**
 * Tells texts apart where nobody wants to deceive: two lanes after FNV-1a. Needs no library, and loading one would take
 * longer than a whole hook may.
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

/** Another one, for texts of some length: four bytes at a time, because code that runs once is slow. */
export function printLongFingerprint(text: string): string {
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
  return print({ low: low >>> 0, high: high >>> 0 });
}

function print({ low, high }: Fingerprint): string {
  return [high, low].map((half) => half.toString(16).padStart(8, '0')).join('');
}
