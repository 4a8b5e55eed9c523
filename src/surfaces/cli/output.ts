import { escapeUnseen, isPlain, revealControls } from '../../model/text.ts';
import type { TextSink } from '../../platform/streams.ts';

/** A piece of a line with its look. The text is cleaned when it is written, whoever it came from. */
export interface Styled {
  text: string;
  style: keyof typeof STYLES;
}

export type Part = string | Styled;

const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], yellow: [33, 39], green: [32, 39] } as const;

export function bold(text: string): Styled {
  return { text, style: 'bold' };
}

export function dim(text: string): Styled {
  return { text, style: 'dim' };
}

export function red(text: string): Styled {
  return { text, style: 'red' };
}

export function yellow(text: string): Styled {
  return { text, style: 'yellow' };
}

export function green(text: string): Styled {
  return { text, style: 'green' };
}

/**
 * The only way to a terminal. Every text is shown without anything that a terminal would act on; the only escape
 * sequences that leave are the ones for the looks above.
 */
export interface Output {
  line(...parts: readonly Part[]): void;
  /** Text of several lines, which may hold tabs and line ends. */
  block(text: string): void;
  /** Bytes as they are, for the next program; a terminal gets them as text that is safe to show. False when nobody reads. */
  bytes(bytes: Uint8Array): boolean;
  /** Draws over the current line of a terminal; null wipes it. */
  redraw(part: Part | null): void;
  /** One JSON document, safe to show. */
  json(value: unknown): void;
  /** An array of JSON values, written as they come, many at a time. */
  jsonArray(values: Iterable<unknown> | AsyncIterable<unknown>): Promise<void>;
}

export function createOutput(sink: TextSink, colours: boolean): Output {
  const show = (part: Part): string => {
    if (typeof part === 'string') return cleanBlock(part);
    const [on, off] = STYLES[part.style];
    const text = cleanBlock(part.text);
    return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  };
  return {
    line: (...parts) => void sink.write(`${parts.map(show).join('')}\n`),
    block: (text) => void sink.write(cleanBlock(text)),
    bytes: (bytes) =>
      sink.isTerminal ? sink.write(cleanBlock(Buffer.from(bytes).toString('utf8'))) : sink.writeBytes(bytes),
    redraw: (part) => void sink.write(`\r\u001b[K${part === null ? '' : show(part)}`),
    json: (value) => void sink.write(`${toSafeJson(value, 2)}\n`),
    jsonArray: (values) => writeArray(sink, values),
  };
}

/** A write costs as much as making the text of many values. */
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

function cleanBlock(text: string): string {
  return isPlain(text) ? text : text.replace(/[^\n\t]+/g, revealControls);
}

function toSafeJson(value: unknown, indent: number): string {
  return escapeUnseen(JSON.stringify(value, null, indent));
}

/** Colours where a person looks and did not decline them. */
export function wantsColours(sink: TextSink, env: Readonly<Record<string, string | undefined>>): boolean {
  return sink.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
}
