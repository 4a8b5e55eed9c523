import type { Event } from '../model/event.ts';
import { isShapedLike } from '../model/shape.ts';
import { startOfFile } from '../platform/lines.ts';
import type { FoundSession, Opening, Reading, Tell, Transcript } from './agent.ts';
import {
  type NumberedRow,
  readClosedRows,
  readJsonLines,
  readOpenRow,
  type Shortcuts,
} from './json-lines.ts';

/** Reads the rows of one transcript, one after the other. */
export interface RowReader {
  /** What a row tells; null when it takes back what an earlier row told and this was not known before. */
  read(numbered: NumberedRow): Iterable<Event> | null;
  finish(): Iterable<Event>;
  /** All that is remembered of the rows so far. What is read later may change it. */
  keep(): unknown;
}

export interface ReaderOptions<State> extends Pick<Opening, 'session' | 'reading'> {
  state: State;
  /** Whether all that is taken back is in the state already. */
  knowsAll: boolean;
}

/** How an agent writes transcripts of one JSON object a line, to which it only adds. */
export interface RowFormat<State extends object> {
  /** What is known before the first row. */
  start(session: FoundSession): State;
  /** The same, with what is taken back later, and whatever else only later rows say. */
  lookAhead(session: FoundSession, until: number): State;
  /** Whether no row can be told without a look ahead. */
  needsLookAhead?: boolean;
  openReader(options: ReaderOptions<State>): RowReader;
  shortcuts?(state: State): Shortcuts;
}

/** Everything that a transcript tells. */
export function* readRows<State extends object>(
  format: RowFormat<State>,
  session: FoundSession,
  reading: Reading,
): Generator<Event> {
  const state = format.lookAhead(session, Number.POSITIVE_INFINITY);
  const reader = format.openReader({ state, session, reading, knowsAll: true });
  for (const row of readJsonLines(session.path, reading, format.shortcuts?.(state))) {
    yield* reader.read(row) ?? [];
  }
  yield* reader.finish();
}

/** Null when what was kept is not of this format. */
export function openRows<State extends object>(
  format: RowFormat<State>,
  opening: Opening,
): Transcript | null {
  const { session, reading, until, from } = opening;
  const knowsAll = from === undefined && (opening.lookAhead === true || format.needsLookAhead === true);
  const state = knowsAll ? format.lookAhead(session, until) : findState(format, opening);
  if (state === null) return null;
  const reader = format.openReader({ state, session, reading, knowsAll });
  const extent = { position: from === undefined ? startOfFile() : { ...from.position }, until };
  const tellRows = (rows: Iterable<NumberedRow>, tell: Tell): boolean => {
    for (const row of rows) {
      const events = reader.read(row);
      if (events === null) return false;
      for (const event of events) tell(event);
    }
    return true;
  };
  return {
    read: (tell) =>
      tellRows(readClosedRows(session.path, reading, { ...format.shortcuts?.(state), ...extent }), tell),
    mark: () => {
      const position = { ...extent.position };
      return knowsAll && position.offset < until ? null : { position, state: reader.keep() };
    },
    finish: (tell) => {
      if (!tellRows(readOpenRow(session.path, reading, extent), tell)) return false;
      for (const event of reader.finish()) tell(event);
      return true;
    },
  };
}

function findState<State extends object>(format: RowFormat<State>, { session, from }: Opening): State | null {
  const state = format.start(session);
  if (from === undefined) return state;
  return isShapedLike(from.state, state) ? from.state : null;
}
