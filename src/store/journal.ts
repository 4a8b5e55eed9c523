import { basename, join } from 'node:path';
import * as v from 'valibot';
import { HandoverError, hasErrno } from '../errors.ts';
import { compareCodeUnits, computeChecksum, sha256Hex } from '../model/hash.ts';
import { type JournalDraft, JournalEntry, type JournalEvent } from '../model/journal-entry.ts';
import { parseJson } from '../model/json.ts';
import { clampTime, formatTimestamp, LATEST_TIME } from '../model/time.ts';
import { appendLineDurably, readFileTail, readRegularFile } from '../platform/durable-file.ts';
import { ensurePrivateFolder } from '../platform/folders.ts';
import { JOURNAL, listJournalFiles, type Store } from './store.ts';

const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;

/** A line that is not what was appended: flipped, cut, or joined with another. `torn` is the last one, cut short. */
export interface DamagedLine {
  line: number;
  sha256: string;
  torn: boolean;
  bytes: Buffer;
}

export interface JournalPage {
  path: string;
  entries: JournalEntry[];
  damage: DamagedLine[];
}

/** Appends one entry, durably. Concurrent writers need no lock: each line is one write at the end of the file. */
export function appendEntry(store: Store, draft: JournalDraft): void {
  const folder = ensurePrivateFolder(store.root, JOURNAL);
  const entry = v.parse(JournalEntry, sealEntry(draft));
  appendLineDurably(join(folder, `${draft.at.slice(0, 7)}.jsonl`), JSON.stringify(entry));
}

function sealEntry(draft: JournalDraft): JournalEntry {
  const entry = { schema: 'journal/1' as const, ...draft };
  return { ...entry, checksum: computeChecksum(entry) };
}

export function readJournalFile(path: string): JournalPage {
  const bytes = readRegularFile(path, MAX_JOURNAL_BYTES);
  const page: JournalPage = { path, entries: [], damage: [] };
  for (let start = 0, line = 1; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    readLine(page, bytes.subarray(start, end), { line, closed: newline !== -1 });
    start = end + 1;
  }
  return page;
}

/** An empty line is what closing a torn one leaves when two writers do it at once. It is nobody's entry. */
function readLine(page: JournalPage, bytes: Buffer, at: { line: number; closed: boolean }): void {
  if (bytes.length === 0 && at.closed) return;
  const entry = at.closed ? parseEntry(bytes) : null;
  if (entry !== null) page.entries.push(entry);
  else page.damage.push({ line: at.line, sha256: sha256Hex(bytes), torn: !at.closed, bytes });
}

function parseEntry(bytes: Buffer): JournalEntry | null {
  const text = bytes.toString('utf8');
  const value = parseOrNull(text);
  const result = v.safeParse(JournalEntry, value);
  if (!result.success) return null;
  const entry = result.output;
  const intact = entry.checksum === computeChecksum(entry) && JSON.stringify(entry) === text;
  return intact ? entry : null;
}

function parseOrNull(text: string): unknown {
  try {
    return parseJson(text, 'a journal line');
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

const EVENT_AT = '{"schema":"journal/1","at":"2026-01-31T12:00:00.000Z","event":"'.length;

/**
 * The intact entries of these events, in the order in which they were written. Others are told by their first bytes and
 * not parsed, so that a long journal costs little more than reading it.
 */
export function readEntriesOf(store: Store, events: readonly JournalEvent[]): JournalEntry[] {
  return listJournalFiles(store).flatMap(
    (path) => pickEntries(readRegularFile(path, MAX_JOURNAL_BYTES), events).entries,
  );
}

/** As above, of whole lines from anywhere in a file; `read` is where the last of them ends. */
export function pickEntries(
  bytes: Buffer,
  events: readonly JournalEvent[],
): { entries: JournalEntry[]; read: number } {
  const wanted = events.map((event) => Buffer.from(`${event}"`));
  const initials = new Set(wanted.map((word) => word[0]));
  const entries: JournalEntry[] = [];
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) break;
    const from = start + EVENT_AT;
    const isWanted =
      initials.has(bytes[from]) &&
      wanted.some((word) => bytes.subarray(from, from + word.length).equals(word));
    const entry = isWanted ? parseEntry(bytes.subarray(start, newline)) : null;
    if (entry !== null) entries.push(entry);
    start = newline + 1;
  }
  return { entries, read: start };
}

const TAIL_BYTES = 16 * 1024;

const LINE_TIME = /^\{"schema":"journal\/1","at":"([^"]{24})"/;

/**
 * The newest time up to `limitMs` at which something happened. Only the ends of files are read, of the newest one as a
 * rule: the cost does not grow with the journal.
 */
export function readLastTime(store: Store, limitMs: number = LATEST_TIME): number | null {
  const limit = formatTimestamp(limitMs);
  const files = listJournalFiles(store).filter((path) => basename(path).slice(0, 7) <= limit.slice(0, 7));
  for (const path of files.reverse()) {
    const time = readLastTimeIn(path, limit);
    if (time !== null) return time;
  }
  return null;
}

/** Lines stand in the order in which they were written, which is not always that of their times. */
function readLastTimeIn(path: string, limit: string): number | null {
  const lines = readTailOrNothing(path).toString('utf8').split('\n');
  const dated = lines
    .map((line) => ({ line, at: LINE_TIME.exec(line)?.[1] ?? '' }))
    .filter(({ at }) => at !== '' && at <= limit)
    .sort((a, b) => compareCodeUnits(b.at, a.at));
  const newest = dated.find(({ line }) => parseEntry(Buffer.from(line)) !== null);
  return newest === undefined ? null : Date.parse(newest.at);
}

function readTailOrNothing(path: string): Buffer {
  try {
    return readFileTail(path, TAIL_BYTES);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return Buffer.alloc(0);
    throw error;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The time for something that happens now: later than all that happened before, although the clock may stand still
 * or go back. A clock that is behind by more than a day is believed instead, or one wrong date would rule for ever.
 */
export function nextTimestamp(store: Store): number {
  const now = clampTime(store.machine.clock.now());
  const last = readLastTime(store, latestPlausible(now));
  return last === null || last < now ? now : last + 1;
}

/** Handovers dated further ahead than this come from a clock that was wrong. */
export function latestPlausible(nowMs: number): number {
  return nowMs + DAY_MS;
}
