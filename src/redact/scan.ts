import { findFlagged, findGiven, isNamePart, NAME_TAILS } from './assigned.ts';
import { listCases } from './cases.ts';
import type { Rule, Span } from './rule.ts';
import { RULES } from './rules/table.ts';
import { findUrlSecret } from './url.ts';
import { findEncoded, unwrap } from './wrapped.ts';

const ASCII = 127;
const HEX = [...'0123456789abcdefABCDEF'];
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const ANY = Array.from({ length: ASCII + 1 }, (_, code) => String.fromCharCode(code));

/** What may begin with three characters, or, of a pivot and a name, end or go on. */
interface Sign {
  starts: { literal: string; rules: Rule[] }[];
  pivots: { literal: string; rule: Rule }[];
  isUrl?: true;
  isFlag?: true;
  isWrap?: true;
  isTail?: true;
}

/** What many have, and most of them alone: these share a sign. The end of a name is met most often. */
const SHARED = ['isTail', 'isFlag', 'isWrap'] as const;
const ONLY_TAIL = 1;
/** The first one stands for none; then come those that are shared. */
const SIGNS: Sign[] = [
  { starts: [], pivots: [] },
  ...SHARED.map((mark) => {
    const sign: Sign = { starts: [], pivots: [] };
    sign[mark] = true;
    return sign;
  }),
];
/** For every three characters the number of their sign, or 0. */
const SIGN_NUMBERS = new Uint16Array(1 << 21);

function packThree(three: string): number {
  return three.charCodeAt(0) | (three.charCodeAt(1) << 7) | (three.charCodeAt(2) << 14);
}

function addSign(three: string): Sign {
  const key = packThree(three);
  const known = SIGNS[SIGN_NUMBERS[key] || SIGNS.length];
  if (known !== undefined) return known;
  const sign: Sign = { starts: [], pivots: [] };
  SIGN_NUMBERS[key] = SIGNS.push(sign) - 1;
  return sign;
}

for (const rule of RULES) {
  for (const literal of rule.pivots ?? []) addSign(literal).pivots.push({ literal, rule });
  for (const literal of rule.starts ?? []) {
    const { starts } = addSign(literal);
    const known = starts.find((start) => start.literal === literal);
    if (known === undefined) starts.push({ literal, rules: [rule] });
    else known.rules.push(rule);
  }
}
// Of two beginnings the longer one says more.
for (const { starts } of SIGNS) starts.sort((a, b) => b.literal.length - a.literal.length);
addSign('://').isUrl = true;
share(
  'isFlag',
  LETTERS.map((letter) => `--${letter}`),
);
share('isWrap', [
  ...HEX.flatMap((digit) => ['\\u', '\\x', ...HEX.map((first) => `%${first}`)].map((head) => head + digit)),
  ...ANY.flatMap((char) => ['\\\n', '\\\r', '"+', "'+"].map((head) => head + char)),
  ...['" +', "' +"],
]);
share('isTail', NAME_TAILS.flatMap(listCases));

function share(mark: (typeof SHARED)[number], threes: readonly string[]): void {
  for (const three of threes) {
    const key = packThree(three);
    if (SIGN_NUMBERS[key] === 0) SIGN_NUMBERS[key] = SHARED.indexOf(mark) + 1;
    else addSign(three)[mark] = true;
  }
}

const SHORTEST = 8;

/** Every secret in a text, in order, none within another. One pass; only what looks like one is looked at closer. */
export function findSecrets(text: string): Span[] {
  if (text.length < SHORTEST) return [];
  const scan = new Scan(text, true);
  for (const part of listWrapped(text, scan.wraps)) scan.spans.push(...findUnwrapped(text, part));
  return joinSpans(scan.spans);
}

interface Part {
  start: number;
  end: number;
}

const BEFORE_WRAP = 200;
const AFTER_WRAP = 400;

