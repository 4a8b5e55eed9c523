import { decompressZstd, readHead } from '../../platform/external-file.ts';
import { type Line, readLines } from '../../platform/lines.ts';
import { getNumber, getRow, parseRow } from '../shared/json.ts';
import { peekKind, type RowKind, readKind } from './rows.ts';
import { findSibling, type HistoryBase, readMeta } from './sessions.ts';

/** The files of a session, the oldest first: each but the last is read up to where the next one continues it. */
interface History {
  segments: { path: string; end: Pick<HistoryBase, 'endOffset' | 'endOrdinal'> }[];
  /** Whether a rollout that another one continues is missing. */
  incomplete: boolean;
}

const META_BYTES = 1024 * 1024;
const MAX_SEGMENTS = 32;
const MAX_DECOMPRESSED_BYTES = 512 * 1024 * 1024;
const MAX_COMPRESSED_BYTES = 256 * 1024 * 1024;

export function findHistory(path: string): History {
  const segments: History['segments'] = [{ path, end: { endOffset: null, endOrdinal: null } }];
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

/** All lines of a session, with an index over all files. Calls `onUnreadable` for each unreadable line or file. */
export function* readHistory({ segments }: History, onUnreadable: () => void): Generator<Line & { index: number }> {
  let index = 0;
  for (const { path, end } of segments) {
    const isCompressed = path.endsWith('.zst');
    const lines = isCompressed ? readCompressed(path, onUnreadable) : readLines(path, { onLongLine: onUnreadable });
    for (const line of lines) {
      if (isPastEnd(line, end)) break;
      yield { ...line, index: index++ };
    }
  }
}

function isPastEnd(line: Line, { endOffset, endOrdinal }: Pick<HistoryBase, 'endOffset' | 'endOrdinal'>): boolean {
  if (endOffset !== null) return line.offset >= endOffset;
  return endOrdinal !== null && (peekKind(line.bytes)?.ordinal ?? line.number - 1) >= endOrdinal;
}

function* readCompressed(path: string, onUnreadable: () => void): Generator<Line> {
  const file = readHead(path, MAX_COMPRESSED_BYTES);
  const content = file === null ? null : decompressZstd(file.bytes, MAX_DECOMPRESSED_BYTES);
  if (content === null) return onUnreadable();
  let offset = 0;
  for (let number = 1; offset < content.length; number++) {
    const found = content.indexOf(0x0a, offset);
    const end = found === -1 ? content.length : found;
    yield { bytes: content.subarray(offset, end), number, offset, closed: found !== -1 };
    offset = end + 1;
  }
}

/** What must be known of a whole session before its rows can be read. Saved with a bookmark. */
export interface RolloutSurvey {
  /** Whether the program also writes prompts, and replies, as events. */
  hasPrompts: boolean;
  hasReplies: boolean;
  /** The first and last index of the lines of each rollback. */
  dead: [number, number][];
}

export function startSurvey(): RolloutSurvey {
  return { hasPrompts: false, hasReplies: false, dead: [] };
}

/** Indexes must rise. */
export function surveyLines(lines: Iterable<{ bytes: Buffer; index: number }>): RolloutSurvey {
  const survey = startSurvey();
  let marksTurns = false;
  const turns: Turn[] = [];
  for (const { bytes, index } of lines) {
    const peeked = peekKind(bytes);
    if (peeked !== null && classify(peeked) === null) continue;
    // A line that does not parse may still be being written.
    const row = parseRow(bytes.toString('utf8'));
    if (row === null) continue;
    const what = classify(peeked ?? readKind(row));
    if (what === 'reply') survey.hasReplies = true;
    else if (what === 'turn') {
      marksTurns = true;
      turns.push({ start: index, human: false });
    } else if (what === 'prompt') {
      survey.hasPrompts = true;
      const turn = turns.at(-1);
      if (turn === undefined || !marksTurns) turns.push({ start: index, human: true });
      else turn.human = true;
    } else if (what === 'rollback') {
      const start = dropTurns(turns, getNumber(getRow(row, 'payload'), 'num_turns') ?? 0);
      if (start !== null) survey.dead.push([start, index]);
    }
  }
  return survey;
}

/** Whether a row changes how those before it have to be read. */
export function contradictsSurvey(kind: RowKind, { hasPrompts, hasReplies }: RolloutSurvey): boolean {
  const what = classify(kind);
  return (what === 'prompt' && !hasPrompts) || (what === 'reply' && !hasReplies) || what === 'rollback';
}

/** What a row means to a survey; null for nothing. */
function classify({ type, kind, item }: RowKind): 'reply' | 'turn' | 'prompt' | 'rollback' | null {
  if (type !== 'event_msg') return null;
  if (kind === 'agent_message' || item === 'AgentMessage') return 'reply';
  if (kind === 'task_started' || kind === 'turn_started') return 'turn';
  if (kind === 'user_message' || item === 'UserMessage') return 'prompt';
  return kind === 'thread_rolled_back' ? 'rollback' : null;
}

type Turn = { start: number; human: boolean };

/** Removes the last `count` turns that the human began, and those after them. Returns where the first one starts. */
function dropTurns(turns: Turn[], count: number): number | null {
  let start: number | null = null;
  for (let left = count; left > 0; ) {
    const turn = turns.pop();
    if (turn === undefined) break;
    start = turn.start;
    if (turn.human) left--;
  }
  return start;
}

/** A test whether an index lies in one of the ranges, for indexes in rising order. */
export function makeRangeTest(ranges: readonly [number, number][]): (index: number) => boolean {
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
