import type { Fact } from '../model/fact.ts';
import { baseName } from '../model/paths.ts';
import { draftFact, netFilePoints, type Valuation } from './facts.ts';
import type { MentionSource } from './name-index.ts';
import type { SessionLog } from './session-log.ts';
import { isChanged, isOutsideWork, relatePath, TouchedFile } from './touched-files.ts';

const SMALLEST_QUALIFIED = 8;
const MAX_SYMBOLS = 100;
const SMALLEST_SYMBOL = 60;
const MAX_OTHER_FILES = 60;
const SMALLEST_RELEVANCE = 60;

/** Files changed, with the symbols worked on; files read; files that were only named but probably matter. */
export function findFileFacts(log: SessionLog, valuation: Valuation): (Fact | null)[] {
  const symbols = assignSymbols(log, valuation);
  const changed = [...log.files.values()].filter(isChanged).map((file) => ({ file, isFirst: true }));
  return [...changed, ...rankOthers(log, valuation)].map(({ file, isFirst }) => {
    const name = baseName(file.path);
    const last = log.index.names.file.get(name)?.last ?? lastTouch(file);
    return draftFact('file', {
      text: relatePath(file.path, log.cwd),
      line: file.line,
      status: statusOf(file),
      trust: file.reads > 0 || isChanged(file) ? 'observed' : 'inferred',
      origin: 'tool',
      weight: {
        points: isFirst ? netFilePoints(valuation, name) : 0,
        age: log.calls - (lastTouch(file) || last),
        names: Object.fromEntries(symbols.get(file.path) ?? []),
      },
      detail: {
        edits: file.edits,
        ...(file.failures === 0 ? {} : { failures: file.failures }),
        reads: file.reads,
        relevance: valuation.relevance.get(name) ?? 0,
      },
    });
  });
}

function statusOf(file: TouchedFile): string {
  if (file.deleted) return 'deleted';
  if (file.created) return 'created';
  if (file.edits > 0) return 'edited';
  return file.reads > 0 ? 'read' : 'mentioned';
}

function lastTouch(file: TouchedFile): number {
  return Math.max(file.lastEdit, file.lastRead);
}

const MAX_OF_A_NAME = 8;

/** Unchanged files by relevance. Of several with one base name, the newest gets the points of the name. */
function rankOthers(log: SessionLog, valuation: Valuation): { file: TouchedFile; isFirst: boolean }[] {
  const touched = new Map<string, TouchedFile[]>();
  for (const file of log.files.values()) {
    const group = touched.get(baseName(file.path)) ?? [];
    group.push(file);
    touched.set(baseName(file.path), group);
  }
  return [...valuation.relevance]
    .filter(([, relevance]) => relevance >= SMALLEST_RELEVANCE)
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .flatMap(([name]) => {
      const known = touched.get(name) ?? (wasLookedFor(log, name) ? [describeMention(log, name)] : []);
      const isShown = known.some(isChanged);
      return known
        .filter((file) => !isChanged(file) && !isOutsideWork(file.path))
        .sort((a, b) => lastTouch(b) - lastTouch(a))
        .slice(0, MAX_OF_A_NAME)
        .map((file, index) => ({ file, isFirst: index === 0 && !isShown }));
    })
    .slice(0, MAX_OTHER_FILES);
}

const PASSING: ReadonlySet<MentionSource> = new Set(['output', 'content', 'kept', 'pattern']);

/** Whether somebody spoke of the file or a search found it. Outputs and contents name many files in passing. */
function wasLookedFor(log: SessionLog, name: string): boolean {
  const sources = log.index.names.file.get(name)?.by.keys() ?? [];
  return [...sources].some((source) => !PASSING.has(source));
}

/** A file that nobody opened, by the path most often seen for it. */
function describeMention(log: SessionLog, name: string): TouchedFile {
  const [best] = [...(log.index.paths.get(name) ?? [])].sort(
    ([a, left], [b, right]) => right - left || a.length - b.length || (a < b ? -1 : 1),
  );
  return new TouchedFile(best?.[0] ?? name);
}

/** By file and then by name, a number. */
type CountsByFile = Map<string, Map<string, number>>;

/** By path, the symbols to list with a file: each with the one file where it was worked on most. */
function assignSymbols(log: SessionLog, valuation: Valuation): CountsByFile {
  const homes: CountsByFile = new Map();
  for (const [symbol, files] of log.index.editedIn)
    homes.set(symbol, new Map([...files].map(([file, edits]) => [file, 2 + edits])));
  for (const { path, names } of log.results) {
    if (path === null) continue;
    for (const symbol of names?.symbols ?? []) {
      const own = homes.get(symbol) ?? new Map<string, number>();
      if (!own.has(path)) own.set(path, 1);
      homes.set(symbol, own);
    }
  }
  const assigned: CountsByFile = new Map();
  const qualifiedNames = findQualifiedNames(valuation);
  const ranked = [...homes]
    .filter(([symbol]) => /[A-Z_]/.test(symbol) || log.index.defined.has(symbol))
    .map(([symbol, files]) => ({ symbol, files, points: valuation.values.symbol.get(symbol) ?? 0 }))
    .filter(({ points }) => points >= SMALLEST_SYMBOL)
    .sort((a, b) => b.points - a.points || (a.symbol < b.symbol ? -1 : 1));
  for (const { symbol, files, points } of ranked) {
    const home = chooseHome(files, assigned, log.files);
    if (home === undefined) continue;
    const own = assigned.get(home) ?? new Map<string, number>();
    const qualified = qualifiedNames.get(symbol);
    if (qualified === undefined) own.set(symbol, points);
    else own.set(qualified, points + (valuation.values.qualified.get(qualified) ?? 0));
    assigned.set(home, own);
  }
  return assigned;
}

/** Without receivers such as `s.` or `this.`, which say nothing of whose the symbol is. */
const QUALIFIED = /^(?!(?:err|ctx|env|cmd|req|res|self|this|that)\b)\w{3,}(?:(?:\.|::)\w+)+$/;

/** By symbol, its qualified name; of several, the most valuable. */
function findQualifiedNames(valuation: Valuation): Map<string, string> {
  const valued = [...valuation.values.qualified]
    .filter(([name, points]) => points >= SMALLEST_QUALIFIED && QUALIFIED.test(name))
    .sort(([a, left], [b, right]) => left - right || (a < b ? 1 : -1));
  return new Map(valued.map(([name]) => [name.replace(/^.*[.:]/, ''), name]));
}

/** Where the symbol was worked on most; of several, the file with the fewest symbols, then the one touched last. */
function chooseHome(
  candidates: ReadonlyMap<string, number>,
  assigned: CountsByFile,
  touched: ReadonlyMap<string, TouchedFile>,
): string | undefined {
  const homes = [...candidates].flatMap(([path, weight]) => {
    const file = touched.get(path);
    const listed = assigned.get(path)?.size ?? 0;
    if (file === undefined || listed >= MAX_SYMBOLS) return [];
    return [{ path, weight, listed, last: lastTouch(file) }];
  });
  const [best] = homes.sort(
    (a, b) => b.weight - a.weight || a.listed - b.listed || b.last - a.last || (a.path < b.path ? -1 : 1),
  );
  return best?.path;
}
