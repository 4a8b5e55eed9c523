import type { Rule } from './rule.ts';
import { NAME_ENDINGS, SELDOM_ENDINGS } from './rules/names.ts';
import { RULES } from './rules/vendors.ts';
import { countPair, findRarest } from './values.ts';

/** Finds the few places of a text where a secret may begin: what runs for every character of a text is here. */

export const ASCII = 127;
export const QUOTE = 0x22;
export const PERCENT = 0x25;
export const APOSTROPHE = 0x27;
export const DASH = 0x2d;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const UNDERSCORE = 0x5f;
const DOT = 0x2e;

const IS_WORD = markCharacters(/\w/);
/** For every byte, whether base64 or its form for URLs uses it. */
export const IS_BASE64 = markCharacters(/[\w+/-]/);

function markCharacters(pattern: RegExp): Uint8Array {
  const marks = new Uint8Array(256);
  for (let code = 0; code <= ASCII; code++) if (pattern.test(String.fromCharCode(code))) marks[code] = 1;
  return marks;
}

export function isWord(code: number): boolean {
  return code <= ASCII && IS_WORD[code] === 1;
}

export function isBase64(code: number): boolean {
  return code <= ASCII && IS_BASE64[code] === 1;
}

export function isNamePart(code: number): boolean {
  return isWord(code) || code === DASH || code === DOT;
}

/** Whether it is a control character that no text needs. Line breaks and tabs are not. */
export function isUnseen(code: number): boolean {
  return code < 0x20 ? code !== 0x09 && code !== 0x0a && code !== 0x0d : code >= 0x7f && code < 0xa0;
}

const BITS = 7;
const PAIR = (1 << (2 * BITS)) - 1;
const ROW = (ASCII + 1) / 32;
const MAX_ROWS = 1024;
const SLOTS = 4096;
const CLASS_BITS = 6;
const NEAR = (1 << (3 * CLASS_BITS)) / 32;
const TABLE_BYTES = 4 * (NEAR + MAX_ROWS * ROW + SLOTS * (1 + ROW)) + 2 * (PAIR + 1);

const CONTROL = 1;
/** For every byte its class: capitals are as small letters, and what is rare as other rare ones. */
const CLASSES = classifyBytes();
const ALL_CLASSES = Array.from({ length: 1 << CLASS_BITS }, (_, number) => number);
const ANY = Array.from({ length: ASCII + 1 }, (_, code) => String.fromCharCode(code)).join('');

function classifyBytes(): Uint8Array {
  const classes = new Uint8Array(256);
  const alone = 'abcdefghijklmnopqrstuvwxyz0123456789_-. =:"\'/\\%$+@(\n\t~,;)';
  for (let code = 0; code < 256; code++) {
    const index = alone.indexOf(String.fromCharCode(code & ASCII).toLowerCase());
    classes[code] = index !== -1 ? index + 2 : isUnseen(code & ASCII) ? CONTROL : 0;
  }
  return classes;
}

/**
 * Finds places in bytes by their three characters, optionally by the fourth too. Runs for each character of a text, so its
 * tables are small enough for the processor's cache. Of non-ASCII bytes seven bits count: there may be false hits, but no misses.
 */
export class TrigramTable {
  readonly #memory: ArrayBuffer;
  /**
   * One bit for every three classes that may be at a place, and for those one before or behind it: so that looking at every
   * second place is enough to meet each.
   */
  readonly #near: Int32Array;
  /** For every pair the number of its row, with one bit for each third character. Row 0 is empty, and the last for controls. */
  readonly #pairs: Uint16Array;
  readonly #thirds: Int32Array;
  #rows = 1;
  /** For a trigram, by its hash, the row of its fourth characters; without one, any may follow. No trigram is 0. */
  readonly #trigrams: Int32Array;
  readonly #fourths: Int32Array;

  constructor(memory = new ArrayBuffer(TABLE_BYTES)) {
    this.#memory = memory;
    this.#near = new Int32Array(memory, 0, NEAR);
    this.#thirds = new Int32Array(memory, 4 * NEAR, MAX_ROWS * ROW);
    this.#trigrams = new Int32Array(memory, 4 * (NEAR + MAX_ROWS * ROW), SLOTS);
    this.#fourths = new Int32Array(memory, 4 * (NEAR + MAX_ROWS * ROW + SLOTS), SLOTS * ROW);
    this.#pairs = new Uint16Array(memory, TABLE_BYTES - 2 * (PAIR + 1));
  }

  /** All that was added, for the constructor. */
  copy(): ArrayBuffer {
    return this.#memory.slice(0);
  }

