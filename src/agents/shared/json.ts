import type { ReadStats } from '../agent.ts';

/** A JSON object of which nothing else is known: a row of a transcript, or an object in one. */
export type Row = Readonly<Record<string, unknown>>;

const EMPTY_ROW: Row = {};

export function asRow(value: unknown): Row | null {
  return isRow(value) ? value : null;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null for anything but the JSON of an object. */
export function parseRow(text: string): Row | null {
  return asRow(parseAny(text));
}

/** Undefined for text that is not JSON. */
export function parseAny(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The text under the first of several keys that has one. */
export function getText(row: Row, key: string, ...others: readonly string[]): string | null {
  const value = row[key];
  if (typeof value === 'string') return value;
  const [next, ...more] = others;
  return next === undefined ? null : getText(row, next, ...more);
}

export function getNumber(row: Row, key: string): number | null {
  const value = row[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function getRow(row: Row, key: string): Row {
  return asRow(row[key]) ?? EMPTY_ROW;
}

/** The objects in a list; other items are dropped. */
export function toRows(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isRow) : [];
}

/** The text under the first of several keys that has one, well-formed; empty when there is none. */
export function getCleanText(row: Row, key: string, ...others: readonly string[]): string {
  return getText(row, key, ...others)?.toWellFormed() ?? '';
}

const MAX_TEXTS = 200;
const MAX_DEPTH = 8;

/** All texts in a value, without their keys. */
export function collectTexts(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value.toWellFormed()];
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return [];
  const texts: string[] = [];
  for (const child of Object.values(value)) {
    if (texts.length >= MAX_TEXTS) break;
    texts.push(...collectTexts(child, depth + 1));
  }
  return texts.slice(0, MAX_TEXTS);
}

/** Counts a row that no version of the agent writes. */
export function countUnreadable(stats: ReadStats): void {
  stats.rows++;
  stats.unreadable++;
}

const MAX_KINDS = 100;

/** Counts a row of a kind that the reader does not know. The kinds come from the file, so only so many get a counter. */
export function countUnknown({ unknown }: ReadStats, kind: string): void {
  const short = kind.slice(0, 80).toWellFormed();
  const name = Object.hasOwn(unknown, short) || Object.keys(unknown).length < MAX_KINDS ? short : 'other';
  const count = Object.hasOwn(unknown, name) ? (unknown[name] ?? 0) : 0;
  // Defined rather than assigned: a kind named `__proto__` would change the prototype.
  Object.defineProperty(unknown, name, { value: count + 1, writable: true, enumerable: true, configurable: true });
}

/** The blocks of a message, which may also be one plain text. */
export function toBlocks(content: unknown): readonly Row[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : toRows(content);
}

/** The texts of content that is one plain text or a list of blocks. */
export function listTexts(content: unknown): string[] {
  return typeof content === 'string' ? [content] : listBlockTexts(content);
}

/** The texts of a list of blocks; none for anything else. */
export function listBlockTexts(blocks: unknown): string[] {
  return toRows(blocks).flatMap((block) => getText(block, 'text') ?? []);
}

/** The text of content that is one plain text or a list of blocks, some of which may not be text. */
export function joinText(content: unknown): string {
  return listBlockTexts(toBlocks(content).filter(({ type }) => type === 'text')).join('\n');
}
