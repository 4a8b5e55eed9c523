import { decompressZstd, readHead } from '../../platform/external-file.ts';
import { type Line, readLines } from '../../platform/lines.ts';
import { type HistoryBase, readMeta } from './head.ts';
import { findSibling } from './paths.ts';
import { peekKind } from './rows.ts';

/** A rollout file, or the beginning of one that another continues. */
interface Segment {
  path: string;
  end: Pick<HistoryBase, 'endOffset' | 'endOrdinal'>;
}

export interface History {
  segments: Segment[];
  /** The rollout that this one continues is gone. */
  incomplete: boolean;
}

const META_BYTES = 1024 * 1024;
const MAX_SEGMENTS = 32;
const MAX_DECOMPRESSED_BYTES = 512 * 1024 * 1024;
const MAX_COMPRESSED_BYTES = 256 * 1024 * 1024;

/** The files that hold a session, the oldest first. */
export function findHistory(path: string): History {
  const segments: Segment[] = [{ path, end: { endOffset: null, endOrdinal: null } }];
  let oldest = path;
  while (segments.length < MAX_SEGMENTS) {
    const head = oldest.endsWith('.zst') ? null : readHead(oldest, META_BYTES);
    const base = head === null ? null : (readMeta(head.bytes)?.base ?? null);
    if (base === null) return { segments, incomplete: false };
    const parent = findSibling(oldest, base.rollout);
    if (parent === null || segments.some((segment) => segment.path === parent)) break;
    segments.unshift({ path: parent, end: base });
    oldest = parent;
  }
  return { segments, incomplete: true };
}

export interface HistoryLine extends Line {
  /** Counts the lines of all segments, from 0. */
  index: number;
}

/** All lines of a session. `onUnreadable` is called for each line, or compressed file, that cannot be had. */
export function* readHistory({ segments }: History, onUnreadable: () => void): Generator<HistoryLine> {
  let index = 0;
  for (const segment of segments) {
    for (const line of readSegment(segment, onUnreadable)) yield { ...line, index: index++ };
  }
}

function* readSegment({ path, end }: Segment, onUnreadable: () => void): Generator<Line> {
  const lines = path.endsWith('.zst')
    ? readCompressed(path, onUnreadable)
    : readLines(path, { onLongLine: onUnreadable });
  for (const line of lines) {
    if (end.endOffset !== null && line.offset >= end.endOffset) return;
    if (end.endOffset === null && end.endOrdinal !== null) {
      const ordinal = peekKind(line.bytes)?.ordinal ?? line.number - 1;
      if (ordinal >= end.endOrdinal) return;
    }
    yield line;
  }
}

function* readCompressed(path: string, onUnreadable: () => void): Generator<Line> {
  const file = readHead(path, MAX_COMPRESSED_BYTES);
  const content = file === null ? null : decompressZstd(file.bytes, MAX_DECOMPRESSED_BYTES);
  if (content === null) {
    onUnreadable();
    return;
  }
  let offset = 0;
  for (let number = 1; offset < content.length; number++) {
    const found = content.indexOf(0x0a, offset);
    const end = found === -1 ? content.length : found;
    yield { bytes: content.subarray(offset, end), number, offset, closed: found !== -1 };
    offset = end + 1;
  }
}
