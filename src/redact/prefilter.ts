import type { Rule } from './rule.ts';
import { NAME_ENDINGS } from './rules/names.ts';
import { RULES } from './rules/vendors.ts';

/** Finds the few places of a text where a secret may begin: what runs for every character of a text is here. */

export const ASCII = 127;
export const QUOTE = 0x22;
export const PERCENT = 0x25;
export const APOSTROPHE = 0x27;
export const DASH = 0x2d;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
const DOT = 0x2e;

const IS_WORD = markCharacters(/\w/);
/** For every byte, whether base64 or its form for URLs uses it. */
export const IS_BASE64 = markCharacters(/[\w+/-]/);

function markCharacters(pattern: RegExp): Uint8Array {
  const marks = new Uint8Array(256);
  for (let code = 0; code <= ASCII; code++) if (pattern.test(String.fromCharCode(code))) marks[code] = 1;
  return marks;
}

function isWord(code: number): boolean {
  return code <= ASCII && IS_WORD[code] === 1;
}

export function isBase64(code: number): boolean {
  return code <= ASCII && IS_BASE64[code] === 1;
}

export function isNamePart(code: number): boolean {
  return isWord(code) || code === DASH || code === DOT;
}

/**
 * Whether a word begins at a place, with nothing before `begin` counted. Words joined by dashes are one; an escape such as
 * `\n` or `%20` is no part of a word.
 */
export function isWordStart(text: string, at: number, begin: number): boolean {
  if (at <= begin) return true;
  const before = text.charCodeAt(at - 1);
  if (before === DASH) return at - 2 < begin || !isBase64(text.charCodeAt(at - 2));
  if (!isWord(before)) return true;
  const code = text.charCodeAt(at);
  if (code <= ASCII && IS_WORD[code] === 0) return true;
  if (at - 2 < begin) return false;
  const second = text.charCodeAt(at - 2);
  if (second === BACKSLASH) return before === 0x6e || before === 0x72 || before === 0x74;
  return at - 3 >= begin && text.charCodeAt(at - 3) === PERCENT;
}

/** Finds the next match of a global pattern. Asked for rising places, it looks at every character once. */
export class Lookahead {
  readonly #text: string;
  readonly #pattern: RegExp;
  #from = 0;
  #next = -1;

  constructor(text: string, pattern: RegExp) {
    this.#text = text;
    this.#pattern = pattern;
  }

  /** The first match from `from` on; the length of the text where there is none. */
  find(from: number): number {
    if (from < this.#from || from > this.#next) {
      this.#pattern.lastIndex = from;
      this.#from = from;
      this.#next = this.#pattern.exec(this.#text)?.index ?? this.#text.length;
    }
    return this.#next;
  }
}

const BITS = 7;
const PAIR = (1 << (2 * BITS)) - 1;
const ROW = (ASCII + 1) / 32;
const MAX_ROWS = 1024;
const SLOTS = 4096;

/**
 * Finds places in bytes by their three characters, optionally by the fourth too. Runs for each character of a text, so its
 * tables are small enough for the processor's cache. Of non-ASCII bytes seven bits count: there may be false hits, but no misses.
 */
export class TrigramTable {
  /** For every pair the number of its row, with one bit for each third character. Row 0 is empty. */
  readonly #pairs = new Uint16Array(1 << (2 * BITS));
  readonly #thirds = new Int32Array(MAX_ROWS * ROW);
  #rows = 1;
  /** For a trigram, by its hash, the row of its fourth characters; without one, any may follow. */
  readonly #trigrams = new Int32Array(SLOTS).fill(-1);
  readonly #fourths = new Int32Array(SLOTS * ROW);

