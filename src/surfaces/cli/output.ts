import { cleanText, dim, type Line, type Part, type Style, yellow } from '../../app/describe/styled-text.ts';
import type { Notice } from '../../app/notices.ts';
import { escapeUnseen } from '../../model/text.ts';
import type { TextSink } from '../../platform/streams.ts';

const STYLES: Readonly<Record<Style, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
};

/** The only way to a terminal. Texts are cleaned of what it would act on; the styles are the only escape sequences. */
export interface Output {
  line(...parts: Line): void;
  lines(lines: readonly Line[]): void;
  /** Text of several lines, with tabs and line ends as they are. */
  block(text: string): void;
  /** Unchanged bytes for another program; a terminal gets them as safe text. False when nobody reads. */
  bytes(bytes: Uint8Array): boolean;
  /** Draws over the current line of a terminal; null clears it. */
  redraw(part: Part | null): void;
  /** One JSON document, safe to show. */
  json(value: unknown): void;
  /** A JSON array, written as its values come, many at a time. */
  jsonArray(values: Iterable<unknown> | AsyncIterable<unknown>): Promise<void>;
}

export function createOutput(sink: TextSink, colours: boolean): Output {
  const show = (part: Part): string => {
    if (typeof part === 'string') return cleanText(part);
    const [on, off] = STYLES[part.style];
    const text = cleanText(part.text);
    return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  };
  const line = (...parts: Line): void => void sink.write(`${parts.map(show).join('')}\n`);
  return {
    line,
    lines: (lines) => {
      for (const parts of lines) line(...parts);
    },
    block: (text) => void sink.write(cleanText(text)),
    bytes: (bytes) =>
      sink.isTerminal ? sink.write(cleanText(Buffer.from(bytes).toString('utf8'))) : sink.writeBytes(bytes),
    redraw: (part) => void sink.write(`\r\u001b[K${part === null ? '' : show(part)}`),
    json: (value) => void sink.write(`${toSafeJson(value, 2)}\n`),
    jsonArray: (values) => writeArray(sink, values),
  };
}

/** A write costs as much as formatting many values. */
const CHUNK_CHARACTERS = 32 * 1024;

async function writeArray(sink: TextSink, values: Iterable<unknown> | AsyncIterable<unknown>): Promise<void> {
  let pending = '[';
  let before = '\n';
  for await (const value of values) {
    pending += `${before}  ${toSafeJson(value, 0)}`;
    before = ',\n';
    if (pending.length < CHUNK_CHARACTERS) continue;
    if (!sink.write(pending)) return;
    pending = '';
  }
  sink.write(before === '\n' ? '[]\n' : `${pending}\n]\n`);
}

function toSafeJson(value: unknown, indent: number): string {
  return escapeUnseen(JSON.stringify(value, null, indent));
}

/** Colours for a person who did not decline them. */
export function wantsColours(sink: TextSink, env: Readonly<Record<string, string | undefined>>): boolean {
  return sink.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
}

export function printNotice(err: Output, { level, text, next }: Notice): void {
  if (level === 'info') err.line(dim(text));
  else err.line(yellow(`${level}: `), text);
  if (next !== undefined) err.line(dim('  next: '), next);
}
