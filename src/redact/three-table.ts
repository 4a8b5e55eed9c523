import { ASCII } from './characters.ts';

const BITS = 7;
const PAIR = (1 << (2 * BITS)) - 1;
const ROW = (ASCII + 1) / 32;
const MOST_ROWS = 1024;
const SLOTS = 4096;

/**
 * Finds places in bytes by the three characters that stand there, and where it is told, by the fourth. It decides for each
 * character of a text, so it looks only into tables that are small enough to stay close to the processor. Of a byte that is
 * no ASCII seven bits count: what is found may be something else, but nothing is missed.
 */
export class ThreeTable {
  /** For every two characters the number of their row: one bit for each character that may follow. The first row has none. */
  readonly #pairs = new Uint16Array(1 << (2 * BITS));
  readonly #thirds = new Int32Array(MOST_ROWS * ROW);
  #rows = 1;
  /** For three characters, by their hash, the row of those that may come fourth; without one, all may. */
  readonly #threes = new Int32Array(SLOTS).fill(-1);
  readonly #fourths = new Int32Array(SLOTS * ROW);

  /** The first place from `from` to before `to`; `to` where there is none. Reads up to three bytes beyond. */
  findNext(bytes: Uint8Array, from: number, to: number): number {
    const pairs = this.#pairs;
    const thirds = this.#thirds;
    if (to + 3 > bytes.length) return to;
    let pair = packPair(bytes[from] ?? 0, bytes[from + 1] ?? 0);
    for (let i = from; i < to; i++) {
      const third = (bytes[i + 2] ?? 0) & ASCII;
      const row = thirds[((pairs[pair] ?? 0) << 2) | (third >> 5)] ?? 0;
      const three = pair | (third << (2 * BITS));
      if ((row & (1 << third)) !== 0 && this.#mayGoOn(three, bytes[i + 3] ?? 0)) return i;
      pair = three >> BITS;
    }
    return to;
  }

  /** Any of `thirds` may follow the two characters, and anything then: told after all threes. */
  addPair(pair: string, thirds: string): void {
    const key = packPair(pair.charCodeAt(0), pair.charCodeAt(1));
    const row = this.#findRow(key);
    for (let i = 0; i < thirds.length; i++) {
      const code = thirds.charCodeAt(i);
      setBit(this.#thirds, row, code);
      const three = key | (code << (2 * BITS));
      const slot = this.#findSlot(three);
      if (this.#threes[slot] === three) this.#fourths.fill(-1, slot * ROW, (slot + 1) * ROW);
    }
  }

  /** One of `fourths` may follow the three characters, or anything where none are told. */
  addThree(three: string, fourths: string): void {
    const key = packThree(three, 0);
    setBit(this.#thirds, this.#findRow(key & PAIR), three.charCodeAt(2));
    const slot = this.#findSlot(key);
    this.#threes[slot] = key;
    if (fourths === '') this.#fourths.fill(-1, slot * ROW, (slot + 1) * ROW);
    for (let i = 0; i < fourths.length; i++) setBit(this.#fourths, slot, fourths.charCodeAt(i));
  }

  #findRow(pair: number): number {
    const row = this.#pairs[pair] || this.#rows++;
    this.#pairs[pair] = row;
    return row;
  }

  #mayGoOn(three: number, byte: number): boolean {
    const slot = this.#findSlot(three);
    if (this.#threes[slot] === -1) return true;
    const fourth = byte & ASCII;
    return ((this.#fourths[slot * ROW + (fourth >> 5)] ?? 0) & (1 << fourth)) !== 0;
  }

  #findSlot(three: number): number {
    const threes = this.#threes;
    let slot = (Math.imul(three, 0x9e3779b1) >>> 20) & (SLOTS - 1);
    while (threes[slot] !== three && threes[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
    return slot;
  }
}

function setBit(bits: Int32Array, row: number, code: number): void {
  const at = row * ROW + (code >> 5);
  bits[at] = (bits[at] ?? 0) | (1 << code);
}

/** Two characters as one number. */
export function packPair(first: number, second: number): number {
  return (first & ASCII) | ((second & ASCII) << BITS);
}

/** The three characters at a place of a text as one number. */
export function packThree(text: string, at: number): number {
  return (
    packPair(text.charCodeAt(at), text.charCodeAt(at + 1)) | ((text.charCodeAt(at + 2) & ASCII) << (2 * BITS))
  );
}
