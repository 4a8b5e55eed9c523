import { getNumber, getRow } from '../row.ts';
import { parseLine, peekKind, type RowKind, readKind } from './rows.ts';
import { type History, readHistory } from './segments.ts';

/** What has to be known of a session before its rows can be told. */
export interface Survey {
  /** Whether the program noted apart what the human typed, and what the model said. */
  hasPrompts: boolean;
  hasReplies: boolean;
  /** Whether a line belongs to turns that were taken back. */
  isDead(index: number): boolean;
}

interface Turn {
  start: number;
  human: boolean;
}

export function surveyHistory(history: History): Survey {
  let hasPrompts = false;
  let hasReplies = false;
  let marked = false;
  const turns: Turn[] = [];
  const dead: [number, number][] = [];
  for (const { bytes, index } of readHistory(history, () => undefined)) {
    const kind = peekKind(bytes) ?? readKind(parseLine(bytes) ?? {});
    if (kind.type !== 'event_msg') continue;
    if (isReply(kind)) hasReplies = true;
    else if (kind.kind === 'task_started' || kind.kind === 'turn_started') {
      marked = true;
      turns.push({ start: index, human: false });
    } else if (isPrompt(kind)) {
      hasPrompts = true;
      const turn = turns.at(-1);
      if (turn === undefined || !marked) turns.push({ start: index, human: true });
      else turn.human = true;
    } else if (kind.kind === 'thread_rolled_back') {
      const count = getNumber(getRow(parseLine(bytes) ?? {}, 'payload'), 'num_turns') ?? 0;
      const start = takeBack(turns, count);
      if (start !== null) dead.push([start, index]);
    }
  }
  return { hasPrompts, hasReplies, isDead: makeRangeTest(dead) };
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
function makeRangeTest(ranges: [number, number][]): (index: number) => boolean {
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
