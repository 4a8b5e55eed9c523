import { bold, dim, type Line, type Part, type Style, yellow } from '../../app/describe/styled-text.ts';
import type { Notice } from '../../app/notices.ts';
import { cleanLine, escapeUnseen, revealText } from '../../model/text.ts';
import { describeAge, isSavedByHand } from '../../model/time.ts';
import type { TextSink } from '../../platform/streams.ts';
import { type CatalogRow, timeOfWork } from '../../store/catalog.ts';

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
  /** Of a terminal; infinite where there is none. */
  readonly columns: number;
  /** A line cut to the width of the terminal less `taken` columns; whole without a terminal. */
  fit(text: string, taken: number): string;
  /** Unchanged bytes for another program; a terminal gets them as safe text. False when nobody reads. */
  bytes(bytes: Uint8Array): boolean;
  /** Draws over the current line of a terminal; null clears it. */
  redraw(part: Part | null): void;
  /** One JSON document, safe to show. */
  json(value: unknown): void;
  /** A JSON array, written as its values come, many at a time. */
  jsonArray(values: Iterable<unknown> | AsyncIterable<unknown>): Promise<void>;
}

/** Of a terminal that does not know its width. */
const DEFAULT_COLUMNS = 80;

export type Layout = Pick<typeof import('./layout.ts'), 'wrapText' | 'fitLine'>;

/** Without a layout, lines are as long as they are: it is for terminals. */
export function createOutput(sink: TextSink, colours: boolean, layout: Layout | null = null): Output {
  const columns = (): number => sink.size()?.columns ?? DEFAULT_COLUMNS;
  const wrap = (text: string): string => (layout === null ? text : layout.wrapText(text, columns()));
  const show = (part: Part): string => {
    if (typeof part === 'string') return revealText(part);
    const [on, off] = STYLES[part.style];
    const text = revealText(part.text);
    return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  };
  const line = (...parts: Line): void => void sink.write(`${wrap(parts.map(show).join(''))}\n`);
  return {
    line,
    lines: (lines) => {
      for (const parts of lines) line(...parts);
    },
    block: (text) => void sink.write(wrap(revealText(text))),
    get columns() {
      return layout === null ? Number.POSITIVE_INFINITY : columns();
    },
    fit: (text, taken) => (layout === null ? text : layout.fitLine(cleanLine(text), columns() - taken)),
    bytes: (bytes) =>
      sink.isTerminal ? sink.write(revealText(Buffer.from(bytes).toString('utf8'))) : sink.writeBytes(bytes),
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

/** Lines of whole words, all indented; a word that is longer than the width stands alone. */
export function wrap(text: string, width: number, indent: number): string[] {
  const room = Math.max(width - indent, 20);
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${' '.repeat(indent)}${line}`);
}

/** Longer output than this is not held back. */
const MAX_HELD = 4 * 1024 * 1024;

/** Sinks of a terminal whose text waits until it is known whether it fits on the screen. */
export interface HeldOutput {
  stdout: TextSink;
  stderr: TextSink;
  /** Shows what was held: by `page` if it is longer than the screen and that succeeds, else as it would have been. */
  release(page: (text: string) => Promise<boolean>): Promise<void>;
}

export function holdOutput(stdout: TextSink, stderr: TextSink): HeldOutput {
  let held: { sink: TextSink; text: string }[] | null = [];
  let size = 0;
  const flush = (): void => {
    const texts = held ?? [];
    held = null;
    for (const { sink, text } of texts) sink.write(text);
  };
  const hold = (sink: TextSink): TextSink => ({
    ...sink,
    write: (text) => {
      // Progress is drawn at once; a notice that goes elsewhere than to the screen has nothing to wait for.
      if (held === null || text.startsWith('\r') || !sink.isTerminal) return sink.write(text);
      held.push({ sink, text });
      size += text.length;
      if (size > MAX_HELD) flush();
      return true;
    },
  });
  return {
    stdout: hold(stdout),
    stderr: hold(stderr),
    release: async (page) => {
      const text = (held ?? []).map((part) => part.text).join('');
      const screen = stdout.size();
      if (screen !== null && countRows(text, screen.columns) >= screen.rows && (await page(text))) held = null;
      flush();
    },
  };
}

function countRows(text: string, columns: number): number {
  const [first = '', ...styled] = text.split('\u001b[');
  const lines = [first, ...styled.map((part) => part.replace(/^\d+m/, ''))].join('').split('\n');
  return lines.slice(0, -1).reduce((rows, line) => rows + Math.max(Math.ceil(line.length / columns), 1), 0);
}

/** The same, with JSON documents that say what they are, unless they say it already; in an array, each does. */
export function stampJson(out: Output, schema: string): Output {
  const stamp = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(stamp);
    const isOpen = typeof value === 'object' && value !== null && !('schema' in value || 'schema_version' in value);
    return isOpen ? { schema, ...value } : value;
  };
  async function* stampAll(values: Iterable<unknown> | AsyncIterable<unknown>): AsyncIterable<unknown> {
    for await (const value of values) yield stamp(value);
  }
  return { ...out, json: (value) => out.json(stamp(value)), jsonArray: (values) => out.jsonArray(stampAll(values)) };
}

const MIN_TITLE_COLUMNS = 30;

/** The head of an item in a list. The title gets a line of its own where little room is left beside the others. */
export function showItem(out: Output, { id, agent, title }: { id: string; agent: string; title: string }): Part[] {
  const about = `  ${agent.padEnd(12)}  `;
  const used = id.length + about.length;
  if (out.columns - used < MIN_TITLE_COLUMNS) return [bold(id), `  ${agent}\n  ${out.fit(title, 2)}\n`];
  return [bold(id), `${about}${out.fit(title, used)}\n`];
}

/** The age of its work, and of what was added to that by hand. */
export function describeRowAge(row: CatalogRow, now: number): string {
  const ageOf = (at: string): string => describeAge(now - Date.parse(at));
  const worked = ageOf(timeOfWork(row));
  if (row.noted_at === null) return worked;
  const noted = ageOf(row.noted_at);
  if (!isSavedByHand(row)) return `${worked}, with a note saved by hand ${noted}`;
  return `${noted}, saved by hand on the work of ${row.agent}, ${worked}`;
}

/** Colours for a person who did not decline them. Of variables that contradict each other, the first here counts. */
export function wantsColours(
  sink: Pick<TextSink, 'isTerminal'>,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const { FORCE_COLOR: force, CLICOLOR_FORCE: forceAlso } = env;
  if (force) return !/^(?:0|false)$/i.test(force);
  if (env.NO_COLOR) return false;
  if (forceAlso && forceAlso !== '0') return true;
  return sink.isTerminal && env.CLICOLOR !== '0' && env.TERM !== 'dumb';
}

export function printNotice(err: Output, { level, text, next }: Notice): void {
  if (level === 'info') err.line(dim(text));
  else err.line(yellow(`${level}: `), text);
  if (next !== undefined) err.line(dim('  next: '), next);
}
