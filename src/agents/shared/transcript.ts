import type { Event } from '../../model/event.ts';
import { startOfFile } from '../../platform/lines.ts';
import type { Agent, Bookmark, FoundSession, OnEvent, ReadStats, Transcript, TranscriptOptions } from '../agent.ts';
import { inspectAll } from './files.ts';
import { type NumberedRow, readClosedRows, readJsonLines, readOpenRow, type Shortcuts } from './json-lines.ts';
import { ResultOrder, sortResults, startOrder } from './result-order.ts';

/** Reads the rows of one transcript, in order. */
export interface RowReader {
  /** The events of a row; null when it undoes an earlier row that the state did not know to be undone. */
  read(numbered: NumberedRow): Iterable<Event> | null;
  /** The events that were waiting for later rows. */
  finish?(): Iterable<Event>;
  /** The state to save, where it is not the one that was passed in. Reading on may change it. */
  saveState?(): unknown;
}

export interface ReaderOptions<State> extends Pick<TranscriptOptions, 'session' | 'stats'> {
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
  /** Whether each row names its branch, so that the output of git is not needed for it. */
  recordsBranch?: boolean;
  openReader(options: ReaderOptions<State>): RowReader;
  shortcuts?(state: State): Shortcuts;
}

/** All events of a transcript, in the order of its rows. */
export function* readRows<State extends object>(
  format: RowFormat<State>,
  session: FoundSession,
  stats: ReadStats,
): Generator<Event> {
  const state = format.lookAhead(session, Number.POSITIVE_INFINITY);
  const reader = format.openReader({ state, session, stats, knowsAll: true });
  for (const row of readJsonLines(session.path, stats, format.shortcuts?.(state))) yield* reader.read(row) ?? [];
  yield* reader.finish?.() ?? [];
}

/** Null when the bookmark is not of this format. */
export function openRows<State extends object>(
  format: RowFormat<State>,
  options: TranscriptOptions,
): Transcript | null {
  const { session, stats, until, from } = options;
  const knowsAll = from === undefined && (options.lookAhead === true || format.needsLookAhead === true);
  const first = knowsAll ? format.lookAhead(session, until) : format.start(session);
  const start = { reader: first, order: startOrder(format.recordsBranch) };
  const restored = restoreState(start, from);
  if (restored === null) return null;
  const { reader: state, order: orderState } = restored;
  const order = new ResultOrder(orderState);
  const reader = format.openReader({ state, session, stats, knowsAll });
  const extent = { position: from === undefined ? startOfFile() : { ...from.position }, until };
  const emitRows = (rows: Iterable<NumberedRow>, onEvent: OnEvent): boolean => {
    for (const row of rows) {
      const events = reader.read(row);
      if (events === null) return false;
      for (const event of order.sort(events)) onEvent(event);
    }
    return true;
  };
  return {
    read: (onEvent) =>
      emitRows(readClosedRows(session.path, stats, { ...format.shortcuts?.(state), ...extent }), onEvent),
    mark: () => {
      const position = { ...extent.position };
      if (knowsAll && position.offset < until) return null;
      return { position, state: { reader: reader.saveState?.() ?? state, order: orderState } };
    },
    finish: (onEvent) => {
      if (!emitRows(readOpenRow(session.path, stats, extent), onEvent)) return false;
      for (const event of order.sort(reader.finish?.() ?? [])) onEvent(event);
      for (const event of order.finish()) onEvent(event);
      return true;
    },
  };
}

/** An agent whose transcripts are all of one format. */
export function makeRowAgent<State extends object>(
  sessions: Pick<Agent, 'name' | 'listTranscripts' | 'inspectFile'>,
  format: RowFormat<State>,
): Agent {
  return {
    ...sessions,
    findSessions: (machine, recall) => inspectAll(sessions.listTranscripts(machine), sessions.inspectFile, recall),
    readEvents: (session, stats) => sortResults(readRows(format, session, stats), format.recordsBranch),
    openTranscript: (options) => openRows(format, options),
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
