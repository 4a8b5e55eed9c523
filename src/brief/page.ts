import { countUtf8Bytes } from '../model/text.ts';
import { countLineBytes } from './lines.ts';
import { HEADINGS, SECTIONS, type Section } from './sections.ts';

/** An entry of the page: lines that stand together, and names appended to the first of them. */
export interface Entry {
  lines: string[];
  order: number;
  /** Set for files: what continuation lines call it. */
  file: string | null;
  symbols: string[];
}

const SYMBOLS_PER_LINE = 7;

/** A page that is filled within a limit and always knows its size. */
export interface Page {
  /** Null when it does not fit. */
  add(section: Section, entry: Omit<Entry, 'symbols'>): Entry | null;
  addSymbol(entry: Entry, symbol: string): boolean;
  count(section: Section): number;
  /** What stands in a section so far. */
  textOf(section: Section): string;
  print(): string[];
}

export function openPage(limit: number): Page {
  const entries = new Map<Section, Entry[]>();
  let left = limit;
  return {
    count: (section) => entries.get(section)?.length ?? 0,
    textOf: (section) => (entries.get(section) ?? []).flatMap((entry) => entry.lines).join('\n'),
    add: (section, parts) => {
      const own = entries.get(section) ?? [];
      const heading = own.length === 0 ? countUtf8Bytes(`\n## ${HEADINGS[section]}\n`) : 0;
      const size = heading + countLineBytes(parts.lines);
      if (size > left) return null;
      left -= size;
      const entry = { ...parts, symbols: [] };
      entries.set(section, [...own, entry]);
      return entry;
    },
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
        const sorted = own
          .map((entry, index) => ({ entry, index }))
          .sort((a, b) => a.entry.order - b.entry.order || a.index - b.index);
        return ['', `## ${HEADINGS[section]}`, ...sorted.flatMap(({ entry }) => printEntry(entry))];
      }),
  };
}

/** What stands between what is there and the next symbol: symbols follow their file on its line, and on lines of their own. */
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
