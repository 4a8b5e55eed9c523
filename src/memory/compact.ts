import { dirname } from 'node:path';
import { HandoverError, usageError } from '../errors.ts';
import { compareCodeUnits, shortHash } from '../model/hash.ts';
import { countNouns } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import { removeFile, syncFolder } from '../platform/durable-file.ts';
import { removeEmptyFolder, writeProjectFile } from '../platform/project-file.ts';
import { parseMonth, pathOf, placeOfArchive } from './layout.ts';
import { type Block, type BlockKind, splitBlocks, wordsOf } from './note-blocks.ts';
import { appendNote, formatHeader, parseNoteFile, readFrontMatter } from './note-file.ts';
import { listNotesMonths, listNotesOfMonth, type Memory, type NotesFile, readText } from './read-memory.ts';
import { ensureMemoryFolder, withMemoryLock } from './write-memory.ts';

/** What became of the notes of one tag and month. */
export interface Compaction {
  month: string;
  tag: string;
  archive: string;
  /** How many notes were not in the archive yet. */
  notes: number;
  /** How many blocks of text were dropped because the same month and tag already had them. */
  repeats: number;
  /** Files whose notes are all in the archive: removed, or to be removed if this is a dry run. */
  removed: string[];
  /** Files that are not valid UTF-8; they are left alone. */
  unreadable: string[];
}

export interface CompactOptions {
  /** One past month; all past months if left out. */
  month?: string | undefined;
  dryRun?: boolean;
  /** Time for what is written, in milliseconds; now if left out. */
  at?: number;
}

/**
 * Merges the notes of past months into one archive per tag: decisions, constraints and open work first, word for word
 * and linked to their notes, then the notes without repeats. Notes are removed only after the archive was read back
 * from disk. Safe to repeat after an interruption.
 */
export function compactMemory(memory: Memory, options: CompactOptions = {}): Compaction[] {
  const { at = memory.machine.clock.now(), dryRun = false } = options;
  const current = formatTimestamp(at).slice(0, 7);
  const asked = options.month === undefined ? null : parseMonth(options.month);
  if (asked !== null && asked >= current)
    throw usageError(`${asked} is not over yet`, 'Notes of a month are merged when it is over.');
  const months = listNotesMonths(memory).filter((month) => month < current && month === (asked ?? month));
  if (months.length === 0) return [];
  const work = (): Compaction[] => months.flatMap((month) => compactMonth(memory, month, { at, dryRun }));
  return dryRun ? work() : withMemoryLock(memory, work);
}

type Settings = Required<Omit<CompactOptions, 'month'>>;

function compactMonth(memory: Memory, month: string, settings: Settings): Compaction[] {
  const byTag = new Map<string, NotesFile[]>();
  for (const file of listNotesOfMonth(memory, month)) byTag.set(file.tag, [...(byTag.get(file.tag) ?? []), file]);
  const done = [...byTag]
    .sort(([a], [b]) => compareCodeUnits(a, b))
    .map(([tag, files]) => compactTag(memory, month, tag, files, settings));
  if (!settings.dryRun && done.length > 0) removeEmptyFolder(ensureMemoryFolder(memory, 'layer1', month));
  return done;
}

function compactTag(memory: Memory, month: string, tag: string, files: NotesFile[], settings: Settings) {
  const place = placeOfArchive(tag, month);
  const archive = pathOf(memory.root, place);
  const before = readText(archive);
  const known = listAnchors(before ?? '');
  const readable: { path: string; notes: ArchivedNote[] }[] = [];
  const unreadable: string[] = [];
  for (const file of [...files].sort((a, b) => compareCodeUnits(a.date, b.date))) {
    const notes = readNotes(file);
    if (notes === null) unreadable.push(file.path);
    else readable.push({ path: file.path, notes });
  }
  const fresh = readable.flatMap(({ notes }) => notes).filter(({ anchor }) => !known.has(anchor));
  const part = formatArchivePart(month, tag, fresh, before ?? '');
  if (!settings.dryRun && fresh.length > 0) {
    ensureMemoryFolder(memory, ...place.folder);
    const at = formatTimestamp(settings.at);
    const key = `n-${shortHash(fresh.map(({ anchor }) => anchor).join(), 12)}`;
    const content = before ?? formatHeader(3, at.slice(0, 10));
    writeProjectFile(archive, appendNote(content, { at, key, text: part.text }));
  }
  if (!settings.dryRun) removeArchived(archive, readable);
  const removed = readable.map(({ path }) => path);
  return { month, tag, archive, notes: fresh.length, repeats: part.repeats, removed, unreadable };
}

