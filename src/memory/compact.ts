import { dirname } from 'node:path';
import { HandoverError } from '../errors.ts';
import { compareCodeUnits, shortHash } from '../model/hash.ts';
import { formatTimestamp } from '../model/time.ts';
import { removeFile, syncFolder } from '../platform/durable-file.ts';
import { ensureProjectFolder, removeEmptyFolder, writeProjectFile } from '../platform/project-file.ts';
import { type ArchivedNote, listAnchors, writeArchivePart } from './archive.ts';
import { parseMonth, pathOf, placeOfArchive } from './layout.ts';
import { withMemoryLock } from './memory.ts';
import { type Memory, readText } from './memory-file.ts';
import { appendNote, formatHeader, parseNoteFile, readFrontMatter } from './note-file.ts';
import { listNotesMonths, listNotesOfMonth, type NotesFile } from './read-memory.ts';

/** What became of the notes of one tag and month. */
export interface Compaction {
  month: string;
  tag: string;
  archive: string;
  /** Notes that were not in the archive yet. */
  notes: number;
  /** Pieces of text that had been said before in the same month and tag. */
  repeats: number;
  /** Files whose notes all are in the archive: gone, or in a dry run to go. */
  removed: string[];
  /** Files that cannot be read as text, and stay. */
  unreadable: string[];
}

export interface CompactOptions {
  /** One month that is over; without it, all that are. */
  month?: string;
  dryRun?: boolean;
  /** For what is written, in milliseconds; without it, now. */
  at?: number;
}

/**
 * Merges the notes of months that are over into one archive for each tag. Decisions, constraints and open work stand
 * first, word for word, each with a link to its note; the notes follow, without what they repeat. Files of notes are
 * removed when the archive is durable and was read back. Interrupted anywhere, the next call goes on.
 */
export function compactMemory(memory: Memory, options: CompactOptions = {}): Compaction[] {
  const at = options.at ?? memory.machine.clock.now();
  const current = formatTimestamp(at).slice(0, 7);
  const asked = options.month === undefined ? null : parseMonth(options.month);
  if (asked !== null && asked >= current) throw refuseOpenMonth(asked);
  const months = listNotesMonths(memory).filter((month) => month < current && month === (asked ?? month));
  if (months.length === 0) return [];
  const work = (): Compaction[] =>
    months.flatMap((month) => compactMonth(memory, month, { at, dryRun: options.dryRun ?? false }));
  return options.dryRun ? work() : withMemoryLock(memory, work);
}

interface Settings {
  at: number;
  dryRun: boolean;
}

function compactMonth(memory: Memory, month: string, settings: Settings): Compaction[] {
  const byTag = new Map<string, NotesFile[]>();
  for (const file of listNotesOfMonth(memory, month))
    byTag.set(file.tag, [...(byTag.get(file.tag) ?? []), file]);
  const done = [...byTag]
    .sort(([a], [b]) => compareCodeUnits(a, b))
    .map(([tag, files]) => compactTag(memory, { month, tag, files }, settings));
  if (!settings.dryRun && done.length > 0)
    removeEmptyFolder(ensureProjectFolder(memory.root, 'layer1', month));
  return done;
}

interface TaggedMonth {
  month: string;
  tag: string;
  files: readonly NotesFile[];
}

function compactTag(memory: Memory, { month, tag, files }: TaggedMonth, settings: Settings): Compaction {
  const place = placeOfArchive(tag, month);
  const archive = pathOf(memory.root, place);
  const before = readText(archive);
  const known = listAnchors(before ?? '');
  const read = [...files]
    .sort((a, b) => compareCodeUnits(a.date, b.date))
    .map((file) => ({ file, notes: readNotes(file) }));
  const readable = read.filter(({ notes }) => notes !== null);
  const fresh = read.flatMap(({ notes }) => notes ?? []).filter(({ anchor }) => !known.has(anchor));
  const part = writeArchivePart({ month, tag, notes: fresh }, before ?? '');
  if (!settings.dryRun) {
    if (fresh.length > 0) {
      ensureProjectFolder(memory.root, ...place.folder);
      const at = formatTimestamp(settings.at);
      const key = `n-${shortHash(fresh.map(({ anchor }) => anchor).join(), 12)}`;
      const content = before ?? formatHeader(3, at.slice(0, 10));
      writeProjectFile(archive, appendNote(content, { at, key, text: part.text }));
    }
    removeArchived(archive, readable);
  }
  return {
    month,
    tag,
    archive,
    notes: fresh.length,
    repeats: part.repeats,
    removed: readable.map(({ file }) => file.path),
    unreadable: read.filter(({ notes }) => notes === null).map(({ file }) => file.path),
  };
}

/** Null for a file that is no text: writing it elsewhere would change it. */
function readNotes({ path, tag, date }: NotesFile): ArchivedNote[] | null {
  const content = readText(path) ?? '';
  if (content.includes('\ufffd')) return null;
  const front = readFrontMatter(content).replace('\ufeff', '');
  return parseNoteFile(content).notes.map(({ at, key, text }, index) => {
    const full = index === 0 && front !== '' ? `\`\`\`yaml\n${front}\`\`\`\n\n${text}` : text;
    const anchor = `a-${shortHash([tag, date, at ?? '', key ?? '', full].join('\n'), 12)}`;
    return { date, at, text: full, anchor };
  });
}

interface ReadFile {
  file: NotesFile;
  notes: ArchivedNote[] | null;
}

function removeArchived(archive: string, files: readonly ReadFile[]): void {
  const durable = listAnchors(readText(archive) ?? '');
  for (const { file, notes } of files) {
    if (!(notes ?? []).every(({ anchor }) => durable.has(anchor))) {
      throw new HandoverError(
        'HANDOVER_IO',
        `${archive} does not hold all of ${file.path}; nothing more was removed`,
        {
          hint: 'Run it again: handover compact',
        },
      );
    }
    removeFile(file.path);
  }
  const [first] = files;
  if (first !== undefined) syncFolder(dirname(first.file.path));
}

function refuseOpenMonth(month: string): HandoverError {
  return new HandoverError('HANDOVER_USAGE', `${month} is not over yet`, {
    hint: 'Notes of a month are merged when it is over.',
  });
}
