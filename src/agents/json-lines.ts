import { isAscii } from 'node:buffer';
import { readLines } from '../platform/lines.ts';
import type { Reading } from './agent.ts';
import { parseRow, type Row } from './row.ts';

export interface NumberedRow {
  row: Row;
  /** From 1. */
  line: number;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const OPEN_OBJECT = 0x7b;

/**
 * The rows of a transcript that keeps one JSON object a line, one after the other. `isNeedless` may look at the bytes
 * of a line to save the cost of parsing it. A last line without its end may still be being written: it is a row once
 * it parses, and until then nobody's mistake.
 */
export function* readJsonLines(
  path: string,
  reading: Reading,
  isNeedless: (bytes: Buffer) => boolean = () => false,
): Generator<NumberedRow> {
  const onLongLine = (): void => {
    reading.rows++;
    reading.unreadable++;
  };
  for (const { bytes, number, closed } of readLines(path, { onLongLine })) {
    const content = number === 1 ? skipByteOrderMark(bytes) : bytes;
    if (isBlank(content)) continue;
    if (closed && isNeedless(content)) {
      reading.rows++;
      continue;
    }
    const row = parseRow(decode(content));
    if (row === null && !closed) continue;
    reading.rows++;
    if (row === null) reading.unreadable++;
    else yield { row, line: number };
  }
}

/** Most rows are ASCII, and that is several times cheaper to take over than to decode. */
function decode(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

function skipByteOrderMark(bytes: Buffer): Buffer {
  const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

function isBlank(bytes: Buffer): boolean {
  if (bytes[0] === OPEN_OBJECT) return false;
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
