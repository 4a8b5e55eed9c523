import { countUtf8Bytes } from '../../model/text.ts';
import { countLineBytes } from './lines.ts';
import { HEADINGS, SECTIONS, type Section } from './sections.ts';

/** Lines that belong together, and symbols appended to the first of them. */
export interface Entry {
  lines: string[];
  order: number;
  /** For files: the name in continuation lines. */
  file: string | null;
  /** Its text, if it may be replaced by a line that says the same and more; null where it always stays. */
  told: string | null;
  symbols: string[];
}

const SYMBOLS_PER_LINE = 7;

export interface Page {
  /** Null when it does not fit. Replaces entries that it makes redundant. */
  add(section: Section, entry: Omit<Entry, 'symbols'>): Entry | null;
  /** Whether a line says this already. */
  tells(section: Section, told: string): boolean;
  addSymbol(entry: Entry, symbol: string): boolean;
  count(section: Section): number;
  textOf(section: Section): string;
  print(): string[];
}

export function openPage(limit: number): Page {
  const entries = new Map<Section, Entry[]>();
  let left = limit;
  const dropTold = (section: Section, entry: Entry): void => {
    for (const [other, own] of entries) {
      const kept = own.filter(
        (older) => older === entry || older.told === null || !speaksFor(section, other) || !says(entry, older.told),
      );
      if (kept.length === own.length) continue;
      left += sizeOf(other, own) - sizeOf(other, kept);
      if (kept.length === 0) entries.delete(other);
      else entries.set(other, kept);
    }
  };
  return {
    count: (section) => entries.get(section)?.length ?? 0,
    textOf: (section) => (entries.get(section) ?? []).flatMap((entry) => entry.lines).join('\n'),
    add: (section, parts) => {
      const own = entries.get(section) ?? [];
      const size = countLineBytes(parts.lines) + (own.length === 0 ? sizeOfHeading(section) : 0);
      if (size > left) return null;
      left -= size;
      const entry = { ...parts, symbols: [] };
      entries.set(section, [...own, entry]);
      dropTold(section, entry);
      return entry;
    },
    tells: (section, told) =>
      [...entries].some(([from, own]) => speaksFor(from, section) && own.some((entry) => says(entry, told))),
    addSymbol: (entry, symbol) => {
      const size = countUtf8Bytes(leadTo(entry)) + countUtf8Bytes(symbol);
      if (size > left) return false;
      left -= size;
      entry.symbols.push(symbol);
      return true;
    },
    print: () =>
      SECTIONS.flatMap((section) => {
        const own = entries.get(section);
        if (own === undefined) return [];
        const sorted = [...own].sort((a, b) => a.order - b.order);
        return ['', `## ${HEADINGS[section]}`, ...sorted.flatMap(printEntry)];
      }),
  };
}

function sizeOfHeading(section: Section): number {
  return countUtf8Bytes(`\n## ${HEADINGS[section]}\n`);
}

function sizeOf(section: Section, entries: readonly Entry[]): number {
  const lines = entries.flatMap(printEntry);
  return lines.length === 0 ? 0 : sizeOfHeading(section) + countLineBytes(lines);
}

function says(entry: Entry, told: string): boolean {
  return entry.lines.some((line) => line.includes(told));
}

/** Sections with the user's own words. */
const HUMAN = new Set<Section>(['goal', 'pinned', 'current', 'first', 'messages', 'constraints']);
/** A file name in a list does not stand for a statement. */
const SILENT: ReadonlySet<Section> = new Set(['changed', 'files', 'tree']);

/** Whether a line of one section may replace one of another: the user's words are only replaced by the user's words. */
function speaksFor(section: Section, other: Section): boolean {
  return HUMAN.has(other) ? HUMAN.has(section) : !SILENT.has(section);
}

/** The separator before the next symbol: symbols follow their file on its line, then on lines of their own. */
function leadTo({ symbols, file }: Entry): string {
  if (symbols.length === 0) return ': ';
  return symbols.length % SYMBOLS_PER_LINE === 0 ? `\n>   ${file}: ` : ', ';
}

function printEntry({ lines, symbols, file }: Entry): string[] {
  if (symbols.length === 0) return lines;
  const [first = '', ...rest] = lines;
  const more: string[] = [];
  for (let at = SYMBOLS_PER_LINE; at < symbols.length; at += SYMBOLS_PER_LINE) {
    more.push(`>   ${file}: ${symbols.slice(at, at + SYMBOLS_PER_LINE).join(', ')}`);
  }
  return [`${first}: ${symbols.slice(0, SYMBOLS_PER_LINE).join(', ')}`, ...more, ...rest];
}
