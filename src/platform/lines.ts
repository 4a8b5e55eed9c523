import { closeSync, fstatSync, readSync } from 'node:fs';
import { notAFileError, openToRead } from './external-file.ts';

export interface Line {
  /** A view that is valid until the next line is asked for. Without the line end. */
  bytes: Buffer;
  /** From 1. */
  number: number;
  /** Of the first byte in the file. */
  offset: number;
  /** False for a last line that has no line end yet: somebody may still be writing it. */
  closed: boolean;
}

/** Where the next line begins. */
export interface Position {
  offset: number;
  /** Of that line, from 1. */
  number: number;
}

export function startOfFile(): Position {
  return { offset: 0, number: 1 };
}

interface LineOptions {
  /** Where to begin. Moves behind each line with an end, as it is read or passed over. */
  position?: Position;
  /** What is written behind this offset is not looked at. */
  until?: number;
  /** Called for a line of more than 64 MiB; such a line is passed over. */
  onLongLine?: (number: number) => void;
}

const CHUNK_BYTES = 1024 * 1024;
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** The lines of a regular file, one after the other, in memory that does not grow with the file. */
export function* readLines(path: string, options: LineOptions = {}): Generator<Line> {
  const fd = openToRead(path, 'List sessions: handover sessions');
  try {
    if (!fstatSync(fd).isFile()) throw notAFileError(path, 'Pass the path of a transcript.');
    yield* splitLines(fd, options);
  } finally {
    closeSync(fd);
  }
}

function* splitLines(
  fd: number,
  { onLongLine, position = startOfFile(), until = Number.POSITIVE_INFINITY }: LineOptions,
): Generator<Line> {
  let { offset } = position;
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, until - offset)));
  let filled = 0;
  let skipping = false;
  for (;;) {
    if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    const wanted = Math.min(buffer.length - filled, until - offset - filled);
    const read = wanted <= 0 ? 0 : readSync(fd, buffer, filled, wanted, offset + filled);
    filled += read;
    let start = 0;
    for (let end = buffer.indexOf(0x0a, filled - read); end !== -1 && end < filled; end = buffer.indexOf(0x0a, start)) {
      const isLong = skipping || end - start > MAX_LINE_BYTES;
      const { number } = position;
      const line = { bytes: buffer.subarray(start, end), number, offset: offset + start, closed: true };
      start = end + 1;
      skipping = false;
      position.number = number + 1;
      position.offset = offset + start;
      if (isLong) onLongLine?.(number);
      else yield line;
    }
    if (read === 0) {
      const { number } = position;
      if (start < filled && !skipping)
        yield { bytes: buffer.subarray(start, filled), number, offset: offset + start, closed: false };
      return;
    }
    buffer.copyWithin(0, start, filled);
    filled -= start;
    offset += start;
    if (filled > MAX_LINE_BYTES) {
      skipping = true;
      offset += filled;
      filled = 0;
    }
  }
}
