import type { Fact } from '../model/fact.ts';
import { baseName } from '../model/paths.ts';
import type { Account } from './account.ts';
import { draftFact } from './draft-fact.ts';
import type { Voice } from './ledger.ts';
import { describeUntouched, isChanged, isForeign, relatePath, type TouchedFile } from './touched-file.ts';
import { netFilePoints, type Valuation } from './value.ts';

const SMALLEST_QUALIFIED = 8;
const MAX_SYMBOLS = 100;
const SMALLEST_SYMBOL = 60;
const MAX_OTHER_FILES = 60;
const SMALLEST_RELEVANCE = 60;

/** Files changed, with what the edits brought in; files read; files that were only named but look likely to matter. */
export function findFileFacts(account: Account, valuation: Valuation): Fact[] {
  const symbols = assignSymbols(account, valuation);
  const changed = changedFiles(account).map((file) => ({ file, isFirst: true }));
  return [...changed, ...rankOthers(account, valuation)]
    .map((ranked) => makeFact(account, valuation, { ...ranked, symbols }))
    .filter((fact) => fact !== null);
}

function groupByName(account: Account): Map<string, TouchedFile[]> {
  const groups = new Map<string, TouchedFile[]>();
  for (const file of account.files.values()) {
    const name = baseName(file.path);
    const own = groups.get(name);
    if (own === undefined) groups.set(name, [file]);
    else own.push(file);
  }
  return groups;
}

function lastTouch(file: TouchedFile): number {
  return Math.max(file.lastEdit, file.lastRead);
}

const MAX_OF_A_NAME = 8;

/** Of the files of one name the newest is worth what the name is; the others are there for who asks for them. */
function rankOthers(account: Account, valuation: Valuation): { file: TouchedFile; isFirst: boolean }[] {
  const touched = groupByName(account);
  return [...valuation.relevance]
    .filter(([, relevance]) => relevance >= SMALLEST_RELEVANCE)
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .flatMap(([name]) => {
      const known =
        touched.get(name) ?? (wasLookedFor(account, name) ? [describeMention(account, name)] : []);
      const isTold = known.some(isChanged);
      return known
        .filter((file) => !isChanged(file) && !isForeign(file.path))
        .sort((a, b) => lastTouch(b) - lastTouch(a))
        .slice(0, MAX_OF_A_NAME)
        .map((file, index) => ({ file, isFirst: index === 0 && !isTold }));
    })
    .slice(0, MAX_OTHER_FILES);
}

function changedFiles(account: Account): TouchedFile[] {
  return [...account.files.values()].filter(isChanged);
}

const PASSING: ReadonlySet<Voice> = new Set(['output', 'content', 'kept', 'pattern']);

/** Outputs and contents name many files in passing. A lead is a file that somebody spoke of or that a search brought up. */
function wasLookedFor(account: Account, name: string): boolean {
  const voices = account.ledger.names.file.get(name)?.by.keys() ?? [];
  return [...voices].some((voice) => !PASSING.has(voice));
}

/** A file that nobody opened, by its most frequent spelling. */
function describeMention(account: Account, name: string): TouchedFile {
  const spellings = [...(account.ledger.spellings.get(name) ?? [])];
  const [best] = spellings.sort(
    ([a, left], [b, right]) => right - left || a.length - b.length || (a < b ? -1 : 1),
  );
  return describeUntouched(best?.[0] ?? name);
}