/** The anchor identifies the note in the archive. */
type ArchivedNote = { date: string; at: string | null; text: string; anchor: string };

/** Null for a file that is not valid UTF-8: it could not be copied without loss. */
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

function removeArchived(archive: string, files: readonly { path: string; notes: ArchivedNote[] }[]): void {
  const durable = listAnchors(readText(archive) ?? '');
  for (const { path, notes } of files) {
    if (!notes.every(({ anchor }) => durable.has(anchor))) {
      const message = `${archive} does not hold all of ${path}; nothing more was removed`;
      throw new HandoverError('HANDOVER_IO', message, { hint: 'Run it again: handover compact' });
    }
    removeFile(path);
  }
  const [first] = files;
  if (first !== undefined) syncFolder(dirname(first.path));
}

function listAnchors(archive: string): ReadonlySet<string> {
  const anchors = archive.matchAll(/<a id="(a-[0-9a-z]+)"><\/a>/g);
  return new Set([...anchors].map(([, anchor = '']) => anchor));
}

const SECTIONS: readonly (readonly [kind: BlockKind, heading: string])[] = [
  ['decision', 'Decisions'],
  ['constraint', 'Constraints'],
  ['open', 'Open work'],
];

/** The text to add to an archive that holds `before`. */
function formatArchivePart(month: string, tag: string, notes: readonly ArchivedNote[], before: string) {
  const sortKey = ({ date, at }: ArchivedNote): string => `${date} ${at ?? ''}`;
  const sorted = [...notes].sort((a, b) => compareCodeUnits(sortKey(a), sortKey(b)));
  const { remaining, repeats } = dropRepeats(sorted, before);
  const done = remaining.flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === 'done'));
  const closed = new Set(done.map(wordsOf));
  const sections = SECTIONS.flatMap(([kind, heading]) => {
    const lines = remaining.flatMap(({ note, blocks }) =>
      blocks
        .filter((block) => block.kind === kind && !(kind === 'open' && closed.has(wordsOf(block))))
        .map((block) => formatPoint(block, note)),
    );
    return lines.length === 0 ? [] : [`## ${heading}`, '', ...lines, ''];
  });
  const lines = [
    `# ${month}, ${tag}`,
    '',
    `${countNouns(notes.length, 'note')}, ${countNouns(repeats, 'repeat')} left out.`,
    '',
    ...sections,
    '## Notes',
    '',
    ...remaining.flatMap(({ note: { at, date, anchor }, blocks }) => [
      `### ${at ?? date} <a id="${anchor}"></a>`,
      '',
      ...blocks.flatMap((block, index) => (block.isApart && index > 0 ? ['', ...block.lines] : block.lines)),
      '',
    ]),
  ];
  return { text: lines.join('\n'), repeats };
}

/** Keeps the first occurrence of each block. A heading goes when all blocks below it have gone. */
function dropRepeats(notes: readonly ArchivedNote[], before: string) {
  const seen = new Set(splitBlocks(before).map(keyOfBlock));
  let repeats = 0;
  const remaining = notes.map((note) => {
    const all = splitBlocks(note.text);
    const kept = all.filter((block) => {
      if (block.kind === 'heading') return true;
      const isNew = !seen.has(keyOfBlock(block));
      seen.add(keyOfBlock(block));
      return isNew;
    });
    repeats += all.length - kept.length;
    return { note, blocks: kept.filter((block, at) => !isEmptyHeading(block, kept[at + 1], all)) };
  });
  return { remaining, repeats };
}

/** A task that is done is not a repeat of the same task when it was open. */
function keyOfBlock(block: Block): string {
  return `${block.kind === 'done' ? 'done: ' : ''}${wordsOf(block)}`;
}

function isEmptyHeading(block: Block, next: Block | undefined, all: readonly Block[]): boolean {
  if (block.kind !== 'heading' || (next !== undefined && next.kind !== 'heading')) return false;
  const following = all[all.indexOf(block) + 1];
  return following !== undefined && following.kind !== 'heading';
}

/** As a list item with a link to its note. */
function formatPoint({ lines }: Block, { date, anchor }: ArchivedNote): string {
  const [first = '', ...rest] = lines;
  const isItem = /^\s*(?:[-*+]|\d+[.)])\s/.test(first);
  const item = isItem ? lines : [`- ${first}`, ...rest.map((line) => `  ${line}`)];
  return `${item.join('\n')} ([${date}](#${anchor}))`;
}