/** The surroundings of what is wrapped: the rest of a text need not be looked at twice. */
function listWrapped(text: string, wraps: readonly number[]): Part[] {
  const parts: Part[] = [];
  for (const at of wraps) {
    const last = parts.at(-1);
    if (last !== undefined && at - BEFORE_WRAP <= last.end) last.end = at + AFTER_WRAP;
    else
      parts.push({
        start: Math.max(0, text.lastIndexOf('\n', at - BEFORE_WRAP), at - 2 * BEFORE_WRAP),
        end: at + AFTER_WRAP,
      });
  }
  return parts;
}

function findUnwrapped(text: string, part: Part): Span[] {
  const { text: plain, locate } = unwrap(text.slice(part.start, part.end));
  return new Scan(plain, true).spans.map(({ start, end, ...span }) => ({
    ...span,
    start: part.start + locate(start),
    end: part.start + locate(end),
    value: plain.slice(start, end),
  }));
}

/** Of spans that meet, the one that begins first and reaches furthest names both; a shape is preferred to a context. */
export function joinSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans;
  spans.sort(
    (a, b) => a.start - b.start || b.end - a.end || Number(a.byContext ?? 0) - Number(b.byContext ?? 0),
  );
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last === undefined || span.start >= last.end) joined.push(span);
    else if (span.end > last.end) joined[joined.length - 1] = { ...last, end: span.end, value: undefined };
  }
  return joined;
}

const SAMPLE = 12;
const LEAST_ENCODED = 2 * SAMPLE;
const CUT = /[\w-]{4,250}(?=…)/y;

/** A text is looked at as bytes, a window at a time: of what is no ASCII anything may be taken, as no sign is known by it alone. */
const WINDOW = 1 << 16;
const STEP = WINDOW - 3;
const BYTES = Buffer.allocUnsafe(WINDOW);

/** One pass over one text. */
class Scan {
  readonly spans: Span[] = [];
  /** Where something is written by its number, goes on in the next line or is put together. */
  readonly wraps: number[] = [];
  readonly #text: string;
  readonly #looksInside: boolean;

  constructor(text: string, looksInside: boolean) {
    this.#text = text;
    this.#looksInside = looksInside;
    this.#run();
  }

  #run(): void {
    const text = this.#text;
    let next = 0;
    for (let from = 0; from < text.length - 2; from += STEP) {
      const last = Math.min(STEP, BYTES.write(text.slice(from, from + WINDOW), 'latin1') - 2);
      let i = Math.max(0, next - from);
      let first = (BYTES[i] ?? 0) & ASCII;
      let second = (BYTES[i + 1] ?? 0) & ASCII;
      for (; i < last; i++) {
        const third = (BYTES[i + 2] ?? 0) & ASCII;
        const number = SIGN_NUMBERS[first | (second << 7) | (third << 14)] ?? 0;
        first = second;
        second = third;
        if (number === 0 || (number === ONLY_TAIL && ENDS_NAME[BYTES[i + 3] ?? 0] === 0)) continue;
        next = this.#meetSign(from + i, SIGNS[number]);
        if (next <= from + i + 1) continue;
        i = next - from - 1;
        first = (BYTES[i + 1] ?? 0) & ASCII;
        second = (BYTES[i + 2] ?? 0) & ASCII;
      }
    }
    if (this.#looksInside) this.#findEncoded();
  }

