import { APOSTROPHE, BACKSLASH, IS_BASE64, isBase64, PERCENT, QUOTE } from './prefilter.ts';
import type { Span } from './rule.ts';

/** A text with its escapes undone, and where each of its characters stood before. */
export interface UnescapedText {
  text: string;
  /** The place in the original of a place in `text`; the end is known as well. */
  locate(index: number): number;
}

export function unescapeText(text: string): UnescapedText {
  /** Where the text goes on as it was, and where that is in the result. */
  const from = [0];
  const to = [0];
  let result = '';
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    const wrap = readWrap(text, i);
    if (wrap === null) continue;
    result += text.slice(last, i);
    from.push(i);
    to.push(result.length);
    result += wrap.plain;
    last = i + wrap.length;
    from.push(last);
    to.push(result.length);
    i = last - 1;
  }
  result += text.slice(last);
  return { text: result, locate: (index) => locate({ from, to }, index) };
}

interface Wrap {
  length: number;
  plain: string;
}

const JOINED = /(["'])\s{0,40}\+\s{0,40}\1/y;
const CONTINUED = /\\\r?\n[ \t]{0,40}/y;

/** A character by its number, a line that goes on, or two strings that are put together; null where there is none. */
function readWrap(text: string, at: number): Wrap | null {
  const code = text.charCodeAt(at);
  if (code === PERCENT) return toWrap(readHex(text, at + 1, at + 3), 3);
  if (code === QUOTE || code === APOSTROPHE) return passOver(text, at, JOINED);
  if (code !== BACKSLASH) return null;
  const mark = text.charAt(at + 1);
  if (mark === 'x') return toWrap(readHex(text, at + 2, at + 4), 4);
  if (mark === '\n' || mark === '\r') return passOver(text, at, CONTINUED);
  if (mark !== 'u') return null;
  const start = at + (text.charAt(at + 2) === '{' ? 3 : 2);
  const end = start + 4 + (text.charAt(start + 4) === '}' ? 1 : 0);
  return toWrap(readHex(text, start, start + 4), end - at);
}

function toWrap(code: number, length: number): Wrap | null {
  return code === -1 ? null : { length, plain: String.fromCharCode(code) };
}

function passOver(text: string, at: number, pattern: RegExp): Wrap | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? { length: pattern.lastIndex - at, plain: '' } : null;
}

/** The number that hexadecimal digits say; -1 where there are others. */
function readHex(text: string, start: number, end: number): number {
  if (end > text.length) return -1;
  let number = 0;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    const letter = code | 32;
    if (code >= 0x30 && code <= 0x39) number = number * 16 + code - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) number = number * 16 + letter - 0x57;
    else return -1;
  }
  return number;
}

function locate({ from, to }: { from: readonly number[]; to: readonly number[] }, index: number): number {
  let low = 0;
  let high = to.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((to[middle] ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return (from[low] ?? 0) + (index - (to[low] ?? 0));
}

/** A part of a text. */
export interface TextRange {
  start: number;
  end: number;
}

const BEFORE = 200;
const AFTER = 400;

/** The surroundings of what is wrapped: the rest of a text need not be looked at twice. */
export function surroundEscapes(text: string, wraps: readonly number[]): TextRange[] {
  const parts: TextRange[] = [];
  let last: TextRange | null = null;
  for (const at of wraps) {
    if (last !== null && at - BEFORE <= last.end) last.end = at + AFTER;
    else {
      const least = Math.max(0, at - 2 * BEFORE);
      const start = least + Math.max(0, text.slice(least, Math.max(0, at - BEFORE) + 1).lastIndexOf('\n'));
      last = { start, end: at + AFTER };
      parts.push(last);
    }
  }
  return parts;
}

export const LEAST_RUN = 24;
const MAX_RUN = 1024 * 1024;
/** The next line of what was wrapped. */
const NEXT_LINE = /(?:\\n|\r?\n[ \t]{0,20})([A-Za-z0-9+/]{4,200}={0,2})/y;

/**
 * The runs of base64 characters in bytes, of which the first one stands at `offset` of a text. Looking from the end of where a
 * run would be passes over most of a text.
 */
export function listRuns(bytes: Uint8Array, offset: number): TextRange[] {
  const runs: TextRange[] = [];
  for (let start = findRun(bytes, 0); start !== -1; ) {
    let end = start + LEAST_RUN;
    while (end < bytes.length && IS_BASE64[bytes[end] ?? 0] === 1) end++;
    runs.push({ start: offset + start, end: offset + end });
    start = findRun(bytes, end);
  }
  return runs;
}

function findRun(bytes: Uint8Array, from: number): number {
  let start = from;
  for (let i = start + LEAST_RUN - 1; i < bytes.length; i = start + LEAST_RUN - 1) {
    while (i >= start && IS_BASE64[bytes[i] ?? 0] === 1) i--;
    if (i < start) return start;
    start = i + 1;
  }
  return -1;
}

/**
 * A run of base64 characters whose text holds a secret is one as a whole, with the lines that follow; `at` is a place in it.
 * `find` looks through the decoded text. Also tells how far was looked.
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
  if (end - start < LEAST_RUN || end - start > MAX_RUN || !isTextual(text, start))
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
  return {
    span: found === undefined ? null : { kind: found.kind, start, end: stop, byContext: true },
    end: stop,
  };
}

/** In the base64 of text, every fourth character from the first stands for six bits of a printable one, or of a line end. */
function isTextual(text: string, start: number): boolean {
  for (let i = start; i < start + 16; i += 4) {
    const code = text.charCodeAt(i);
    if (!((code >= 0x49 && code <= 0x5a) || (code >= 0x61 && code <= 0x66) || code === 0x43)) return false;
  }
  return /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(text.slice(start, start + 16), 'base64').toString('latin1'));
}
