import { cleanText } from '../model/text.ts';
import { APOSTROPHE, BACKSLASH, IS_BASE64, isBase64, PERCENT, QUOTE } from './prefilter.ts';
import type { Span, TextRange } from './rule.ts';
import { looksLikeWords } from './values.ts';

/** The text without its escapes; `locate` maps a place in it, or its end, to the place in the original. */
export function unescapeText(text: string): { text: string; locate: (index: number) => number } {
  /** Pairs of places, in the original and in the result, from which on they run in step. */
  const from = [0];
  const to = [0];
  let result = '';
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    const found = readEscape(text, i);
    if (found === null) continue;
    result += text.slice(last, i);
    from.push(i);
    to.push(result.length);
    result += found.plain;
    last = i + found.length;
    from.push(last);
    to.push(result.length);
    i = last - 1;
  }
  result += text.slice(last);
  const locate = (index: number): number => {
    let low = 0;
    let high = to.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((to[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return (from[low] ?? 0) + (index - (to[low] ?? 0));
  };
  return { text: result, locate };
}

type Escape = { length: number; plain: string };

const JOINED = /(["'])\s{0,40}\+\s{0,40}\1/y;
const CONTINUED = /\\\r?\n[ \t]{0,40}/y;
/** A colour, by the number of its first character. */
const COLOUR = /\\(?:u001[bB]|x1[bB]|e|0?33)\[[0-9;]{0,20}m/y;

/** A character by its number, a continued line, or the joint of two strings; null where there is none. */
function readEscape(text: string, at: number): Escape | null {
  const code = text.charCodeAt(at);
  if (code === PERCENT) return readHex(text, { start: at + 1, end: at + 3 }, 3);
  if (code === QUOTE || code === APOSTROPHE) return readJoint(text, at, JOINED);
  if (code !== BACKSLASH) return null;
  const mark = text.charAt(at + 1);
  const colour = 'xue03'.includes(mark) ? readJoint(text, at, COLOUR) : null;
  if (colour !== null) return colour;
  if (mark === 'x') return readHex(text, { start: at + 2, end: at + 4 }, 4);
  if (mark === '\n' || mark === '\r') return readJoint(text, at, CONTINUED);
  if (mark !== 'u') return null;
  const start = at + (text.charAt(at + 2) === '{' ? 3 : 2);
  const end = start + 4 + (text.charAt(start + 4) === '}' ? 1 : 0);
  return readHex(text, { start, end: start + 4 }, end - at);
}

function readJoint(text: string, at: number, pattern: RegExp): Escape | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? { length: pattern.lastIndex - at, plain: '' } : null;
}

/** Hexadecimal digits in an escape of `length` characters. */
function readHex(text: string, { start, end }: TextRange, length: number): Escape | null {
  if (end > text.length) return null;
  let number = 0;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    const letter = code | 32;
    if (code >= 0x30 && code <= 0x39) number = number * 16 + code - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) number = number * 16 + letter - 0x57;
    else return null;
  }
  return { length, plain: String.fromCharCode(number) };
}

const TOKEN = /[\w.~+/=%:$!-]{8,2000}(?=["'`]?[ \t,+\\]{0,4}\r?\n)/y;
/** The end of a line within a token, what tools write before the next one, and what is alone on that. */
const NEXT_PART =
  /["'`]?[ \t,+\\]{0,4}\r?\n([-+>|#*│]|[ \t]{0,6}\d{1,6}[→:|\t]|\/\/)?[ \t]{0,40}["'`]?([\w.~+/=%$!-]{1,2000})(?=["'`]?[ \t,;)+\\]{0,4}(?:\r?\n|$))/y;
const MAX_PARTS = 64;

const isOther = (line: string): boolean => looksLikeWords(line) || (line.length < 8 && !/\d/.test(line));

/** A token that begins at a place with `literal` and goes on in the next lines, without the line ends; null where it fits nowhere. */
export function unwrapToken(
  text: string,
  at: number,
  { literal, fits }: { literal: string; fits: (token: string) => boolean },
): { token: string; end: number } | null {
  TOKEN.lastIndex = at;
  let [token = ''] = TOKEN.exec(text) ?? [];
  if (token.length < literal.length) return null;
  const before = text.charAt(text.slice(Math.max(0, at - 200), at).lastIndexOf('\n') + 1 + Math.max(0, at - 200));
  let [end, isWhole] = [at + token.length, fits(token)];
  let found: { token: string; end: number } | null = null;
  for (let part = 1; part <= MAX_PARTS; part++) {
    NEXT_PART.lastIndex = end;
    const [all = '', mark = '', rest = ''] = NEXT_PART.exec(text) ?? [];
    // Two marks may be of the token as well as of a diff.
    const next = /[-+]/.test(mark) && mark !== before ? mark + rest : rest;
    // What is whole goes on only with more of the same.
    if (next === '' || next.startsWith(literal) || (isWhole && isOther(next))) break;
    [token, end] = [token + next, end + all.length];
    isWhole = fits(token);
    if (isWhole) found = { token, end };
  }
  return found;
}

const BEFORE = 200;
const AFTER = 400;

/** The ranges around escapes: only these are scanned again without the escapes. */
export function surroundEscapes(text: string, escapes: readonly number[]): TextRange[] {
  const ranges: TextRange[] = [];
  let last: TextRange | null = null;
  for (const at of escapes) {
    if (last !== null && at - BEFORE <= last.end) last.end = at + AFTER;
    else {
      const least = Math.max(0, at - 2 * BEFORE);
      const start = least + Math.max(0, text.slice(least, Math.max(0, at - BEFORE) + 1).lastIndexOf('\n'));
      last = { start, end: at + AFTER };
      ranges.push(last);
    }
  }
  return ranges;
}

export const MIN_RUN = 24;
const MAX_RUN = 1024 * 1024;
const NEXT_LINE = /(?:\\n|\r?\n[ \t]{0,20})([A-Za-z0-9+/]{4,200}={0,2})/y;

const NO_RUNS: TextRange[] = [];

/** The runs of base64 characters in the first `size` bytes, which begin at `offset` of a text. Looking from the end of a possible run skips most bytes. */
export function listRuns(bytes: Uint8Array, size: number, offset: number): TextRange[] {
  let start = findRun(bytes, 0, size);
  if (start === -1) return NO_RUNS;
  const runs: TextRange[] = [];
  while (start !== -1) {
    let end = start + MIN_RUN;
    while (end < size && IS_BASE64[bytes[end] ?? 0] === 1) end++;
    runs.push({ start: offset + start, end: offset + end });
    start = findRun(bytes, end, size);
  }
  return runs;
}

function findRun(bytes: Uint8Array, from: number, size: number): number {
  let start = from;
  for (let i = start + MIN_RUN - 1; i < size; i = start + MIN_RUN - 1) {
    while (i >= start && IS_BASE64[bytes[i] ?? 0] === 1) i--;
    if (i < start) return start;
    start = i + 1;
  }
  return -1;
}

/**
 * The whole run of base64 around `at`, with the lines that follow, if `find` finds a secret in its decoded text. `end` is
 * where to continue.
 */
export function findEncoded(
  text: string,
  at: number,
  find: (decoded: string) => readonly Span[],
): { span: Span | null; end: number } {
  let start = at;
  while (start > 0 && isBase64(text.charCodeAt(start - 1))) start--;
  let end = at;
  while (end < text.length && isBase64(text.charCodeAt(end))) end++;
  if (end - start < MIN_RUN || end - start > MAX_RUN || !isTextual(text, start))
    return { span: null, end: Math.max(end, at + 1) };
  let stop = end;
  while (stop < text.length && stop < end + 2 && text.charAt(stop) === '=') stop++;
  let run = text.slice(start, stop);
  NEXT_LINE.lastIndex = stop;
  for (let next = NEXT_LINE.exec(text); next !== null && run.length < MAX_RUN; next = NEXT_LINE.exec(text)) {
    run += next[1] ?? '';
    stop = NEXT_LINE.lastIndex;
  }
  const [found] = find(Buffer.from(run, 'base64').toString('latin1'));
  if (found === undefined) return { span: null, end: stop };
  return { span: { kind: found.kind, start, end: stop, byContext: true }, end: stop };
}

/** A quick check first: in the base64 of text, every fourth character has the high bits of a printable character or line end. */
function isTextual(text: string, start: number): boolean {
  for (let i = start; i < start + MIN_RUN; i += 4) {
    const code = text.charCodeAt(i);
    if (!((code >= 0x49 && code <= 0x5a) || (code >= 0x61 && code <= 0x66) || code === 0x43)) return false;
  }
  // Neither do the second and the third byte of four characters have their high bit.
  for (let i = start; i < start + MIN_RUN; i += 4)
    if ((readSix(text, i + 1) & 8) !== 0 || (readSix(text, i + 2) & 2) !== 0) return false;
  return /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(text.slice(start, start + 16), 'base64').toString('latin1'));
}

const SIX_BITS = Uint8Array.from(
  { length: 128 },
  (_, code) => (Buffer.from(`${String.fromCharCode(code)}A`, 'base64')[0] ?? 0) >> 2,
);

function readSix(text: string, at: number): number {
  return SIX_BITS[text.charCodeAt(at)] ?? 0;
}

/**
 * The text as it will be stored and read: without colours, control and invisible characters, which may split a secret or its
 * name. Null where there are none. Secrets are looked for in it as well, so that it does not matter who cleans a text when.
 */
export function readSeen(text: string): string | null {
  // The sign that stands for an escape where it was made visible.
  const seen = cleanText(text.replaceAll('\u241b', '\u001b'));
  return seen === text ? null : seen;
}

/** Spans of what is seen, at their places in the text, with all that is unseen between their characters. */
export function locateSeen(spans: readonly Span[], { text, seen }: { text: string; seen: string }): Span[] {
  if (spans.length === 0) return [];
  const starts = alignStarts(text, seen);
  const ends = alignEnds(text, seen);
  return spans.map(({ start, end, ...span }) => ({
    ...span,
    start: starts[start] ?? 0,
    end: (ends[end - 1] ?? text.length - 1) + 1,
    value: span.value ?? seen.slice(start, end),
  }));
}

/** For every character seen, the first place in the text where it may be. */
function alignStarts(text: string, seen: string): Uint32Array {
  const places = new Uint32Array(seen.length);
  for (let [at, i] = [0, 0]; i < seen.length; i++, at++) {
    while (at < text.length && !isSame(text.charCodeAt(at), seen.charCodeAt(i))) at++;
    places[i] = at;
  }
  return places;
}

/** The last one. */
function alignEnds(text: string, seen: string): Uint32Array {
  const places = new Uint32Array(seen.length);
  for (let [at, i] = [text.length - 1, seen.length - 1]; i >= 0; i--, at--) {
    while (at > 0 && !isSame(text.charCodeAt(at), seen.charCodeAt(i))) at--;
    places[i] = Math.max(0, at);
  }
  return places;
}

const LINE_FEED = 0x0a;
const REPLACEMENT = 0xfffd;

/** Cleaning makes every line break the same, and replaces halves of characters. */
function isSame(raw: number, seen: number): boolean {
  if (raw === seen) return true;
  if (seen === LINE_FEED) return raw === 0x0d || raw === 0x2028 || raw === 0x2029;
  return seen === REPLACEMENT && raw >= 0xd800 && raw <= 0xdfff;
}
