import type { Entry, Page } from './page.ts';
import type { Section } from './sections.ts';

/** What may be added to the page: a line for a fact, or a symbol on the line of its file. */
export type Candidate = LineCandidate | SymbolCandidate;

export interface LineCandidate {
  kind: 'line';
  section: Section;
  lines: string[];
  bytes: number;
  order: number;
  /** Its value apart from names and words. */
  points: number;
  /** The names in it, each worth its points until it is on the page. */
  names: readonly string[];
  /** Words in it, each worth `wordPoints` until it is on the page. */
  words: readonly string[];
  wordPoints: number;
  /** Set when the line is that of a file. */
  file: string | null;
  /** The text of the line, if saying it twice is useless; else null. */
  told: string | null;
  /** Symbols that may be appended once the line is on the page. */
  symbols: readonly string[];
}

/** The symbols of one file, the best first: only the next of them competes. */
interface SymbolCandidate {
  kind: 'symbol';
  symbols: readonly string[];
  next: number;
  entry: Entry;
}

/** The points of names that are not on the page yet, and the words that are. */
export type OpenValue = { names: Map<string, number>; words: Set<string> };

export interface Supply {
  candidates: readonly LineCandidate[];
  /** Files that are on the page already, with symbols that may be appended. */
  placed: readonly { entry: Entry; symbols: readonly string[] }[];
}

export interface Limits {
  /** The least points per byte that a candidate must have. */
  floor: number;
  /** Beyond this many, other files get no points of their own. */
  maxFiles: number;
}

const NAMES_PER_LINE = 8;
/** The more symbols a file has, the less another one is worth: at this many, half. */
const SYMBOLS_AT_EASE = 14;

/** Fills the page by newly covered value per byte, best first, until nothing is worth its bytes or nothing fits. */
export function fillPage(page: Page, supply: Supply, market: OpenValue, limits: Limits): Set<LineCandidate> {
  const queue = new CandidateQueue();
  const taken = new Set<LineCandidate>();
  let serial = 0;
  const push = (candidate: Candidate): void => {
    if (candidate.kind === 'symbol') skipCovered(candidate, market);
    const rate = rateOf(candidate, page, market, limits);
    if (rate > limits.floor) queue.push({ rate, serial: serial++, candidate });
  };
  const pushSymbols = (entry: Entry, symbols: readonly string[]): void => {
    const ranked = symbols
      .map((symbol) => ({ symbol, rate: rateSymbol(symbol, market) }))
      .sort((a, b) => b.rate - a.rate || (a.symbol < b.symbol ? -1 : 1));
    push({ kind: 'symbol', symbols: ranked.map(({ symbol }) => symbol), next: 0, entry });
  };
  for (const candidate of supply.candidates) push(candidate);
  for (const { entry, symbols } of supply.placed) pushSymbols(entry, symbols);
  for (let top = queue.pop(); top !== undefined; top = queue.pop()) {
    if (top.candidate.kind === 'symbol') skipCovered(top.candidate, market);
    const rate = rateOf(top.candidate, page, market, limits);
    if (rate <= limits.floor) continue;
    const next = queue.best;
    if (next !== undefined && rate < top.rate && rate < next.rate) {
      queue.push({ ...top, rate });
      continue;
    }
    if (top.candidate.kind === 'symbol') {
      const { entry, symbols, next: at } = top.candidate;
      const symbol = symbols[at] ?? '';
      if (page.addSymbol(entry, symbol)) markCovered(market, { names: [symbol, ...symbol.split(/\.|::/)], words: [] });
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

/** The names and words of a line add nothing from now on. */
export function markCovered(market: OpenValue, line: Pick<LineCandidate, 'names' | 'words'>): void {
  for (const name of line.names) market.names.delete(name);
  for (const word of line.words) market.words.add(word);
}

function skipCovered(candidate: SymbolCandidate, market: OpenValue): void {
  const { symbols } = candidate;
  while (candidate.next < symbols.length && !market.names.has(symbols[candidate.next] ?? '')) candidate.next++;
}

function rateSymbol(symbol: string, market: OpenValue): number {
  return (market.names.get(symbol) ?? 0) / (symbol.length + 2.5);
}

function rateOf(candidate: Candidate, page: Page, market: OpenValue, limits: Limits): number {
  if (candidate.kind === 'symbol') {
    const crowding = SYMBOLS_AT_EASE / (SYMBOLS_AT_EASE + candidate.entry.symbols.length);
    return rateSymbol(candidate.symbols[candidate.next] ?? '', market) * crowding;
  }
  const fresh = candidate.wordPoints === 0 ? 0 : candidate.words.filter((word) => !market.words.has(word)).length;
  return (
    (ownPoints(candidate, page, limits) + nameGain(candidate.names, market) + fresh * candidate.wordPoints) /
    candidate.bytes
  );
}

function ownPoints(candidate: LineCandidate, page: Page, limits: Limits): number {
  const crowded = candidate.section === 'files' && page.count('files') >= limits.maxFiles;
  return crowded ? Math.min(0, candidate.points) : candidate.points;
}

/** Only the best few names of a line count, and all that have negative points. */
function nameGain(names: readonly string[], market: OpenValue): number {
  const points = names.map((name) => market.names.get(name) ?? 0).sort((a, b) => b - a);
  return points.reduce((sum, own, index) => (own < 0 || index < NAMES_PER_LINE ? sum + own : sum), 0);
}

type QueueItem = { rate: number; serial: number; candidate: Candidate };

/** Sorted, the best last. Of equal rates the first that came is better. */
class CandidateQueue {
  readonly #items: QueueItem[] = [];

  get best(): QueueItem | undefined {
    return this.#items.at(-1);
  }

  push(item: QueueItem): void {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#items[middle];
      const isTie = other?.rate === item.rate;
      if (other !== undefined && (isTie ? item.serial < other.serial : item.rate > other.rate)) low = middle + 1;
      else high = middle;
    }
    this.#items.splice(low, 0, item);
  }

  pop(): QueueItem | undefined {
    return this.#items.pop();
  }
}