  /** The first place in `from` until `to`; `to` where there is none. Reads up to three bytes beyond. */
  findNext(bytes: Uint8Array, from: number, to: number): number {
    const pairs = this.#pairs;
    const thirds = this.#thirds;
    if (to + 3 > bytes.length) return to;
    let pair = packPair(bytes[from] ?? 0, bytes[from + 1] ?? 0);
    for (let i = from; i < to; i++) {
      const third = (bytes[i + 2] ?? 0) & ASCII;
      const row = thirds[((pairs[pair] ?? 0) << 2) | (third >> 5)] ?? 0;
      const trigram = pair | (third << (2 * BITS));
      if ((row & (1 << third)) !== 0 && this.#mayPrecede(trigram, bytes[i + 3] ?? 0)) return i;
      pair = trigram >> BITS;
    }
    return to;
  }

  /** Adds a pair that any of `thirds` may follow, and then anything. To be called after all `addTrigram`. */
  addPair(pair: string, thirds: string): void {
    const key = packPair(pair.charCodeAt(0), pair.charCodeAt(1));
    const row = this.#findRow(key);
    for (let i = 0; i < thirds.length; i++) {
      const code = thirds.charCodeAt(i);
      setBit(this.#thirds, row, code);
      const trigram = key | (code << (2 * BITS));
      const slot = this.#findSlot(trigram);
      if (this.#trigrams[slot] === trigram) this.#fourths.fill(-1, slot * ROW, (slot + 1) * ROW);
    }
  }

  /** Adds a trigram that one of `fourths` may follow, or anything if there are none. */
  addTrigram(trigram: string, fourths: string): void {
    const key = packTrigram(trigram, 0);
    setBit(this.#thirds, this.#findRow(key & PAIR), trigram.charCodeAt(2));
    const slot = this.#findSlot(key);
    this.#trigrams[slot] = key;
    if (fourths === '') this.#fourths.fill(-1, slot * ROW, (slot + 1) * ROW);
    for (let i = 0; i < fourths.length; i++) setBit(this.#fourths, slot, fourths.charCodeAt(i));
  }

  #findRow(pair: number): number {
    const row = this.#pairs[pair] || this.#rows++;
    this.#pairs[pair] = row;
    return row;
  }

  #mayPrecede(trigram: number, byte: number): boolean {
    const slot = this.#findSlot(trigram);
    if (this.#trigrams[slot] === -1) return true;
    const fourth = byte & ASCII;
    return ((this.#fourths[slot * ROW + (fourth >> 5)] ?? 0) & (1 << fourth)) !== 0;
  }

  #findSlot(trigram: number): number {
    const trigrams = this.#trigrams;
    let slot = (Math.imul(trigram, 0x9e3779b1) >>> 20) & (SLOTS - 1);
    while (trigrams[slot] !== trigram && trigrams[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
    return slot;
  }
}

function setBit(bits: Int32Array, row: number, code: number): void {
  const at = row * ROW + (code >> 5);
  bits[at] = (bits[at] ?? 0) | (1 << code);
}

function packPair(first: number, second: number): number {
  return (first & ASCII) | ((second & ASCII) << BITS);
}

export function packTrigram(text: string, at: number): number {
  const pair = packPair(text.charCodeAt(at), text.charCodeAt(at + 1));
  return pair | ((text.charCodeAt(at + 2) & ASCII) << (2 * BITS));
}

/** The two characters at a place, as a number that no trigram has. */
function packShort(text: string, at: number): number {
  return -1 - packPair(text.charCodeAt(at), text.charCodeAt(at + 1));
}

/** A word of lower case letters in every mix of cases. */
export function listCases(word: string): string[] {
  const [first = '', ...rest] = word;
  if (first === '') return [''];
  const heads = [...new Set([first, first.toUpperCase()])];
  return listCases(rest.join('')).flatMap((end) => heads.map((head) => head + end));
}

/** What three characters, or two, may be the beginning of. */
export interface Trigger {
  /** The longest first, as the most specific. */
  readonly starts: { literal: string; rules: Rule[] }[];
  readonly pivots: { literal: string; rule: Rule }[];
  /** Whether the name of a secret may end so. */
  isNameEnding: boolean;
}

/** What may follow a name: a character that assigns a value, or one that may stand before it. */
const NAME_ENDS = ' "\'\\]?`:=>';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const HEX = '0123456789abcdefABCDEF';
const ANY = Array.from({ length: ASCII + 1 }, (_, code) => String.fromCharCode(code)).join('');

/** Pairs with the characters that may follow: URLs, flags, and escapes. */
const OTHER_PAIRS: readonly (readonly [pair: string, thirds: string])[] = [
  [':/', '/'],
  ['--', LETTERS],
  ['\\u', HEX],
  ['\\x', HEX],
  ...[...HEX].map((digit) => [`%${digit}`, HEX] as const),
  ...['\\\n', '\\\r', '"+', "'+"].map((pair) => [pair, ANY] as const),
  ['" ', '+'],
  ["' ", '+'],
];

/** Where a rule, a name, a URL, a flag or an escape may begin, and which rules to try there. */
class Prefilter {
  readonly #table = new TrigramTable();
  /** By trigram, or by pair where any of many characters may follow. */
  readonly #triggers = new Map<number, Trigger>();

  constructor() {
    const pairs = [...OTHER_PAIRS];
    for (const rule of RULES) {
      const { starts = [], pivots = [], thirds } = rule;
      for (const literal of starts) addStart(this.#add(literal), literal, rule);
      for (const literal of pivots) this.#add(literal).pivots.push({ literal, rule });
      if (thirds !== undefined) for (const pair of [...starts, ...pivots]) pairs.push([pair, thirds]);
    }
    for (const ending of NAME_ENDINGS.flatMap(listCases)) this.#add(ending, NAME_ENDS).isNameEnding = true;
    for (const [pair, thirds] of pairs) this.#table.addPair(pair, thirds);
  }

  /** The first place in `from` until `to` to look at closer; `to` where there is none. */
  findNext(bytes: Uint8Array, from: number, to: number): number {
    return this.#table.findNext(bytes, from, to);
  }

  find(text: string, at: number): Trigger | undefined {
    return this.#triggers.get(packTrigram(text, at));
  }

  findShort(text: string, at: number): Trigger | undefined {
    return this.#triggers.get(packShort(text, at));
  }

  #add(literal: string, fourths = literal.charAt(3)): Trigger {
    const isPair = literal.length === 2;
    if (!isPair) this.#table.addTrigram(literal, fourths);
    const key = isPair ? packShort(literal, 0) : packTrigram(literal, 0);
    const trigger = this.#triggers.get(key) ?? { starts: [], pivots: [], isNameEnding: false };
    this.#triggers.set(key, trigger);
    return trigger;
  }
}

function addStart({ starts }: Trigger, literal: string, rule: Rule): void {
  const known = starts.find((start) => start.literal === literal);
  if (known !== undefined) known.rules.push(rule);
  else starts.push({ literal, rules: [rule] });
  starts.sort((a, b) => b.literal.length - a.literal.length);
}

let built: Prefilter | null = null;

/** Built for the first text that is searched. */
export function getPrefilter(): Prefilter {
  built ??= new Prefilter();
  return built;
}
