import { basename, join } from 'node:path';
import * as v from 'valibot';
import { catchIf, hasErrno, isHandoverError } from '../errors.ts';
import { canonicalize, compareCodeUnits, computeChecksum, sha256Hex } from '../model/hash.ts';
import { type JournalDraft, JournalEntry, type JournalEvent } from '../model/journal-entry.ts';
import { parseJson } from '../model/json.ts';
import { clampTime, DAY_MS, formatTimestamp, LATEST_TIME } from '../model/time.ts';
import {
  appendLineDurably,
  overwriteDurably,
  readFileFrom,
  readFileTail,
  readRegularFile,
} from '../platform/durable-file.ts';
import { ensurePrivateFolder } from '../platform/folders.ts';
import { EVENT_AT, JOURNAL, listJournalFiles, MAX_JOURNAL_BYTES, type Store } from './store.ts';

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

/** Makes every reason that was given unreadable. Entries keep their length and order, so what others append meanwhile stays. */
export function blankReasons(store: Store): void {
  for (const path of listJournalFiles(store)) {
    const bytes = readRegularFile(path, MAX_JOURNAL_BYTES);
    const parts: { at: number; bytes: Buffer }[] = [];
    for (let start = 0, end = bytes.indexOf(0x0a); end !== -1; start = end + 1, end = bytes.indexOf(0x0a, start)) {
      const entry = parseEntry(bytes.subarray(start, end));
      if (entry?.reason === undefined) continue;
      const length = Buffer.byteLength(JSON.stringify(entry.reason)) - '""'.length;
      const blank = { ...entry, reason: BLANK.repeat(length) };
      if (blank.reason === entry.reason) continue;
      const sealed = { ...blank, checksum: computeChecksum(blank) };
      parts.push({ at: start, bytes: Buffer.from(JSON.stringify(sealed)) });
    }
    if (parts.length > 0) overwriteDurably(path, parts);
  }
}

const BLANK = '-';

/** Null for a line that is not what was appended. */
export function parseEntry(bytes: Buffer): JournalEntry | null {
  const text = bytes.toString('utf8');
  return catchIf(isHandoverError, null, () => {
    const { success, output } = v.safeParse(JournalEntry, parseJson(text, 'a journal line'));
    if (!success || output.checksum !== computeChecksum(output)) return null;
    return JSON.stringify(output) === text ? output : null;
  });
}

/** How far each file of the journal was read, by its path. */
export type JournalPosition = Map<string, number>;

/** The intact entries of these events, as written. Moves `position` to the end: the next call reads only new ones. */
export function readEntriesOf(
  store: Store,
  events: readonly JournalEvent[],
  position: JournalPosition = new Map(),
): JournalEntry[] {
  return listJournalFiles(store).flatMap((path) => readEntriesIn(path, events, position));
}

/** The same, no more than about `most` of them: the rest is read by the next call. */
export function readSomeEntries(
  store: Store,
  events: readonly JournalEvent[],
  { position, most }: { position: JournalPosition; most: number },
): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (const path of listJournalFiles(store))
    if (entries.length < most) entries.push(...readEntriesIn(path, events, position, most - entries.length));
  return entries;
}

function readEntriesIn(
  path: string,
  events: readonly JournalEvent[],
  position: JournalPosition,
  most?: number,
): JournalEntry[] {
  const from = position.get(path) ?? 0;
  const bytes = from === 0 ? readRegularFile(path, MAX_JOURNAL_BYTES) : readFileFrom(path, from);
  const { entries, read } = pickEntries(bytes, events, most);
  position.set(path, from + read);
  return entries;
}

/** Whether an entry came from another store. */
export function isFromElsewhere({ detail }: JournalEntry): boolean {
  return detail?.from !== undefined;
}

/** What an entry is known by in every store, whatever was redacted from its reason and wherever it came from. */
export function identifyEntry({ event, at, subject, fact, session, detail }: JournalEntry): string {
  const { by, move } = detail ?? {};
  return sha256Hex(canonicalize({ event, at, subject, fact, session, by, move }));
}

/** Every store puts entries into the same order, in whichever they arrived. */
export function compareEntries(a: JournalEntry, b: JournalEntry): number {
  return compareCodeUnits(a.at, b.at) || compareCodeUnits(identifyEntry(a), identifyEntry(b));
}

/**
 * Takes whole lines, of these events at most so many; `read` is where the last one ends. Other events are skipped by their
 * first bytes: it is fast.
 */
export function pickEntries(
  bytes: Buffer,
  events: readonly JournalEvent[],
  most = Number.POSITIVE_INFINITY,
): { entries: JournalEntry[]; read: number } {
  const wanted = events.map((event) => Buffer.from(`${event}"`));
  const initials = new Set(wanted.map((word) => word[0]));
  const entries: JournalEntry[] = [];
  let start = 0;
  for (let newline = bytes.indexOf(0x0a); newline !== -1; newline = bytes.indexOf(0x0a, start)) {
    if (entries.length >= most) break;
    const from = start + EVENT_AT;
    const isWanted =
      initials.has(bytes[from]) && wanted.some((word) => bytes.subarray(from, from + word.length).equals(word));
    const entry = isWanted ? parseEntry(bytes.subarray(start, newline)) : null;
    if (entry !== null) entries.push(entry);
    start = newline + 1;
  }
  return { entries, read: start };
}

/** Now, or just after the last entry. Entries more than a day ahead are ignored: one wrong date must not decide for ever. */
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

/** A session whose handover was forgotten is not captured again, unless it went on since. */
export function skipForgotten<T extends { agent: string; id: string; changedMs: number }>(
  store: Store,
  sessions: readonly T[],
): readonly T[] {
  if (sessions.length === 0) return sessions;
  const times = new Map<string, number>();
  for (const { session, detail, at } of readEntriesOf(store, ['forgotten']))
    if (session !== undefined) times.set(nameSession({ agent: String(detail?.agent), id: session }), Date.parse(at));
  return sessions.filter((session) => session.changedMs > (times.get(nameSession(session)) ?? 0));
}

export function nameSession({ agent, id }: { agent: string; id: string }): string {
  return `${agent.toLowerCase()}\n${id}`;
}
