const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Comma, and what opens a list or an object: each stands for a value. */
const LEADS: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b]);

/**
 * Whether JSON holds more values than `most`. To be asked before it is parsed: a value of two bytes takes a hundred in
 * memory.
 */
export function holdsMoreValues(bytes: Uint8Array, most: number): boolean {
  let values = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (inText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (LEADS.has(byte) && ++values > most) return true;
  }
  return false;
}
