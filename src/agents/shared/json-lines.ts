import { isAscii } from 'node:buffer';
import { type Position, readLines, startOfFile } from '../../platform/lines.ts';
import { countUnreadable, type ReadStats } from '../agent.ts';
import { parseRow, type Row } from './json.ts';

const QUOTE = 0x22;
const MAX_PEEKED = 60;

/** The bytes of `"name":"`, to look for with `peekText`. */
export function toKey(name: string): Buffer {
  return Buffer.from(`"${name}":"`);
}

/** The first text under a key, also of an inner object, or empty if long. Quotes in texts are escaped: none matches. */
export function peekText(bytes: Buffer, key: Buffer): string {
  const at = bytes.indexOf(key);
  if (at === -1) return '';
  const start = at + key.length;
  const end = bytes.subarray(start, start + MAX_PEEKED).indexOf(QUOTE);
  return end === -1 ? '' : bytes.toString('latin1', start, start + end);
}

export interface NumberedRow {
  row: Row;
  /** From 1. */
  line: number;
}

/** Ways to read the rows of a format without parsing all of its bytes. */
export interface Shortcuts {
  /** Whether the bytes of a line show that it has no event. */
  canSkip?(bytes: Buffer): boolean;
  /** The text of a row, without bytes that are not needed. */
  decode?(bytes: Buffer): string;
}

/** The part of a file that is read. */
type ByteRange = { position: Position; until: number };

const OPEN_OBJECT = 0x7b;

/** The rows of a transcript with one JSON object per line, in order. */
export function* readJsonLines(path: string, stats: ReadStats, shortcuts: Shortcuts = {}): Generator<NumberedRow> {
  const extent = { position: startOfFile(), until: Number.POSITIVE_INFINITY };
  yield* readClosedRows(path, stats, { ...shortcuts, ...extent });
  yield* readOpenRow(path, stats, extent);
}

/** The rows in complete lines. Advances the position. */
export function* readClosedRows(
  path: string,
  stats: ReadStats,
  { position, until, canSkip = () => false, decode = decodeText }: ByteRange & Shortcuts,
): Generator<NumberedRow> {
  const onLongLine = (): void => countUnreadable(stats);
  for (const { bytes, number, closed } of readLines(path, { position, until, onLongLine })) {
    if (!closed || isBlank(bytes)) continue;
    stats.rows++;
    if (canSkip(bytes)) continue;
    const row = parseRow(decode(bytes));
    if (row === null) stats.unreadable++;
    else yield { row, line: number };
  }
}

/** The row in an unfinished last line, to be read last. It may still be being written: it never counts as unreadable. */
export function* readOpenRow(path: string, stats: ReadStats, { position, until }: ByteRange): Generator<NumberedRow> {
  for (const { bytes, number } of readLines(path, { position: { ...position }, until })) {
    const row = parseRow(decodeText(bytes));
    if (row === null) continue;
    stats.rows++;
    yield { row, line: number };
  }
}

/** Most rows are ASCII, which is several times cheaper to decode as Latin-1. */
export function decodeText(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

function isBlank(bytes: Buffer): boolean {
  if (bytes[0] === OPEN_OBJECT) return false;
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
