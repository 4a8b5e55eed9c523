import { dirname } from 'node:path';
import { HandoverError } from '../errors.ts';
import { compareCodeUnits, shortHash } from '../model/hash.ts';
import { formatTimestamp } from '../model/time.ts';
import { removeFile, syncFolder } from '../platform/durable-file.ts';
import { ensureProjectFolder, removeEmptyFolder, writeProjectFile } from '../platform/project-file.ts';
import { parseMonth, pathOf, placeOfArchive } from './layout.ts';
import { type Block, type BlockKind, splitBlocks, wordsOf } from './note-blocks.ts';
import { appendNote, formatHeader, parseNoteFile, readFrontMatter } from './note-file.ts';
import { listNotesMonths, listNotesOfMonth, type Memory, type NotesFile, readText } from './read-memory.ts';
import { withMemoryLock } from './write-memory.ts';

/** A note on its way into an archive. */
export interface ArchivedNote {
  date: string;
  at: string | null;
  text: string;
  /** By it the archive knows that it has the note. */
  anchor: string;
}

const ANCHOR = /<a id="(a-[0-9a-z]+)"><\/a>/g;

/** The notes that an archive holds. */
export function listAnchors(archive: string): ReadonlySet<string> {
  return new Set([...archive.matchAll(ANCHOR)].map(([, anchor = '']) => anchor));
}

export interface ArchivePart {
  text: string;
  repeats: number;
}

const SECTIONS: readonly (readonly [kind: BlockKind, heading: string])[] = [
  ['decision', 'Decisions'],
  ['constraint', 'Constraints'],
  ['open', 'Open work'],
];

/** What is added to an archive that stands so far as `before`. */
export function writeArchivePart(
  { month, tag, notes }: { month: string; tag: string; notes: readonly ArchivedNote[] },
  before: string,
): ArchivePart {
  const sorted = [...notes].sort((a, b) => compareCodeUnits(sortKey(a), sortKey(b)));
  const thinned = dropRepeats(sorted, before);
  const closed = new Set(
    thinned.flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === 'done').map(wordsOf)),
  );
  const sections = SECTIONS.flatMap(([kind, heading]) => {
    const lines = thinned.flatMap(({ note, blocks }) =>
      blocks
        .filter((block) => block.kind === kind && !(kind === 'open' && closed.has(wordsOf(block))))
        .map((block) => printPoint(block, note)),
    );
    return lines.length === 0 ? [] : [`## ${heading}`, '', ...lines, ''];
  });
  const repeats = thinned.reduce((sum, { dropped }) => sum + dropped, 0);
  return {
    text: [
      `# ${month}, ${tag}`,
      '',
      `${count(notes.length, 'note')}, ${count(repeats, 'repeat')} left out.`,
      '',
      ...sections,
      '## Notes',
      '',
      ...thinned.flatMap(({ note, blocks }) => [`### ${titleOf(note)}`, '', ...printBlocks(blocks), '']),
    ].join('\n'),
    repeats,
  };
}

function sortKey({ date, at }: ArchivedNote): string {
  return `${date} ${at ?? ''}`;
}

function titleOf({ date, at, anchor }: ArchivedNote): string {
  return `${at ?? date} <a id="${anchor}"></a>`;
}

function count(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? '' : 's'}`;
}

interface ThinnedNote {
  note: ArchivedNote;
  blocks: Block[];
  dropped: number;
}

/** The first to say something keeps it. A heading goes when all that stood below it has gone. */
function dropRepeats(notes: readonly ArchivedNote[], before: string): ThinnedNote[] {
  const said = new Set(splitBlocks(before).map(sayingOf));
  return notes.map((note) => {
    const all = splitBlocks(note.text);
    const kept = all.filter((block) => {
      if (block.kind === 'heading') return true;
      const saying = sayingOf(block);
      if (said.has(saying)) return false;
      said.add(saying);
      return true;
    });
    return {
      note,
      blocks: kept.filter((block, at) => !isEmptyHeading(block, kept[at + 1], all)),
      dropped: all.length - kept.length,
    };
  });
}

/** That something is done is no repeat of its being open. */
function sayingOf(block: Block): string {
  return `${block.kind === 'done' ? 'done: ' : ''}${wordsOf(block)}`;
}

function isEmptyHeading(block: Block, next: Block | undefined, all: readonly Block[]): boolean {
  if (block.kind !== 'heading' || (next !== undefined && next.kind !== 'heading')) return false;
  const following = all[all.indexOf(block) + 1];
  return following !== undefined && following.kind !== 'heading';
}

function printBlocks(blocks: readonly Block[]): string[] {
  return blocks.flatMap(({ lines, isApart }, at) => (isApart && at > 0 ? ['', ...lines] : lines));
}

/** As an item of a list, with the way to its note. */
function printPoint({ lines }: Block, note: ArchivedNote): string {
  const [first = '', ...rest] = lines;
  const isItem = /^\s*(?:[-*+]|\d+[.)])\s/.test(first);
  const item = isItem ? lines : [`- ${first}`, ...rest.map((line) => `  ${line}`)];
  return `${item.join('\n')} ([${note.date}](#${note.anchor}))`;
}

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
  if (asked !== null && asked >= current) throw monthNotOverError(asked);
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
        { hint: 'Run it again: handover compact' },
      );
    }
    removeFile(file.path);
  }
  const [first] = files;
  if (first !== undefined) syncFolder(dirname(first.file.path));
}

function monthNotOverError(month: string): HandoverError {
  return new HandoverError('HANDOVER_USAGE', `${month} is not over yet`, {
    hint: 'Notes of a month are merged when it is over.',
  });
}
