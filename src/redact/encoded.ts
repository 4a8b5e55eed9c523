import { IS_BASE64, isBase64 } from './characters.ts';
import type { Span } from './rule.ts';
import type { Part } from './wrapped.ts';

export const LEAST_RUN = 24;
const MAX_RUN = 1024 * 1024;
/** The next line of what was wrapped. */
const NEXT_LINE = /(?:\\n|\r?\n[ \t]{0,20})([A-Za-z0-9+/]{4,200}={0,2})/y;

/**
 * The runs of base64 characters in bytes, of which the first one stands at `offset` of a text. Looking from the end of where a
 * run would be passes over most of a text.
 */
export function listRuns(bytes: Uint8Array, offset: number): Part[] {
  const runs: Part[] = [];
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
