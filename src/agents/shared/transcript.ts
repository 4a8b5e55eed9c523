import type { Event } from '../../model/event.ts';
import { startOfFile } from '../../platform/lines.ts';
import type { Agent, Bookmark, FoundSession, OnEvent, Opening, Reading, Transcript } from '../agent.ts';
import { type NumberedRow, readClosedRows, readJsonLines, readOpenRow, type Shortcuts } from './json-lines.ts';

/** Reads the rows of one transcript, in order. */
export interface RowReader {
  /** The events of a row; null when it undoes an earlier row and the state did not say so beforehand. */
  read(numbered: NumberedRow): Iterable<Event> | null;
  /** The events that were held back. */
  finish?(): Iterable<Event>;
  /** The state after the rows so far, where it is not the one given. Reading on may change it. */
  keep?(): unknown;
}

export interface ReaderOptions<State> extends Pick<Opening, 'session' | 'reading'> {
  state: State;
  /** Whether the state already has everything that later rows undo. */
  knowsAll: boolean;
}

/** A transcript format with one JSON object per line, to which an agent only appends. */
export interface RowFormat<State extends object> {
  /** The state before the first row. */
  start(session: FoundSession): State;
  /** The same, with what later rows undo, and anything else that only they say. */
  lookAhead(session: FoundSession, until: number): State;
  /** Whether no row can be read without looking ahead. */
  needsLookAhead?: boolean;
  openReader(options: ReaderOptions<State>): RowReader;
  shortcuts?(state: State): Shortcuts;
}

/** All events of a transcript. */
export function* readRows<State extends object>(
  format: RowFormat<State>,
  session: FoundSession,
  reading: Reading,
): Generator<Event> {
  const state = format.lookAhead(session, Number.POSITIVE_INFINITY);
  const reader = format.openReader({ state, session, reading, knowsAll: true });
  for (const row of readJsonLines(session.path, reading, format.shortcuts?.(state))) yield* reader.read(row) ?? [];
  yield* reader.finish?.() ?? [];
}

/** Null when the bookmark is not of this format. */
export function openRows<State extends object>(format: RowFormat<State>, opening: Opening): Transcript | null {
  const { session, reading, until, from } = opening;
  const knowsAll = from === undefined && (opening.lookAhead === true || format.needsLookAhead === true);
  const state = knowsAll ? format.lookAhead(session, until) : restoreState(format.start(session), from);
  if (state === null) return null;
  const reader = format.openReader({ state, session, reading, knowsAll });
  const extent = { position: from === undefined ? startOfFile() : { ...from.position }, until };
  const emitRows = (rows: Iterable<NumberedRow>, onEvent: OnEvent): boolean => {
    for (const row of rows) {
      const events = reader.read(row);
      if (events === null) return false;
      for (const event of events) onEvent(event);
    }
    return true;
  };
  return {
    read: (onEvent) =>
      emitRows(readClosedRows(session.path, reading, { ...format.shortcuts?.(state), ...extent }), onEvent),
    mark: () => {
      const position = { ...extent.position };
      return knowsAll && position.offset < until ? null : { position, state: reader.keep?.() ?? state };
    },
    finish: (onEvent) => {
      if (!emitRows(readOpenRow(session.path, reading, extent), onEvent)) return false;
      for (const event of reader.finish?.() ?? []) onEvent(event);
      return true;
    },
  };
}

/** An agent whose transcripts are all of one format. */
export function makeRowAgent<State extends object>(
  sessions: Pick<Agent, 'name' | 'findSessions' | 'listTranscripts' | 'inspectFile'>,
  format: RowFormat<State>,
): Agent {
  return {
    ...sessions,
    readEvents: (session, reading) => readRows(format, session, reading),
    openTranscript: (opening) => openRows(format, opening),
  };
}

/** The state at a bookmark; null when it was saved by a version with other fields. The bookmark is ours, and intact. */
function restoreState<State extends object>(start: State, from: Bookmark | undefined): State | null {
  if (from === undefined) return start;
  const { state } = from;
  return typeof state === 'object' && hasSameFields(state, start) ? Object.assign(start, state) : null;
}

/** Whether a value has all fields of an example, with the same kinds of values. A null in the example fits anything. */
function hasSameFields(value: unknown, example: unknown): boolean {
  if (example === null) return true;
  if (typeof example !== 'object') return typeof value === typeof example;
  if (typeof value !== 'object' || value === null || kindOf(value) !== kindOf(example)) return false;
  if (kindOf(example) !== '[object Object]') return true;
  return Object.entries(example).every(([key, field]) => hasSameFields(Reflect.get(value, key), field));
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value);
}
