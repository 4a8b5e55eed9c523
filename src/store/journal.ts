import { basename, join } from 'node:path';
import * as v from 'valibot';
import { catchIf, hasErrno, isHandoverError } from '../errors.ts';
import { compareCodeUnits, computeChecksum, sha256Hex } from '../model/hash.ts';
import { type JournalDraft, JournalEntry, type JournalEvent } from '../model/journal-entry.ts';
import { parseJson } from '../model/json.ts';
import { clampTime, formatTimestamp, LATEST_TIME } from '../model/time.ts';
import { appendLineDurably, readFileFrom, readFileTail, readRegularFile } from '../platform/durable-file.ts';
import { ensurePrivateFolder } from '../platform/folders.ts';
import { JOURNAL, listJournalFiles, type Store } from './store.ts';

const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;

/** A line that is not what was appended: flipped, cut, or joined with another. `torn` is the last one, cut short. */
export type DamagedLine = { line: number; sha256: string; torn: boolean; bytes: Buffer };

export type JournalPage = { path: string; entries: JournalEntry[]; damage: DamagedLine[] };

/** Appends one entry, durably, dated now unless it has a time. Needs no lock: each line is one write at the end. */
export function appendEntry(store: Store, draft: Omit<JournalDraft, 'at'> & { at?: string }): void {
  const { at = formatTimestamp(nextTimestamp(store)) } = draft;
  const folder = ensurePrivateFolder(store.root, JOURNAL);
  const entry = { schema: 'journal/1' as const, ...draft, at };
  const sealed = v.parse(JournalEntry, { ...entry, checksum: computeChecksum(entry) });
  appendLineDurably(join(folder, `${at.slice(0, 7)}.jsonl`), JSON.stringify(sealed));
}

export function readJournalFile(path: string): JournalPage {
  const bytes = readRegularFile(path, MAX_JOURNAL_BYTES);
  const page: JournalPage = { path, entries: [], damage: [] };
  for (let start = 0, number = 1; start < bytes.length; number++) {
    const newline = bytes.indexOf(0x0a, start);
    const torn = newline === -1;
    const line = bytes.subarray(start, torn ? bytes.length : newline);
    start += line.length + 1;
    // Two writers that close the same torn line leave an empty one.
    if (line.length === 0) continue;
    const entry = torn ? null : parseEntry(line);
    if (entry !== null) page.entries.push(entry);
    else page.damage.push({ line: number, sha256: sha256Hex(line), torn, bytes: line });
  }
  return page;
}

function parseEntry(bytes: Buffer): JournalEntry | null {
  const text = bytes.toString('utf8');
  return catchIf(isHandoverError, null, () => {
    const { success, output } = v.safeParse(JournalEntry, parseJson(text, 'a journal line'));
    if (!success || output.checksum !== computeChecksum(output)) return null;
    return JSON.stringify(output) === text ? output : null;
  });
}

const EVENT_AT = '{"schema":"journal/1","at":"2026-01-31T12:00:00.000Z","event":"'.length;

/** How far each file of the journal was read, by its path. */
export type JournalPosition = Map<string, number>;

/** The intact entries of these events, as written. Moves `position` to the end: the next call reads only new ones. */
export function readEntriesOf(
  store: Store,
  events: readonly JournalEvent[],
  position: JournalPosition = new Map(),
): JournalEntry[] {
  return listJournalFiles(store).flatMap((path) => {
    const from = position.get(path) ?? 0;
    const bytes = from === 0 ? readRegularFile(path, MAX_JOURNAL_BYTES) : readFileFrom(path, from);
    const { entries, read } = pickEntries(bytes, events);
    position.set(path, from + read);
    return entries;
  });
}

/** Takes whole lines; `read` is where the last one ends. Other events are skipped by their first bytes: it is fast. */
export function pickEntries(bytes: Buffer, events: readonly JournalEvent[]): { entries: JournalEntry[]; read: number } {
  const wanted = events.map((event) => Buffer.from(`${event}"`));
  const initials = new Set(wanted.map((word) => word[0]));
  const entries: JournalEntry[] = [];
  let start = 0;
  for (let newline = bytes.indexOf(0x0a); newline !== -1; newline = bytes.indexOf(0x0a, start)) {
    const from = start + EVENT_AT;
    const isWanted =
      initials.has(bytes[from]) && wanted.some((word) => bytes.subarray(from, from + word.length).equals(word));
    const entry = isWanted ? parseEntry(bytes.subarray(start, newline)) : null;
    if (entry !== null) entries.push(entry);
    start = newline + 1;
  }
  return { entries, read: start };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Now, or just after the last entry. Any more than a day ahead is ignored, or one wrong date would rule for ever. */
export function nextTimestamp(store: Store): number {
  const now = clampTime(store.machine.clock.now());
  const last = readLastTime(store, latestPlausible(now));
  return last === null || last < now ? now : last + 1;
}

/** Handovers dated further ahead than this come from a clock that was wrong. */
export function latestPlausible(nowMs: number): number {
  return nowMs + DAY_MS;
}

const TAIL_BYTES = 16 * 1024;
const LINE_TIME = /^\{"schema":"journal\/1","at":"([^"]{24})"/;

/** The newest time of an entry up to `limitMs`. Reads only the ends of files, so a long journal costs no more. */
export function readLastTime(store: Store, limitMs: number = LATEST_TIME): number | null {
  const limit = formatTimestamp(limitMs);
  for (const path of listJournalFiles(store).reverse()) {
    const time = basename(path).slice(0, 7) <= limit.slice(0, 7) ? readLastTimeIn(path, limit) : null;
    if (time !== null) return time;
  }
  return null;
}

/** Lines are in the order in which they were written, which is not always that of their times. */
function readLastTimeIn(path: string, limit: string): number | null {
  const isGone = (error: unknown): boolean => hasErrno(error, 'ENOENT');
  const dated = catchIf(isGone, '', () => readFileTail(path, TAIL_BYTES).toString('utf8'))
    .split('\n')
    .map((line) => ({ line, at: LINE_TIME.exec(line)?.[1] ?? '' }))
    .filter(({ at }) => at !== '' && at <= limit)
    .sort((a, b) => compareCodeUnits(b.at, a.at));
  const newest = dated.find(({ line }) => parseEntry(Buffer.from(line)) !== null);
  return newest === undefined ? null : Date.parse(newest.at);
}
