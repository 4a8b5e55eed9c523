import { basename, join } from 'node:path';
import { catchErrno, catchIf, isFailure } from '../errors.ts';
import { writeSmallCacheFile } from '../platform/cache-file.ts';
import { readFileFrom, readRegularFile } from '../platform/durable-file.ts';
import { readHead } from '../platform/external-file.ts';
import { ensurePrivateFolder } from '../platform/folders.ts';
import { EVENT_AT, listJournalFiles, MAX_JOURNAL_BYTES, type Store, TIME_AT, TRANSCRIPT_CHECKPOINTS } from './store.ts';

/* The lines of the journal that mark facts, and handovers as late or forgotten. They are few, and asked for by nearly every command: what a long journal held is cached. */

const EVENTS = ['pinned"', 'unpinned"', 'resolved"', 'refuted"', 'late"', 'forgotten"'].map((word) =>
  Buffer.from(word),
);
const NEWLINE = 0x0a;

/** What was read of one file of the journal. `end` is what stood before `read`, by which a file that was replaced is noticed. */
interface ReadPart {
  read: number;
  end: string;
  lines: string[];
}

const SCHEMA = 'marks/3';
const MAX_CACHE_BYTES = 64 * 1024 * 1024;
/** Below that, reading costs no more than the cache. */
const WORTH_CACHING = 256 * 1024;
const END_BYTES = 32;

/** Whole lines in the order of the journal, not checked further: damaged ones may be among them. */
export function readMarkLines(store: Store): string[] {
  const known = readCache(store);
  const parts = new Map(listJournalFiles(store).map((path) => [basename(path), readPart(path, known)]));
  const fresh = [...parts.values()].reduce((sum, part) => sum + part.fresh, 0);
  if (fresh > WORTH_CACHING) writeCache(store, new Map([...parts].map(([name, { part }]) => [name, part])));
  return [...parts.values()].flatMap(({ part }) => part.lines);
}

function readPart(path: string, known: ReadonlyMap<string, ReadPart>): { part: ReadPart; fresh: number } {
  const before = known.get(basename(path));
  const from = before === undefined ? 0 : before.read - END_BYTES;
  const bytes = catchErrno(['ENOENT'], Buffer.of(), () =>
    from === 0 ? readRegularFile(path, MAX_JOURNAL_BYTES) : readFileFrom(path, from),
  );
  const isSame = before !== undefined && bytes.toString('latin1', 0, END_BYTES) === before.end;
  if (before !== undefined && !isSame) return readPart(path, new Map());
  const start = before === undefined ? 0 : END_BYTES;
  const { lines, end } = pickLines(bytes, start);
  const read = from + end;
  return {
    part: { read, end: bytes.toString('latin1', end - END_BYTES, end), lines: [...(before?.lines ?? []), ...lines] },
    fresh: end - start,
  };
}

function pickLines(bytes: Buffer, from: number): { lines: string[]; end: number } {
  const lines: string[] = [];
  let start = from;
  for (let end = bytes.indexOf(NEWLINE, start); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    const at = start + EVENT_AT;
    if (EVENTS.some((word) => bytes[at] === word[0] && bytes.subarray(at, at + word.length).equals(word)))
      lines.push(bytes.toString('utf8', start, end));
    start = end + 1;
  }
  return { lines, end: start };
}

function pathOfCache({ root }: Store): string {
  return join(root, TRANSCRIPT_CHECKPOINTS, 'marks');
}

/** Any other text counts as no cache. A line of its own for each file, then those that mark. */
function readCache(store: Store): Map<string, ReadPart> {
  const head = readHead(pathOfCache(store), MAX_CACHE_BYTES);
  const [schema, ...rest] = head?.bytes.toString('utf8').split('\n') ?? [];
  const parts = new Map<string, ReadPart>();
  if (schema !== SCHEMA || rest.pop() !== '') return parts;
  for (let at = 0; at < rest.length; ) {
    const [, name = '', read, count, end = ''] =
      /^(\d{4}-\d\d\.jsonl) (\d+) (\d+) ([0-9a-f]+)$/.exec(rest[at] ?? '') ?? [];
    const lines = rest.slice(at + 1, at + 1 + Number(count));
    if (lines.length !== Number(count)) return new Map();
    parts.set(name, { read: Number(read), end: Buffer.from(end, 'hex').toString('latin1'), lines });
    at += 1 + lines.length;
  }
  return parts;
}

/** Does nothing where nothing can be written: the next reading starts from the beginning. */
function writeCache(store: Store, parts: ReadonlyMap<string, ReadPart>): void {
  const lines = [...parts].flatMap(([name, { read, end, lines: marks }]) =>
    read < END_BYTES ? [] : [`${name} ${read} ${marks.length} ${Buffer.from(end, 'latin1').toString('hex')}`, ...marks],
  );
  catchIf(isFailure, undefined, () => {
    ensurePrivateFolder(store.root, TRANSCRIPT_CHECKPOINTS);
    writeSmallCacheFile(pathOfCache(store), [SCHEMA, ...lines, ''].join('\n'));
  });
}

/** Whether a fact was marked as resolved or refuted in a month or later. Lists are not to load what parses a journal. */
export function openMarkSearch(store: Store): (month: string) => boolean {
  let newest: string | null = null;
  return (month) => {
    newest ??= readMarkLines(store).reduce((last, line) => {
      const isEnding = line.startsWith('resolved"', EVENT_AT) || line.startsWith('refuted"', EVENT_AT);
      const of = line.slice(TIME_AT, TIME_AT + '2026-01'.length);
      return isEnding && of > last ? of : last;
    }, '');
    return newest >= month && newest !== '';
  };
}
