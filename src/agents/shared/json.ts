import { catchError } from '../../errors.ts';
import { formatTimestamp } from '../../model/time.ts';

/** Any JSON object: a row of a transcript, or an object in one. */
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

/** Undefined for text that is not JSON. A byte order mark before it is passed over. */
export function parseAny(text: string): unknown {
  return catchError(SyntaxError, undefined, (): unknown =>
    JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text),
  );
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

/** From milliseconds since 1970 or a date with a time zone; null for anything else. */
export function toTimestamp(value: unknown): string | null {
  const ms = toMs(value);
  return ms === null ? null : formatTimestamp(ms);
}

export function toMs(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : value;
  return typeof ms === 'number' && Number.isFinite(ms) ? Math.trunc(ms) : null;
}

/** The objects in a list; other items are dropped. */
export function toRows(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isRow) : [];
}

/** The text under the first of several keys that has one, well-formed; empty when there is none. */
export function getCleanText(row: Row, key: string, ...others: readonly string[]): string {
  return getText(row, key, ...others)?.toWellFormed() ?? '';
}
