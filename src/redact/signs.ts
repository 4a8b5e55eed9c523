import { NAME_TAILS } from './assigned.ts';
import { listCases } from './cases.ts';
import { ASCII } from './characters.ts';
import type { Rule } from './rule.ts';
import { RULES } from './rules/table.ts';

/** What three characters may be the beginning of. */
export interface Sign {
  /** The longest first: it says more. */
  readonly starts: { literal: string; rules: Rule[] }[];
  readonly pivots: { literal: string; rule: Rule }[];
}

const BITS = 7;
const ROW = (ASCII + 1) / 32;
const MOST_ROWS = 1024;
/** Three small letters for three letters. */
const SMALL = 0x20 | (0x20 << BITS) | (0x20 << (2 * BITS));

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const HEX = '0123456789abcdefABCDEF';
const ANY = Array.from({ length: ASCII + 1 }, (_, code) => String.fromCharCode(code)).join('');

/** By two characters those that may follow: a URL, a flag, and what escapes are undone for. */
const OTHERS: readonly (readonly [pair: string, thirds: string])[] = [
  [':/', '/'],
  ['--', LETTERS],
  ['\\u', HEX],
  ['\\x', HEX],
  ...[...HEX].map((digit) => [`%${digit}`, HEX] as const),
  ['\\\n', ANY],
  ['\\\r', ANY],
  ['"+', ANY],
  ["'+", ANY],
  ['" ', '+'],
  ["' ", '+'],
];

/**
 * By which three characters something may be known. For every two, `#pairs` has the number of a row in `#thirds`: one bit
 * for each character that may follow. Both are small enough to stay close to the processor.
 */
export class SignTable {
  readonly #pairs = new Uint16Array(1 << (2 * BITS));
  /** The first row is that of no sign at all. */
  readonly #thirds = new Int32Array(MOST_ROWS * ROW);
  #rows = 1;
  readonly #signs = new Map<number, Sign>();
  readonly #tails = new Set<number>();

  constructor() {
    for (const rule of RULES) {
      for (const literal of rule.pivots ?? []) this.#addSign(literal).pivots.push({ literal, rule });
      for (const literal of rule.starts ?? []) addStart(this.#addSign(literal), { literal, rule });
    }
    for (const { starts } of this.#signs.values()) starts.sort((a, b) => b.literal.length - a.literal.length);
    for (const tail of NAME_TAILS) {
      this.#tails.add(packThree(tail) | SMALL);
      const third = tail.charAt(2);
      for (const pair of listCases(tail.slice(0, 2))) this.#mark(pair, third + third.toUpperCase());
    }
    for (const [pair, thirds] of OTHERS) this.#mark(pair, thirds);
  }

  /** The first place in `bytes`, of those from `from` to before `to`, where a sign stands; `to` where there is none. */
  findNext(bytes: Uint8Array, from: number, to: number): number {
    const pairs = this.#pairs;
    const thirds = this.#thirds;
    if (to + 2 > bytes.length) return to;
    let pair = packPair(bytes[from] ?? 0, bytes[from + 1] ?? 0);
    for (let i = from; i < to; i++) {
      const third = (bytes[i + 2] ?? 0) & ASCII;
      const row = thirds[((pairs[pair] ?? 0) << 2) | (third >> 5)] ?? 0;
      if ((row & (1 << third)) !== 0) return i;
      pair = (pair >> BITS) | (third << BITS);
    }
    return to;
  }

  find(text: string, at: number): Sign | undefined {
    return this.#signs.get(packThree(text, at));
  }

  /** Whether a name that is given a secret may end with the three characters. */
  isTail(text: string, at: number): boolean {
    return this.#tails.has(packThree(text, at) | SMALL);
  }

  #addSign(literal: string): Sign {
    const key = packThree(literal);
    const known = this.#signs.get(key);
    if (known !== undefined) return known;
    const sign: Sign = { starts: [], pivots: [] };
    this.#signs.set(key, sign);
    this.#mark(literal.slice(0, 2), literal.charAt(2));
    return sign;
  }

  #mark(pair: string, thirds: string): void {
    const key = packPair(pair.charCodeAt(0), pair.charCodeAt(1));
    const row = this.#pairs[key] || this.#rows++;
    this.#pairs[key] = row;
    for (let i = 0; i < thirds.length; i++) {
      const code = thirds.charCodeAt(i);
      const at = row * ROW + (code >> 5);
      this.#thirds[at] = (this.#thirds[at] ?? 0) | (1 << code);
    }
  }
}

let built: SignTable | null = null;

/** Built when the first text is looked at. */
export function getSigns(): SignTable {
  built ??= new SignTable();
  return built;
}

function addStart({ starts }: Sign, { literal, rule }: { literal: string; rule: Rule }): void {
  const known = starts.find((start) => start.literal === literal);
  if (known === undefined) starts.push({ literal, rules: [rule] });
  else known.rules.push(rule);
}

function packPair(first: number, second: number): number {
  return (first & ASCII) | ((second & ASCII) << BITS);
}

function packThree(text: string, at = 0): number {
  return (
    packPair(text.charCodeAt(at), text.charCodeAt(at + 1)) | ((text.charCodeAt(at + 2) & ASCII) << (2 * BITS))
  );
}
