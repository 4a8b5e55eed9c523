import { getNumber, getRow } from '../shared/json.ts';
import { parseLine, peekKind, type RowKind, readKind } from './rows.ts';

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
