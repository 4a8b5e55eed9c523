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

/** A part of a text. */
export interface Part {
  start: number;
  end: number;
}

const BEFORE = 200;
const AFTER = 400;

/** The surroundings of what is wrapped: the rest of a text need not be looked at twice. */
export function surroundWraps(text: string, wraps: readonly number[]): Part[] {
  const parts: Part[] = [];
  let last: Part | null = null;
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
