import type { Span } from './rule.ts';

/** A text with its escapes undone, and where each of its characters stood before. */
export interface Unwrapped {
  text: string;
  /** The place in the original of a place in `text`; the end is known as well. */
  locate(index: number): number;
}

/** Characters by their number, the line that goes on, and strings that are put together. */
const WRAPPING =
  /\\u\{?([0-9a-fA-F]{4})\}?|\\x([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|\\\r?\n[ \t]{0,40}|(["'])\s{0,40}\+\s{0,40}\4/g;

export function unwrap(text: string): Unwrapped {
  const places: { from: number; to: number }[] = [{ from: 0, to: 0 }];
  let result = '';
  let last = 0;
  for (const match of text.matchAll(WRAPPING)) {
    const [all, unicode, hex, percent] = match;
    const code = unicode ?? hex ?? percent;
    result += text.slice(last, match.index);
    places.push({ from: match.index, to: result.length });
    if (code !== undefined) result += String.fromCharCode(Number.parseInt(code, 16));
    last = match.index + all.length;
    places.push({ from: last, to: result.length });
  }
  result += text.slice(last);
  return { text: result, locate: (index) => locate(places, index) };
}

function locate(places: readonly { from: number; to: number }[], index: number): number {
  let low = 0;
  let high = places.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((places[middle]?.to ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  const { from, to } = places[low] ?? { from: 0, to: 0 };
  return from + (index - to);
}

const LEAST_RUN = 24;
const MAX_RUN = 1024 * 1024;
/** The next line of what was wrapped. */
const NEXT_LINE = /(?:\\n|\r?\n[ \t]{0,20})([A-Za-z0-9+/]{4,200}={0,2})/y;

/**
 * A run of base64 characters whose text holds a secret is one as a whole, with the lines that follow. `find` looks through
 * the decoded text. Also tells how far was looked.
 */
export function findEncoded(
  text: string,
  { start, end }: { start: number; end: number },
  find: (decoded: string) => readonly Span[],
): { span: Span | null; end: number } {
  if (end - start < LEAST_RUN || end - start > MAX_RUN || !isTextual(text, start)) return { span: null, end };
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