  /** Where to go on, or -1 for the next character. */
  #meetSign(at: number, sign: Sign | undefined): number {
    if (sign === undefined) return -1;
    const text = this.#text;
    if (sign.isTail === true && !isNamePart(text.charCodeAt(at + 3))) this.#keep(findGiven(text, at + 3));
    if (sign.starts.length > 0 && isWordStart(text, at)) {
      const end = this.#tryStarts(at, sign);
      if (end !== -1) return end;
    }
    for (const { literal, rule } of sign.pivots) {
      const start = findRunStart(text, at, rule);
      const end = start !== -1 && text.startsWith(literal, at) ? this.#tryRule(rule, start) : -1;
      if (end !== -1) return end;
    }
    if (sign.isUrl === true) this.#keep(findUrlSecret(text, at));
    if (sign.isFlag === true && text.charCodeAt(at - 1) !== DASH) this.#keep(findFlagged(text, at));
    if (sign.isWrap === true) this.wraps.push(at);
    return -1;
  }

  /** The end of what was found, or -1. */
  #tryStarts(at: number, { starts }: Sign): number {
    for (const { literal, rules } of starts) {
      if (!this.#text.startsWith(literal, at)) continue;
      for (const rule of rules) {
        const end = this.#tryRule(rule, at);
        if (end !== -1) return end;
      }
      const end = this.#tryCut(literal, at);
      if (end !== -1) return end;
    }
    return -1;
  }

  /** A token that was cut off is known by its beginning. */
  #tryCut(literal: string, at: number): number {
    if (literal.length < 3 || /[ =]/.test(literal)) return -1;
    CUT.lastIndex = at + literal.length;
    if (!CUT.test(this.#text)) return -1;
    this.spans.push({ kind: 'cut-token', start: at, end: CUT.lastIndex });
    return CUT.lastIndex;
  }

  #tryRule({ kind, pattern, check }: Rule, at: number): number {
    pattern.lastIndex = at;
    const match = pattern.exec(this.#text);
    if (match === null) return -1;
    const [all, group] = match;
    const secret = group ?? all;
    const end = at + all.length;
    if (check !== undefined && !check(secret)) return -1;
    const context = group === undefined ? {} : { byContext: true as const };
    this.spans.push({ kind, start: end - secret.length, end, ...context });
    return end;
  }

  /** Runs of base64 characters are found by looking at every twelfth character only. */
  #findEncoded(): void {
    const text = this.#text;
    const { length } = text;
    for (let i = SAMPLE - 1; i < length; i += SAMPLE) {
      if (
        !isBase64(text.charCodeAt(i)) ||
        !isBase64(text.charCodeAt(i - 4)) ||
        !isBase64(text.charCodeAt(i - 8)) ||
        !isBase64(text.charCodeAt(i - SAMPLE + 1))
      )
        continue;
      let start = i;
      while (start > 0 && isBase64(text.charCodeAt(start - 1))) start--;
      let end = i + 1;
      while (end < length && isBase64(text.charCodeAt(end))) end++;
      if (end - start >= LEAST_ENCODED) {
        const encoded = findEncoded(text, { start, end }, (decoded) => new Scan(decoded, false).spans);
        this.#keep(encoded.span);
        end = encoded.end;
      }
      i = Math.max(i, end - SAMPLE);
    }
  }

  #keep(span: Span | null): void {
    if (span !== null) this.spans.push(span);
  }
}

const DASH = 0x2d;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;

/** Of each ASCII character whether it is a word character, whether base64 has it, and whether it can stand behind a name. */
const IS_WORD = markCharacters(/\w/);
const IS_BASE64 = markCharacters(/[\w+/-]/);
const ENDS_NAME = markCharacters(/[ "'\\\]?`:=>]/);

function markCharacters(pattern: RegExp): Uint8Array {
  return Uint8Array.from(ANY, (char) => Number(pattern.test(char)));
}

function isBase64(code: number): boolean {
  return code <= ASCII && IS_BASE64[code] === 1;
}

/** What stands before is no part of a word, nor of words joined by dashes; an escaped line end, or another escaped character, is none. */
function isWordStart(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  if (before === DASH) return !isBase64(text.charCodeAt(at - 2));
  if (at === 0 || before > ASCII || IS_WORD[before] === 0 || IS_WORD[text.charCodeAt(at)] === 0) return true;
  const second = text.charCodeAt(at - 2);
  if (second === BACKSLASH) return before === 0x6e || before === 0x72 || before === 0x74;
  return text.charCodeAt(at - 3) === PERCENT;
}

/** Where the word before a pivot begins, or -1 if it is not as long as the rule has it. */
function findRunStart(text: string, at: number, { before: [least, most] = [1, 64] }: Rule): number {
  let start = at - 1;
  while (start > 0 && at - start <= most && !isWordStart(text, start)) start--;
  const length = at - start;
  return length >= least && length <= most ? start : -1;
}
