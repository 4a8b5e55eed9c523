import { APOSTROPHE, BACKSLASH, IS_BASE64, isBase64, PERCENT, QUOTE } from './prefilter.ts';
import type { Span } from './rule.ts';

export type TextRange = { start: number; end: number };

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

/** A character by its number, a continued line, or the joint of two strings; null where there is none. */
function readEscape(text: string, at: number): Escape | null {
  const code = text.charCodeAt(at);
  if (code === PERCENT) return readHex(text, { start: at + 1, end: at + 3 }, 3);
  if (code === QUOTE || code === APOSTROPHE) return readJoint(text, at, JOINED);
  if (code !== BACKSLASH) return null;
  const mark = text.charAt(at + 1);
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

/** The runs of base64 characters in bytes that begin at `offset` of a text. Looking from the end of a possible run skips most bytes. */
export function listRuns(bytes: Uint8Array, offset: number): TextRange[] {
  const runs: TextRange[] = [];
  for (let start = findRun(bytes, 0); start !== -1; ) {
    let end = start + MIN_RUN;
    while (end < bytes.length && IS_BASE64[bytes[end] ?? 0] === 1) end++;
    runs.push({ start: offset + start, end: offset + end });
    start = findRun(bytes, end);
  }
  return runs;
}

function findRun(bytes: Uint8Array, from: number): number {
  let start = from;
  for (let i = start + MIN_RUN - 1; i < bytes.length; i = start + MIN_RUN - 1) {
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
  for (let i = start; i < start + 16; i += 4) {
    const code = text.charCodeAt(i);
    if (!((code >= 0x49 && code <= 0x5a) || (code >= 0x61 && code <= 0x66) || code === 0x43)) return false;
  }
  return /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(text.slice(start, start + 16), 'base64').toString('latin1'));
}
