import { findAssigned, findFlagged } from './assigned.ts';
import type { Rule, Span } from './rule.ts';
import { RULES } from './rules/table.ts';
import { findUrlSecret } from './url.ts';
import { findEncoded, unwrap } from './wrapped.ts';

const WORD = 1;
/** Begins a rule, though it is no word character. */
const HEAD = 2;
const MARK = 3;
/** Joins words to a run, as base64 has them. */
const JOINT = 4;
const ASCII = 128;

interface Start {
  literal: string;
  rules: Rule[];
}
type PivotRule = Rule & { pivot: string };

const CLASSES = new Uint8Array(ASCII);
for (let code = 0; code < ASCII; code++) if (/\w/.test(String.fromCharCode(code))) CLASSES[code] = WORD;
for (const char of ':=>\\%.~') CLASSES[char.charCodeAt(0)] = MARK;
for (const char of '-+/') CLASSES[char.charCodeAt(0)] = JOINT;

/** Every start by its first three characters, and a table that says without a look at it that there is none. */
const STARTS = new Map<number, Start[]>();
const HAS_START = new Uint8Array(1 << 13);
/** By the first character of the pivot. */
const PIVOTS: PivotRule[][] = Array.from({ length: ASCII }, () => []);

for (const rule of RULES) {
  if (rule.pivot !== undefined) PIVOTS[rule.pivot.charCodeAt(0)]?.push({ ...rule, pivot: rule.pivot });
  for (const literal of rule.starts ?? []) addStart(literal, rule);
}

function addStart(literal: string, rule: Rule): void {
  const [first, second, third] = [literal.charCodeAt(0), literal.charCodeAt(1), literal.charCodeAt(2)];
  if (CLASSES[first] === 0) CLASSES[first] = HEAD;
  HAS_START[hashStart(first, second, third)] = 1;
  const key = packStart(first, second, third);
  const starts = STARTS.get(key) ?? [];
  STARTS.set(key, starts);
  const known = starts.find((start) => start.literal === literal);
  if (known === undefined) starts.push({ literal, rules: [rule] });
  else known.rules.push(rule);
}

function hashStart(first: number, second: number, third: number): number {
  return (first + second * 37 + third * 1009) & 0x1fff;
}

function packStart(first: number, second: number, third: number): number {
  return first | (second << 7) | (third << 14);
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

const LEAST_ENCODED = 24;
/** Pivots that are joints follow as many characters. */
const HEX_KEY = 32;
const CUT = /[\w-]{4,250}(?=…)/y;

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
    const { length } = text;
    let isStart = true;
    let runStart = 0;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      const kind = code < ASCII ? CLASSES[code] : 0;
      if (kind === WORD) {
        if (!isStart) continue;
        isStart = false;
        if (i + 2 >= length) continue;
        if (HAS_START[hashStart(code, text.charCodeAt(i + 1), text.charCodeAt(i + 2))] === 0) continue;
        const end = this.#tryStarts(i);
        if (end === -1) continue;
        i = end - 1;
        isStart = true;
        runStart = end;
        continue;
      }
      isStart = true;
      if (kind === JOINT) {
        if (code === 0x2f) continue;
        const next = this.#meetJoint(i, code, runStart);
        if (next > i) {
          i = next - 1;
          runStart = next;
        }
        continue;
      }
      if (i - runStart >= LEAST_ENCODED) this.#meetRun(runStart, i);
      const next = kind === 0 ? i : kind === HEAD ? this.#tryStarts(i) : this.#meetMark(i, code, runStart);
      if (next > i) i = next - 1;
      runStart = i + 1;
    }
    if (length - runStart >= LEAST_ENCODED) this.#meetRun(runStart, length);
  }

  /** The end of what was found, or -1. */
  #tryStarts(at: number): number {
    const text = this.#text;
    const key = packStart(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2));
    for (const { literal, rules } of STARTS.get(key) ?? []) {
      if (!text.startsWith(literal, at)) continue;
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

  #tryPivots(at: number, code: number, runStart: number): number {
    const before = at - runStart;
    for (const rule of PIVOTS[code] ?? []) {
      const [least, most] = rule.before ?? [1, 64];
      if (before < least || before > most || !this.#text.startsWith(rule.pivot, at)) continue;
      const end = this.#tryRule(rule, runStart);
      if (end !== -1) return end;
    }
    return -1;
  }

  /** Where to go on, if further than the mark. */
  #meetMark(at: number, code: number, runStart: number): number {
    const text = this.#text;
    switch (code) {
      case 0x3a: // :
        if (text.charCodeAt(at + 1) === 0x2f && text.charCodeAt(at + 2) === 0x2f)
          this.#keep(findUrlSecret(text, at));
        else this.#keep(findAssigned(text, at));
        return text.charCodeAt(at + 1) === 0x41 ? this.#tryPivots(at, code, runStart) : -1;
      case 0x3d: // =
      case 0x3e: // >
        this.#keep(findAssigned(text, at));
        return -1;
      case 0x5c: // \
        return this.#meetBackslash(at);
      case 0x25: // %
        if (!isHex(text.charCodeAt(at + 1)) || !isHex(text.charCodeAt(at + 2))) return -1;
        this.wraps.push(at);
        return at + 3;
      default: // . ~
        return this.#tryPivots(at, code, runStart);
    }
  }

  #meetJoint(at: number, code: number, runStart: number): number {
    const text = this.#text;
    if (code === 0x2b) {
      if (isQuote(text.charCodeAt(at - 1)) || isQuote(text.charCodeAt(at - 2))) this.wraps.push(at);
      return -1;
    }
    if (at - runStart === HEX_KEY) return this.#tryPivots(at, code, runStart);
    if (text.charCodeAt(at + 1) !== 0x2d || text.charCodeAt(at - 1) === 0x2d) return -1;
    const end = this.#tryStarts(at);
    if (end !== -1) return end;
    this.#keep(findFlagged(text, at));
    return -1;
  }

  #meetBackslash(at: number): number {
    const next = this.#text.charCodeAt(at + 1);
    if (next === 0x6e || next === 0x72 || next === 0x74) return at + 2; // \n \r \t
    const isNumbered = (next === 0x75 || next === 0x78) && isHex(this.#text.charCodeAt(at + 2)); // \u \x
    if (isNumbered || next === 0x0a || next === 0x0d) this.wraps.push(at);
    return -1;
  }

  #meetRun(start: number, end: number): void {
    if (!this.#looksInside) return;
    this.#keep(findEncoded(this.#text, { start, end }, (decoded) => new Scan(decoded, false).spans));
  }

  #keep(span: Span | null): void {
    if (span !== null) this.spans.push(span);
  }
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27;
}

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}