interface FileParts {
  file: TouchedFile;
  isFirst: boolean;
  symbols: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

function makeFact(
  account: Account,
  valuation: Valuation,
  { file, isFirst, symbols }: FileParts,
): Fact | null {
  const name = baseName(file.path);
  const last = account.ledger.names.file.get(name)?.last ?? lastTouch(file);
  return draftFact('file', {
    text: relatePath(file.path, account.cwd),
    line: file.line,
    status: statusOf(file),
    trust: file.reads > 0 || isChanged(file) ? 'observed' : 'inferred',
    origin: 'tool',
    weight: {
      points: isFirst ? netFilePoints(valuation, name) : 0,
      age: account.calls - (lastTouch(file) || last),
      names: Object.fromEntries(symbols.get(file.path) ?? []),
    },
    detail: {
      edits: file.edits,
      ...(file.failures === 0 ? {} : { failures: file.failures }),
      reads: file.reads,
      relevance: valuation.relevance.get(name) ?? 0,
    },
  });
}

function statusOf(file: TouchedFile): string {
  if (file.deleted) return 'deleted';
  if (file.created) return 'created';
  if (file.edits > 0) return 'edited';
  return file.reads > 0 ? 'read' : 'mentioned';
}

/** Each symbol is listed with the one file where it was worked on most. */
function assignSymbols(account: Account, valuation: Valuation): Map<string, Map<string, number>> {
  const homes = new Map<string, Map<string, number>>();
  for (const [symbol, files] of account.ledger.homes)
    homes.set(symbol, new Map([...files].map(([file, edits]) => [file, 2 + edits])));
  for (const { path, names } of account.results) {
    if (path === null) continue;
    for (const symbol of names?.symbols ?? []) {
      const own = homes.get(symbol) ?? new Map<string, number>();
      if (!own.has(path)) own.set(path, 1);
      homes.set(symbol, own);
    }
  }
  const assigned = new Map<string, Map<string, number>>();
  const spelled = spellQualified(valuation);
  const ranked = [...homes.keys()]
    .filter((symbol) => /[A-Z_]/.test(symbol) || account.ledger.defined.has(symbol))
    .map((symbol) => ({ symbol, points: valuation.values.symbol.get(symbol) ?? 0 }))
    .filter(({ points }) => points >= SMALLEST_SYMBOL)
    .sort((a, b) => b.points - a.points || (a.symbol < b.symbol ? -1 : 1));
  for (const { symbol, points } of ranked) {
    const home = chooseHome(homes.get(symbol) ?? new Map(), assigned, account.files);
    if (home === null) continue;
    const own = assigned.get(home) ?? new Map<string, number>();
    const qualified = spelled.get(symbol);
    if (qualified === undefined) own.set(symbol, points);
    else own.set(qualified, points + (valuation.values.qualified.get(qualified) ?? 0));
    assigned.set(home, own);
  }
  return assigned;
}

/** A name behind a receiver of no name of its own, such as `s.load` or `this.load`, says no more than `load`. */
const QUALIFIED = /^(?!(?:err|ctx|env|cmd|req|res|self|this|that)\b)\w{3,}(?:(?:\.|::)\w+)+$/;

/** The qualified name of a symbol says whose it is; of several, the one of most value. */
function spellQualified(valuation: Valuation): Map<string, string> {
  const spelled = new Map<string, string>();
  const valued = [...valuation.values.qualified]
    .filter(([name, points]) => points >= SMALLEST_QUALIFIED && QUALIFIED.test(name))
    .sort(([a, left], [b, right]) => left - right || (a < b ? 1 : -1));
  for (const [name] of valued) spelled.set(lastPart(name), name);
  return spelled;
}

function chooseHome(
  candidates: ReadonlyMap<string, number>,
  assigned: ReadonlyMap<string, ReadonlyMap<string, number>>,
  touched: ReadonlyMap<string, TouchedFile>,
): string | null {
  let best: Home | null = null;
  for (const [file, weight] of candidates) {
    const known = touched.get(file);
    const taken = assigned.get(file)?.size ?? 0;
    if (known === undefined || taken >= MAX_SYMBOLS) continue;
    const home = { file, weight, taken, last: lastTouch(known) };
    if (best === null || isBetterHome(home, best)) best = home;
  }
  return best?.file ?? null;
}

interface Home {
  file: string;
  /** How much the symbol was worked on there. */
  weight: number;
  /** Symbols that are listed there already. */
  taken: number;
  last: number;
}

function isBetterHome(a: Home, b: Home): boolean {
  if (a.weight !== b.weight) return a.weight > b.weight;
  if (a.taken !== b.taken) return a.taken < b.taken;
  return a.last === b.last ? a.file < b.file : a.last > b.last;
}

function lastPart(qualified: string): string {
  return qualified.slice(Math.max(qualified.lastIndexOf('.'), qualified.lastIndexOf(':')) + 1);
}
