import type { Entry, Page } from './page.ts';
import type { Section } from './sections.ts';

/** Something that may enter the page: a line for a fact, or a symbol on the line of its file. */
export type Candidate = LineCandidate | SymbolCandidate;

export interface LineCandidate {
  kind: 'line';
  section: Section;
  lines: string[];
  /** Of the lines. */
  bytes: number;
  order: number;
  /** What it is worth by itself. */
  points: number;
  /** The names in it, each worth its points until it stands on the page. */
  names: readonly string[];
  /** Words in it, each worth `wordPoints` until it stands on the page. */
  words: readonly string[];
  wordPoints: number;
  /** Set when the line is that of a file. */
  file: string | null;
  /** What the line says, where it is nothing to say it twice. */
  told: string | null;
  /** Symbols that may be appended once the line stands. */
  symbols: readonly string[];
}

/** The symbols of one file, the best first: only the next of them competes. */
interface SymbolCandidate {
  kind: 'symbol';
  symbols: readonly string[];
  next: number;
  entry: Entry;
}

/** What names are still worth. What has entered the page is worth nothing any more. */
export interface OpenValue {
  names: Map<string, number>;
  words: Set<string>;
}

export interface Supply {
  candidates: readonly LineCandidate[];
  /** Files that stand on the page already, with symbols that may be appended. */
  standing: readonly { entry: Entry; symbols: readonly string[] }[];
}

export interface PoolOptions {
  /** Points for a byte below which nothing is worth its place. */
  floor: number;
  /** Other files beyond this many must be likely to matter. */
  maxFiles: number;
}

const NAMES_PER_LINE = 8;
/** The more symbols stand with a file, the less another one tells: at so many, half. */
const SYMBOLS_AT_EASE = 14;

/** Fills the page by newly covered value per byte, best first, until nothing is worth its bytes or nothing fits. */
export function fillPage(
  page: Page,
  supply: Supply,
  market: OpenValue,
  options: PoolOptions,
): Set<LineCandidate> {
  const heap = openHeap();
  const taken = new Set<LineCandidate>();
  let serial = 0;
  const push = (candidate: Candidate): void => {
    if (candidate.kind === 'symbol') skipCovered(candidate, market);
    const rate = rateOf(candidate, page, market, options);
    if (rate > options.floor) heap.push({ rate, serial: serial++, candidate });
  };
  const pushSymbols = (entry: Entry, symbols: readonly string[]): void => {
    const ranked = symbols
      .map((symbol) => ({ symbol, rate: rateSymbol(symbol, market) }))
      .sort((a, b) => b.rate - a.rate || (a.symbol < b.symbol ? -1 : 1));
    push({ kind: 'symbol', symbols: ranked.map(({ symbol }) => symbol), next: 0, entry });
  };
  for (const candidate of supply.candidates) push(candidate);
  for (const { entry, symbols } of supply.standing) pushSymbols(entry, symbols);
  for (let top = heap.pop(); top !== undefined; top = heap.pop()) {
    if (top.candidate.kind === 'symbol') skipCovered(top.candidate, market);
    const rate = rateOf(top.candidate, page, market, options);
    if (rate <= options.floor) continue;
    const next = heap.peek();
    if (next !== undefined && rate < top.rate && rate < next.rate) {
      heap.push({ ...top, rate });
      continue;
    }
    if (top.candidate.kind === 'symbol') {
      const { entry, symbols, next: at } = top.candidate;
      const symbol = symbols[at] ?? '';
      if (page.addSymbol(entry, symbol))
        markCovered(market, { names: [symbol, ...symbol.split(/\.|::/)], words: [] });
      push({ ...top.candidate, next: at + 1 });
      continue;
    }
    const { section, told } = top.candidate;
    if (told !== null && page.tells(section, told)) {
      taken.add(top.candidate);
      continue;
    }
    const entry = page.add(section, top.candidate);
    if (entry === null) continue;
    taken.add(top.candidate);
    markCovered(market, top.candidate);
    pushSymbols(entry, top.candidate.symbols);
  }
  return taken;
}

/** Everything that the line shows is covered from now on. */
export function markCovered(market: OpenValue, line: Pick<LineCandidate, 'names' | 'words'>): void {
  for (const name of line.names) market.names.delete(name);
  for (const word of line.words) market.words.add(word);
}

function skipCovered(candidate: SymbolCandidate, market: OpenValue): void {
  const { symbols } = candidate;
  while (candidate.next < symbols.length && !market.names.has(symbols[candidate.next] ?? ''))
    candidate.next++;
}

function rateSymbol(symbol: string, market: OpenValue): number {
  return (market.names.get(symbol) ?? 0) / (symbol.length + 2.5);
}

function rateOf(candidate: Candidate, page: Page, market: OpenValue, options: PoolOptions): number {
  if (candidate.kind === 'symbol') {
    const crowding = SYMBOLS_AT_EASE / (SYMBOLS_AT_EASE + candidate.entry.symbols.length);
    return rateSymbol(candidate.symbols[candidate.next] ?? '', market) * crowding;
  }
  const fresh =
    candidate.wordPoints === 0 ? 0 : candidate.words.filter((word) => !market.words.has(word)).length;
  return (
    (ownPoints(candidate, page, options) + nameGain(candidate.names, market) + fresh * candidate.wordPoints) /
    candidate.bytes
  );
}

function ownPoints(candidate: LineCandidate, page: Page, options: PoolOptions): number {
  const crowded = candidate.section === 'files' && page.count('files') >= options.maxFiles;
  return crowded ? Math.min(0, candidate.points) : candidate.points;
}

/** Only so many names of a line are read; those that speak against it all count. */
function nameGain(names: readonly string[], market: OpenValue): number {
  const points = names.map((name) => market.names.get(name) ?? 0).sort((a, b) => b - a);
  return points.reduce((sum, own, index) => (own < 0 || index < NAMES_PER_LINE ? sum + own : sum), 0);
}

interface HeapItem {
  rate: number;
  serial: number;
  candidate: Candidate;
}

interface Heap {
  push(item: HeapItem): void;
  pop(): HeapItem | undefined;
  peek(): HeapItem | undefined;
}

/** A binary heap, highest rate first, then first come. */
function openHeap(): Heap {
  const items: HeapItem[] = [];
  const before = (a: HeapItem, b: HeapItem): boolean =>
    a.rate > b.rate || (a.rate === b.rate && a.serial < b.serial);
  const at = (index: number): HeapItem | undefined => items[index];
  const swap = (i: number, j: number): void => {
    const [a, b] = [items[i], items[j]];
    if (a !== undefined && b !== undefined) [items[i], items[j]] = [b, a];
  };
  const rise = (index: number): void => {
    for (let i = index; i > 0; ) {
      const parent = (i - 1) >> 1;
      const [a, b] = [at(i), at(parent)];
      if (a === undefined || b === undefined || !before(a, b)) return;
      swap(i, parent);
      i = parent;
    }
  };
  const sink = (): void => {
    for (let i = 0; ; ) {
      let best = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        const [a, b] = [at(child), at(best)];
        if (a !== undefined && b !== undefined && before(a, b)) best = child;
      }
      if (best === i) return;
      swap(i, best);
      i = best;
    }
  };
  return {
    peek: () => items[0],
    push: (item) => {
      items.push(item);
      rise(items.length - 1);
    },
    pop: () => {
      const top = items[0];
      const last = items.pop();
      if (top !== undefined && last !== undefined && items.length > 0) {
        items[0] = last;
        sink();
      }
      return top;
    },
  };
}
