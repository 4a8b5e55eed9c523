import { join } from 'node:path';
import type { Event } from '../../model/event.ts';
import { readHead } from '../../platform/external-file.ts';
import { readLines } from '../../platform/lines.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Agent, FoundSession, Opening, Reading, Transcript } from '../agent.ts';
import { countUnknown, getText, parseRow } from '../shared/json.ts';
import { openRows, type RowFormat } from '../shared/transcript.ts';
import { inspectRollout } from './head.ts';
import { findCodexHome, listRollouts, listTranscripts } from './paths.ts';
import { RolloutReader, type RolloutState, startRollout } from './reader.ts';
import { isIdle, parseLine, peekKind, readKind } from './rows.ts';
import { findHistory, readHistory } from './segments.ts';
import {
  isNews,
  isRollback,
  makeRangeTest,
  type SurveyedLine,
  surveyLines,
  surveyNothing,
} from './survey.ts';

export const codexAgent: Agent = {
  name: 'codex',
  findSessions,
  listTranscripts,
  inspectFile: inspectRollout,
  readEvents,
  openTranscript,
};

/** A session that was taken back goes on in a file of its own, under the same id: the last one written to is told. */
function findSessions(machine: Machine): Iterable<FoundSession> {
  const home = findCodexHome(machine);
  const found = new Map<string, FoundSession>();
  if (home === null) return [];
  const names = readNames(home);
  for (const path of listRollouts(home)) {
    const session = inspectRollout(path);
    const other = session === null ? undefined : found.get(session.id);
    if (session === null || (other !== undefined && !isLater(session, other))) continue;
    found.set(session.id, { ...session, title: names.get(session.id) ?? session.title });
  }
  return found.values();
}

function isLater(one: FoundSession, other: FoundSession): boolean {
  return one.changedMs === other.changedMs ? one.path > other.path : one.changedMs > other.changedMs;
}

const MAX_NAMES_BYTES = 4 * 1024 * 1024;

/** The names that the human gave to sessions; the last one counts. */
function readNames(home: string): Map<string, string> {
  const names = new Map<string, string>();
  const file = readHead(join(home, 'session_index.jsonl'), MAX_NAMES_BYTES);
  for (const line of file?.bytes.toString('utf8').split('\n') ?? []) {
    const row = line === '' ? null : parseRow(line);
    const id = row === null ? null : getText(row, 'id');
    const name = row === null ? null : getText(row, 'thread_name');
    if (id !== null && name !== null) names.set(id, name.toWellFormed());
  }
  return names;
}

const REACHED_LIMIT = Buffer.from('"rate_limit_reached_type":"');
const BLANK = /^\s*$/;

/** A session can lie in several files, and in compressed ones. */
function* readEvents(session: FoundSession, reading: Reading): Generator<Event> {
  const history = findHistory(session.path);
  const survey = surveyLines(readHistory(history, () => undefined));
  const reader = new RolloutReader(startRollout(survey), session, reading);
  const isDead = makeRangeTest(survey.dead);
  if (history.incomplete) countUnknown(reading.unknown, 'history_base');
  const onUnreadable = (): void => {
    reading.rows++;
    reading.unreadable++;
  };
  for (const { bytes, number, closed, index } of readHistory(history, onUnreadable)) {
    if (bytes.length < 64 && BLANK.test(bytes.toString('latin1'))) continue;
    const row = closed && isNeedless(bytes) ? undefined : parseLine(bytes);
    if (row === null && !closed) continue;
    reading.rows++;
    if (row === null) reading.unreadable++;
    if (row === null || row === undefined || isDead(index)) continue;
    const kind = readKind(row);
    if (!isIdle(kind)) yield* reader.read(row, kind, number);
  }
}

function isNeedless(bytes: Buffer): boolean {
  const kind = peekKind(bytes);
  if (kind === null || isRollback(kind)) return false;
  return isIdle(kind) || (kind.kind === 'token_count' && !bytes.includes(REACHED_LIMIT));
}

/** A session that lies in one file. */
const format: RowFormat<RolloutState> = {
  start: () => startRollout(surveyNothing()),
  lookAhead: ({ path }, until) => startRollout(surveyLines(numberLines(path, until))),
  needsLookAhead: true,
  openReader: ({ state, session, reading, knowsAll }) => {
    const reader = new RolloutReader(state, session, reading);
    const isDead = makeRangeTest(state.survey.dead);
    return {
      read: ({ row, line }) => {
        const kind = readKind(row);
        if (!knowsAll && isNews(kind, state.survey)) return null;
        return isIdle(kind) || isDead(line) ? [] : reader.read(row, kind, line);
      },
      finish: () => [],
      keep: () => state,
    };
  },
  shortcuts: () => ({ isNeedless }),
};

function* numberLines(path: string, until: number): Generator<SurveyedLine> {
  for (const { bytes, number } of readLines(path, { until })) yield { bytes, index: number };
}

function openTranscript(opening: Opening): Transcript | null {
  const { path } = opening.session;
  const { segments, incomplete } = findHistory(path);
  const isOneFile = segments.length === 1 && !incomplete && !path.endsWith('.zst');
  return isOneFile ? openRows(format, opening) : null;
}
