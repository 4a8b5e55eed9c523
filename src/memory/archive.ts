import { compareCodeUnits } from '../model/hash.ts';
import { type Block, type BlockKind, splitBlocks, wordsOf } from './note-blocks.ts';

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
