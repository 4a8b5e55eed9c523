import { decompressZstd, readHead } from '../../platform/external-file.ts';
import { type Line, readLines } from '../../platform/lines.ts';
import { getNumber, getRow } from '../json.ts';
import { parseLine, peekKind, type RowKind, readKind } from './rows.ts';
import { findSibling, type HistoryBase, readMeta } from './sessions.ts';

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

/** What has to be known of a session before its rows can be told. */
export interface Survey {
  /** Whether the program noted apart what the human typed, and what the model said. */
  hasPrompts: boolean;
  hasReplies: boolean;
  /** Lines that belong to turns that were taken back, from one to another. */
  dead: [number, number][];
}

interface Turn {
  start: number;
  human: boolean;
}

/** A line, and what it is known by among the others: rising numbers. */
export interface SurveyedLine {
  bytes: Buffer;
  index: number;
}

export function surveyNothing(): Survey {
  return { hasPrompts: false, hasReplies: false, dead: [] };
}

export function surveyLines(lines: Iterable<SurveyedLine>): Survey {
  const survey = surveyNothing();
  let marked = false;
  const turns: Turn[] = [];
  for (const { bytes, index } of lines) {
    const peeked = peekKind(bytes);
    if (peeked !== null && !matters(peeked)) continue;
    // What cannot be read as a row, as a line that is still being written, says nothing.
    const row = parseLine(bytes);
    const kind = row === null ? null : (peeked ?? readKind(row));
    if (row === null || kind === null || kind.type !== 'event_msg') continue;
    if (isReply(kind)) survey.hasReplies = true;
    else if (isTurnStart(kind)) {
      marked = true;
      turns.push({ start: index, human: false });
    } else if (isPrompt(kind)) {
      survey.hasPrompts = true;
      const turn = turns.at(-1);
      if (turn === undefined || !marked) turns.push({ start: index, human: true });
      else turn.human = true;
    } else if (isRollback(kind)) {
      const start = takeBack(turns, getNumber(getRow(row, 'payload'), 'num_turns') ?? 0);
      if (start !== null) survey.dead.push([start, index]);
    }
  }
  return survey;
}

/** Whether a row says something of those before it that a survey of these could not know. */
export function isNews(kind: RowKind, { hasPrompts, hasReplies }: Survey): boolean {
  if (kind.type !== 'event_msg') return false;
  return (isPrompt(kind) && !hasPrompts) || (isReply(kind) && !hasReplies) || isRollback(kind);
}

export function isRollback({ type, kind }: RowKind): boolean {
  return type === 'event_msg' && kind === 'thread_rolled_back';
}

function matters(kind: RowKind): boolean {
  if (kind.type !== 'event_msg') return false;
  return isReply(kind) || isPrompt(kind) || isTurnStart(kind) || isRollback(kind);
}

function isTurnStart({ kind }: RowKind): boolean {
  return kind === 'task_started' || kind === 'turn_started';
}

function isPrompt({ kind, item }: RowKind): boolean {
  return kind === 'user_message' || item === 'UserMessage';
}

function isReply({ kind, item }: RowKind): boolean {
  return kind === 'agent_message' || item === 'AgentMessage';
}

/** Removes the last turns that the human began, and says where the first of them starts. */
function takeBack(turns: Turn[], count: number): number | null {
  let start: number | null = null;
  for (let left = count; left > 0; ) {
    const turn = turns.pop();
    if (turn === undefined) break;
    start = turn.start;
    if (turn.human) left--;
  }
  return start;
}

/** For indexes that are asked for in rising order. */
export function makeRangeTest(ranges: readonly [number, number][]): (index: number) => boolean {
  if (ranges.length === 0) return () => false;
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  let next = 0;
  let end = -1;
  return (index) => {
    for (let range = sorted[next]; range !== undefined && range[0] <= index; range = sorted[++next]) {
      end = Math.max(end, range[1]);
    }
    return index <= end;
  };
}