  /** The first place in `from` until `to`; `to` where there is none. Reads up to three bytes beyond. */
  findNext(bytes: Uint8Array, from: number, to: number): number {
    const near = this.#near;
    if (to + 3 > bytes.length) return to;
    let first = CLASSES[bytes[from] ?? 0] ?? 0;
    for (let i = from; i <= to; i += 2) {
      const third = CLASSES[bytes[i + 2] ?? 0] ?? 0;
      const three = (first << (2 * CLASS_BITS)) | ((CLASSES[bytes[i + 1] ?? 0] ?? 0) << CLASS_BITS) | third;
      first = third;
      if (((near[three >> 5] ?? 0) & (1 << three)) === 0) continue;
      if (i > from && this.#isAt(bytes, i - 1)) return i - 1;
      if (i < to && this.#isAt(bytes, i)) return i;
      if (i + 1 < to && this.#isAt(bytes, i + 1)) return i + 1;
    }
    return to;
  }

  #isAt(bytes: Uint8Array, at: number): boolean {
    const pair = packPair(bytes[at] ?? 0, bytes[at + 1] ?? 0);
    const third = (bytes[at + 2] ?? 0) & ASCII;
    const row = this.#thirds[((this.#pairs[pair] ?? 0) << 2) | (third >> 5)] ?? 0;
    return (row & (1 << third)) !== 0 && this.#mayPrecede(pair | (third << (2 * BITS)), bytes[at + 3] ?? 0);
  }

  /** Adds a pair that any of `thirds` may follow, and that one of `before` stands before. To be called after all `addTrigram`. */
  addPair(pair: string, thirds: string, before = ALL_CLASSES): void {
    const key = packPair(pair.charCodeAt(0), pair.charCodeAt(1));
    const row = this.#findRow(key);
    const [first, second] = [classOf(pair, 0), classOf(pair, 1)];
    for (const one of before) this.#addNear(one, first, second);
    for (let i = 0; i < thirds.length; i++) {
      const code = thirds.charCodeAt(i);
      this.#addNear(first, second, classOf(thirds, i));
      setBit(this.#thirds, row, code);
      const trigram = key | (code << (2 * BITS));
      const slot = this.#findSlot(trigram);
      if (this.#trigrams[slot] === trigram) this.#fourths.fill(-1, slot * ROW, (slot + 1) * ROW);
    }
  }

  /** Adds a trigram that one of `fourths` may follow, or anything if there are none; then one of `before` stands before it. */
  addTrigram(trigram: string, fourths: string, before = ALL_CLASSES): void {
    const key = packTrigram(trigram, 0);
    setBit(this.#thirds, this.#findRow(key & PAIR), trigram.charCodeAt(2));
    const slot = this.#findSlot(key);
    this.#trigrams[slot] = key;
    const [first, second, third] = [classOf(trigram, 0), classOf(trigram, 1), classOf(trigram, 2)];
    this.#addNear(first, second, third);
    if (fourths === '') {
      this.#fourths.fill(-1, slot * ROW, (slot + 1) * ROW);
      // Either is enough.
      if (countPair(trigram.slice(0, 2).toLowerCase()) > countPair(trigram.slice(1).toLowerCase()))
        for (const next of ALL_CLASSES) this.#addNear(second, third, next);
      else for (const one of before) this.#addNear(one, first, second);
    }
    for (let i = 0; i < fourths.length; i++) {
      setBit(this.#fourths, slot, fourths.charCodeAt(i));
      this.#addNear(second, third, classOf(fourths, i));
    }
  }

  /** Adds the control characters, which anything may follow. To be called after all others. */
  addControls(): void {
    const row = MAX_ROWS - 1;
    this.#thirds.fill(-1, row * ROW, (row + 1) * ROW);
    for (let code = 0; code <= ASCII; code++)
      if (isUnseen(code)) this.#pairs.fill(row, packPair(code, 0), packPair(code + 1, 0) || PAIR + 1);
    const width = 1 << CLASS_BITS;
    this.#near.fill(-1, (CONTROL * width * width) / 32, ((CONTROL + 1) * width * width) / 32);
    for (const one of ALL_CLASSES) {
      const start = ((one * width + CONTROL) * width) / 32;
      this.#near.fill(-1, start, start + width / 32);
    }
  }

  #addNear(first: number, second: number, third: number): void {
    const three = (first << (2 * CLASS_BITS)) | (second << CLASS_BITS) | third;
    this.#near[three >> 5] = (this.#near[three >> 5] ?? 0) | (1 << three);
  }

  #findRow(pair: number): number {
    const row = this.#pairs[pair] || this.#rows++;
    this.#pairs[pair] = row;
    return row;
  }

  #mayPrecede(trigram: number, byte: number): boolean {
    const slot = this.#findSlot(trigram);
    if (this.#trigrams[slot] === 0) return true;
    const fourth = byte & ASCII;
    return ((this.#fourths[slot * ROW + (fourth >> 5)] ?? 0) & (1 << fourth)) !== 0;
  }

  #findSlot(trigram: number): number {
    const trigrams = this.#trigrams;
    let slot = (Math.imul(trigram, 0x9e3779b1) >>> 20) & (SLOTS - 1);
    while (trigrams[slot] !== trigram && trigrams[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    return slot;
  }
}

function classOf(text: string, at: number): number {
  return CLASSES[text.charCodeAt(at) & 255] ?? 0;
}

function setBit(bits: Int32Array, row: number, character: number): void {
  const code = character & ASCII;
  const at = row * ROW + (code >> 5);
  bits[at] = (bits[at] ?? 0) | (1 << code);
}

function packPair(first: number, second: number): number {
  return ((first & ASCII) << BITS) | (second & ASCII);
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

/** What three characters, or two, may be a part of; `offset` is how far from its beginning they are. Rules are numbers, to be packed. */
export interface Trigger {
  /** The longest first, as the most specific. */
  readonly starts: { literal: string; offset: number; rules: number[]; mayWrap: boolean }[];
  readonly pivots: { literal: string; rule: number }[];
  /** How names of secrets end, in lower case. */
  readonly nameEndings: { ending: string; offset: number }[];
}

const NONE: Trigger = { starts: [], pivots: [], nameEndings: [] };

/** Whether the secret is all that the rule matches, and so may be alone on its lines. */
function isToken({ pattern, reach, list }: Rule): boolean {
  // With an empty choice it matches anything, and shows its groups.
  return reach === undefined && list === undefined && ''.match(new RegExp(`${pattern.source}|`))?.length === 1;
}

/** Where another of the literals is in a literal: the longer one has to be met first. */
function findInner(literal: string, heads: ReadonlyMap<string, readonly string[]>): number {
  for (let at = 0; at < literal.length; at++)
    for (const other of heads.get(literal.slice(at, at + 2)) ?? [])
      if (other !== literal && literal.startsWith(other, at)) return at;
  return literal.length;
}

/** What may follow the last letters of a name: its number, what gives it a value, or what may stand before that. */
const NAME_ENDS = ' "\'\\]?`:=>';
/** The same for the endings that most names of secrets have. */
/** Of `：` and `＝` the last seven bits count; behind the end of a text stands a zero. */
const ALL_NAME_ENDS = `${NAME_ENDS}([|<*{},;)&^\0\x1a\x1d\t\r\n0123456789_-`;
const HEX = '0123456789abcdefABCDEF';
/** The classes of what a word may begin behind: no letters but those of `\\n` and the like. */
const BEFORE_WORDS = [
  ...new Set([...ANY].filter((char) => !/[a-zA-Z]/.test(char) || 'nrt'.includes(char)).map((char) => classOf(char, 0))),
];

/** Pairs with the characters that may follow: URLs and escapes. */
const OTHER_PAIRS: readonly (readonly [pair: string, thirds: string, before?: number[]])[] = [
  [':/', '/'],
  ...['\\u', '\\x'].map((pair) => [pair, HEX] as const),
  ['\\e', '['],
  ['\\0', '3'],
  ...[...HEX].map((digit) => [`%${digit}`, HEX] as const),
  ...['\\\n', '\\\r', '"+', "'+"].map((pair) => [pair, ANY] as const),
  ...['" ', "' "].map((pair) => [pair, '+'] as const),
];

/** Where a rule, a name, a URL, an escape or what is not seen may begin, and which rules to try there. */
export class Prefilter {
  readonly #wide: TrigramTable;
  /** Control characters are met as well. Only for texts without wide characters, whose bytes would be taken for some. */
  readonly #narrow: TrigramTable;
  /** By trigram, or by pair where any of many characters may follow. */
  readonly #triggers = new Map<number, Trigger>();
  /** Those that are still packed, by their places in the list of keys. */
  readonly #packed: readonly string[];
  readonly #keys: Int32Array;

  constructor(packed?: string) {
    const [memory, keys = '', ...triggers] = packed?.split('\n') ?? [];
    this.#wide = new TrigramTable(memory === undefined ? undefined : decodeBytes(memory));
    this.#keys = new Int32Array(decodeBytes(keys));
    this.#packed = triggers;
    if (packed === undefined) this.#addRules();
    this.#narrow = new TrigramTable(this.#wide.copy());
    this.#narrow.addControls();
  }

  /** For the constructor, on a machine with the same order of bytes. */
  pack(): string {
    const bytes = [this.#wide.copy(), Int32Array.from(this.#triggers.keys()).buffer];
    const triggers = Array.from(this.#triggers.values(), (trigger) => JSON.stringify(trigger));
    // One that is not ASCII would make the text take twice the room.
    const ascii = triggers.map((text) =>
      text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    );
    return [...bytes.map((part) => Buffer.from(part).toString('base64')), ...ascii].join('\n');
  }

  #addRules(): void {
    const pairs = [...OTHER_PAIRS];
    const heads = new Map<string, string[]>();
    for (const literal of new Set(RULES.flatMap(({ starts = [] }) => starts)))
      heads.set(literal.slice(0, 2), [...(heads.get(literal.slice(0, 2)) ?? []), literal]);
    for (const [number, rule] of RULES.entries()) {
      const { starts = [], pivots = [], thirds } = rule;
      for (const literal of starts) {
        const offset = findRarest(literal, findInner(literal, heads));
        const before = offset === 0 ? BEFORE_WORDS : ALL_CLASSES;
        const trigger = this.#add(literal.slice(offset), literal.charAt(offset + 3), before);
        addStart(trigger, { literal, offset, rules: [number], mayWrap: isToken(rule) });
      }
      for (const literal of pivots) this.#add(literal).pivots.push({ literal, rule: number });
      if (thirds === undefined) continue;
      for (const pair of starts) pairs.push([pair, thirds, BEFORE_WORDS]);
      for (const pair of pivots) pairs.push([pair, thirds]);
    }
    for (const ending of SELDOM_ENDINGS) this.#addNameEnding(ending, NAME_ENDS);
    for (const ending of NAME_ENDINGS) this.#addNameEnding(ending, ALL_NAME_ENDS);
    for (const { starts } of this.#triggers.values()) starts.sort((a, b) => b.literal.length - a.literal.length);
    for (const pair of pairs) this.#wide.addPair(...pair);
  }

  /** Finds the places to look at closer. */
  chooseTable(isWide: boolean): TrigramTable {
    return isWide ? this.#wide : this.#narrow;
  }

  find(text: string, at: number): Trigger {
    return this.#findTrigger(packTrigram(text, at));
  }

  findShort(text: string, at: number): Trigger {
    return this.#findTrigger(packShort(text, at));
  }

  #findTrigger(key: number): Trigger {
    const known = this.#triggers.get(key);
    if (known !== undefined) return known;
    const packed = this.#packed[this.#keys.indexOf(key)];
    const trigger: Trigger = packed === undefined ? NONE : JSON.parse(packed);
    this.#triggers.set(key, trigger);
    return trigger;
  }

  #addNameEnding(ending: string, fourths: string): void {
    const offset = findRarest(ending);
    const next = ending.charAt(offset + 3);
    for (const letters of listCases(ending.slice(offset, offset + 3)))
      this.#add(letters, next === '' ? fourths : listCases(next).join('')).nameEndings.push({ ending, offset });
  }

  #add(literal: string, fourths = literal.charAt(3), before = ALL_CLASSES): Trigger {
    const isPair = literal.length === 2;
    if (!isPair) this.#wide.addTrigram(literal, fourths, before);
    const key = isPair ? packShort(literal, 0) : packTrigram(literal, 0);
    const trigger = this.#triggers.get(key) ?? { starts: [], pivots: [], nameEndings: [] };
    this.#triggers.set(key, trigger);
    return trigger;
  }
}

function addStart({ starts }: Trigger, added: Trigger['starts'][number]): void {
  const known = starts.find(({ literal }) => literal === added.literal);
  if (known !== undefined) {
    known.rules.push(...added.rules);
    known.mayWrap ||= added.mayWrap;
  } else starts.push(added);
}

function decodeBytes(text: string): ArrayBuffer {
  return new Uint8Array(Buffer.from(text, 'base64')).buffer;
}

/** What the build packed, so that no short command makes it: that would take longer than all its texts. */
declare const __PREFILTER__: string | undefined;
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

let made: Prefilter | null = null;

/** Made for the first text that is searched. */
export function getPrefilter(): Prefilter {
  made ??= new Prefilter(typeof __PREFILTER__ === 'string' && IS_LITTLE_ENDIAN ? __PREFILTER__ : undefined);
  return made;
}
