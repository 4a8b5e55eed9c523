import type { Rule } from './rule.ts';
import { NAME_ENDINGS } from './rules/names.ts';
import { RULES } from './rules/services.ts';

/** The characters that decide where words, names and encoded runs begin and end. */

export const ASCII = 127;
export const QUOTE = 0x22;
export const PERCENT = 0x25;
export const APOSTROPHE = 0x27;
export const DASH = 0x2d;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
const DOT = 0x2e;

const IS_WORD = markCharacters(/\w/);
/** Of every byte whether encoded bytes are written with it, in base64 and its form for URLs. */
export const IS_BASE64 = markCharacters(/[\w+/-]/);

/** What may stand behind a name: it gives a value, or may stand between the name and what does. */
export const NAME_ENDS = ' "\'\\]?`:=>';

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
 * What stands before, from `begin` on, is no part of a word, nor of words joined by dashes; an escaped line end, or another
 * escaped character, is none.
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
export class TrigramTable {
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
  addTrigram(three: string, fourths: string): void {
    const key = packTrigram(three, 0);
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
export function packTrigram(text: string, at: number): number {
  return (
    packPair(text.charCodeAt(at), text.charCodeAt(at + 1)) | ((text.charCodeAt(at + 2) & ASCII) << (2 * BITS))
  );
}

/** A word in every mix of small letters and capitals. */
export function listCases(word: string): string[] {
  const [first = '', ...rest] = word;
  if (first === '') return [''];
  return listCases(rest.join('')).flatMap((end) =>
    [...new Set([first, first.toUpperCase()])].map((char) => char + end),
  );
}

/** What three characters, or two, may be the beginning of. */
export interface Trigger {
  /** The longest first: it says more. */
  readonly starts: Start[];
  readonly pivots: { literal: string; rule: Rule }[];
  /** Whether a name that is given a secret may end so. */
  isTail: boolean;
}

export interface Start {
  literal: string;
  rules: Rule[];
}

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

/** The sign of most ends of names. */
const TAIL: Trigger = { starts: [], pivots: [], isTail: true };

/** All signs: where one may stand, and what it is then. */
export class Prefilter {
  readonly #table = new TrigramTable();
  /** By three characters, or by two where the third one may be one of many. */
  readonly #signs = new Map<number, Trigger>();

  constructor() {
    const pairs = [...OTHERS];
    for (const rule of RULES) {
      const { starts = [], pivots = [], thirds } = rule;
      for (const literal of starts) addStart(this.#add(literal), { literal, rule });
      for (const literal of pivots) this.#add(literal).pivots.push({ literal, rule });
      if (thirds !== undefined) for (const pair of [...starts, ...pivots]) pairs.push([pair, thirds]);
    }
    for (const tail of NAME_ENDINGS.flatMap(listCases)) this.#addTail(tail);
    for (const [pair, thirds] of pairs) this.#table.addPair(pair, thirds);
  }

  /** The first place in `bytes` from `from` to before `to` where a sign stands; `to` where there is none. */
  findNext(bytes: Uint8Array, from: number, to: number): number {
    return this.#table.findNext(bytes, from, to);
  }

  find(text: string, at: number): Trigger | undefined {
    return this.#signs.get(packTrigram(text, at));
  }

  /** What is known by two characters already. */
  findShort(text: string, at: number): Trigger | undefined {
    return this.#signs.get(markPair(packPair(text.charCodeAt(at), text.charCodeAt(at + 1))));
  }

  #add(literal: string): Trigger {
    const isShort = literal.length === 2;
    const key = isShort
      ? markPair(packPair(literal.charCodeAt(0), literal.charCodeAt(1)))
      : packTrigram(literal, 0);
    if (!isShort) this.#table.addTrigram(literal, literal.charAt(3));
    const known = this.#signs.get(key);
    if (known !== undefined) return known;
    const sign: Trigger = { starts: [], pivots: [], isTail: false };
    this.#signs.set(key, sign);
    return sign;
  }

  #addTail(tail: string): void {
    this.#table.addTrigram(tail, NAME_ENDS);
    const key = packTrigram(tail, 0);
    const known = this.#signs.get(key);
    if (known === undefined) this.#signs.set(key, TAIL);
    else known.isTail = true;
  }
}

/** No three characters have this number. */
function markPair(pair: number): number {
  return -1 - pair;
}

let built: Prefilter | null = null;

/** Built when the first text is looked at. */
export function getPrefilter(): Prefilter {
  built ??= new Prefilter();
  return built;
}

function addStart({ starts }: Trigger, { literal, rule }: { literal: string; rule: Rule }): void {
  const known = starts.find((start) => start.literal === literal);
  if (known !== undefined) known.rules.push(rule);
  else {
    starts.push({ literal, rules: [rule] });
    if (starts.length > 1) starts.sort((a, b) => b.literal.length - a.literal.length);
  }
}

/** Where a pattern comes next in a text. Asked for places in rising order, it looks at every character once. */
export class Lookahead {
  readonly #text: string;
  readonly #pattern: RegExp;
  #from = 0;
  #next = -1;

  /** The pattern is global. */
  constructor(text: string, pattern: RegExp) {
    this.#text = text;
    this.#pattern = pattern;
  }

  /** The first place from `from` on; the length of the text where there is none. */
  find(from: number): number {
    if (from < this.#from || from > this.#next) {
      this.#pattern.lastIndex = from;
      this.#from = from;
      this.#next = this.#pattern.exec(this.#text)?.index ?? this.#text.length;
    }
    return this.#next;
  }
}
