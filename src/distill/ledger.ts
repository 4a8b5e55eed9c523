import { baseName } from '../model/paths.ts';
import { findNames, keepTelling, type Names } from './find-names.ts';
import { findDefinitions, findQualified, findSymbols, findTicked, isSymbol, isTerm } from './names.ts';
import { findStems } from './shell.ts';

/** Where a name was met. What an edit brings in, keeps and takes out are three different things. */
export type Voice =
  | 'user'
  | 'agent'
  | 'summary'
  | 'added'
  | 'kept'
  | 'removed'
  | 'opened'
  | 'command'
  | 'pattern'
  | 'task'
  | 'plan'
  | 'output'
  | 'content'
  | 'hits'
  | 'report'
  | 'answer'
  | 'other';

export type NameClass = 'file' | 'symbol' | 'qualified' | 'error' | 'reference' | 'stem';

/** How often and when last, counted in calls from the beginning, in all and by voice. */
export interface Mentions {
  count: number;
  last: number;
  by: Map<Voice, { count: number; last: number }>;
}

/** Every name that the session brought up, with what is known of it. */
export interface Ledger {
  names: Record<NameClass, Map<string, Mentions>>;
  ticked: Set<string>;
  defined: Set<string>;
  /** The files, by path, whose edits contain a symbol, and how many edits. */
  homes: Map<string, Map<string, number>>;
  /** Paths that were seen for a base name, with how often. */
  spellings: Map<string, Map<string, number>>;
  /** The fewest other files that ever stood beside this one: a name in a long listing says little. */
  crowds: Map<string, number>;
}

/** An empty map for each class of names. */
export function openNameMaps<T>(): Record<NameClass, Map<string, T>> {
  return {
    file: new Map(),
    symbol: new Map(),
    qualified: new Map(),
    error: new Map(),
    reference: new Map(),
    stem: new Map(),
  };
}

export function openLedger(): Ledger {
  const names = openNameMaps<Mentions>();
  return {
    names,
    ticked: new Set(),
    defined: new Set(),
    homes: new Map(),
    spellings: new Map(),
    crowds: new Map(),
  };
}

export interface Place {
  voice: Voice;
  call: number;
}

export function note(ledger: Ledger, kind: NameClass, name: string, { voice, call }: Place): void {
  const known = ledger.names[kind];
  let mentions = known.get(name);
  if (mentions === undefined) {
    mentions = { count: 0, last: call, by: new Map() };
    known.set(name, mentions);
  }
  mentions.count++;
  mentions.last = Math.max(mentions.last, call);
  const own = mentions.by.get(voice);
  if (own === undefined) mentions.by.set(voice, { count: 1, last: call });
  else {
    own.count++;
    own.last = Math.max(own.last, call);
  }
}

export function noteFile(ledger: Ledger, path: string, place: Place, crowd = 1): void {
  const name = baseName(path);
  note(ledger, 'file', name, place);
  ledger.crowds.set(name, Math.min(crowd, ledger.crowds.get(name) ?? Number.POSITIVE_INFINITY));
  if (path.includes('/')) addTo(ledger.spellings, name, path);
}

const PROSE: ReadonlySet<Voice> = new Set(['user', 'agent', 'summary', 'plan', 'task']);

/** Notes every name in a text. In prose a back-ticked name was put there on purpose. */
export function noteText(ledger: Ledger, text: string, place: Place): void {
  noteNames(ledger, findNames(text), place);
  if (place.voice === 'command') {
    for (const stem of findStems(text)) note(ledger, 'stem', stem, place);
  }
  if (PROSE.has(place.voice)) noteTicked(ledger, text, place);
}

export function noteNames(ledger: Ledger, names: Names, place: Place): void {
  const { paths, symbols, qualified, errors, references } = names;
  for (const path of paths) noteFile(ledger, path, place, paths.length);
  for (const name of symbols) note(ledger, 'symbol', name, place);
  for (const name of qualified) note(ledger, 'qualified', name, place);
  for (const name of errors) note(ledger, 'error', name, place);
  for (const name of references) note(ledger, 'reference', name, place);
}

function noteTicked(ledger: Ledger, text: string, place: Place): void {
  for (const ticked of findTicked(text)) {
    if (ticked.includes(' ')) {
      if (/^[a-z./]/.test(ticked)) for (const stem of findStems(ticked)) note(ledger, 'stem', stem, place);
    } else if (isTerm(ticked)) {
      ledger.ticked.add(ticked);
      if (!isSymbol(ticked)) note(ledger, 'qualified', ticked, place);
      for (const symbol of findSymbols(ticked)) ledger.ticked.add(symbol);
    }
  }
}

const NAMED_IN_EDIT_CROWD = 8;

/** Notes what an edit brought in, kept and took out, and that its symbols live in this file. */
export function noteEdit(
  ledger: Ledger,
  edit: { path: string; before: string; after: string },
  call: number,
): void {
  const before = keepTelling(edit.before);
  const symbols = findSymbols(before);
  const after = findNames(edit.after);
  noteFile(ledger, edit.path, { voice: 'added', call });
  noteDifference(ledger, 'symbol', { before: symbols, after: after.symbols, call });
  noteDifference(ledger, 'qualified', { before: findQualified(before), after: after.qualified, call });
  for (const name of findDefinitions(edit.after)) ledger.defined.add(name);
  for (const name of after.errors) note(ledger, 'error', name, { voice: 'added', call });
  for (const name of after.references) note(ledger, 'reference', name, { voice: 'added', call });
  for (const path of after.paths) noteFile(ledger, path, { voice: 'kept', call }, NAMED_IN_EDIT_CROWD);
  for (const name of new Set([...symbols, ...after.symbols])) addTo(ledger.homes, name, edit.path);
}

function noteDifference(
  ledger: Ledger,
  kind: NameClass,
  { before, after, call }: { before: readonly string[]; after: readonly string[]; call: number },
): void {
  const old = new Set(before);
  const fresh = new Set(after);
  for (const name of after) note(ledger, kind, name, { voice: old.has(name) ? 'kept' : 'added', call });
  for (const name of before) if (!fresh.has(name)) note(ledger, kind, name, { voice: 'removed', call });
}

function addTo(counts: Map<string, Map<string, number>>, key: string, item: string): void {
  const own = counts.get(key) ?? new Map<string, number>();
  own.set(item, (own.get(item) ?? 0) + 1);
  counts.set(key, own);
}

/** What several ledgers know together, as if all had been noted in one. Takes over the only one as it is. */
export function joinLedgers(ledgers: readonly Ledger[]): Ledger {
  const [first, ...others] = ledgers;
  if (first !== undefined && others.length === 0) return first;
  const joined = openLedger();
  for (const { names, ticked, defined, homes, spellings, crowds } of ledgers) {
    for (const kind of NAME_CLASSES) joinMentions(joined.names[kind], names[kind]);
    for (const name of ticked) joined.ticked.add(name);
    for (const name of defined) joined.defined.add(name);
    joinCounts(joined.homes, homes);
    joinCounts(joined.spellings, spellings);
    for (const [name, crowd] of crowds)
      joined.crowds.set(name, Math.min(crowd, joined.crowds.get(name) ?? Number.POSITIVE_INFINITY));
  }
  return joined;
}

const NAME_CLASSES = ['file', 'symbol', 'qualified', 'error', 'reference', 'stem'] as const;

function joinMentions(joined: Map<string, Mentions>, more: ReadonlyMap<string, Mentions>): void {
  for (const [name, { count, last, by }] of more) {
    const known = joined.get(name) ?? { count: 0, last, by: new Map() };
    known.count += count;
    known.last = Math.max(known.last, last);
    for (const [voice, own] of by) {
      const before = known.by.get(voice) ?? { count: 0, last: own.last };
      known.by.set(voice, { count: before.count + own.count, last: Math.max(before.last, own.last) });
    }
    joined.set(name, known);
  }
}

function joinCounts(
  joined: Map<string, Map<string, number>>,
  more: ReadonlyMap<string, ReadonlyMap<string, number>>,
): void {
  for (const [key, counts] of more) {
    const known = joined.get(key) ?? new Map<string, number>();
    for (const [item, count] of counts) known.set(item, (known.get(item) ?? 0) + count);
    joined.set(key, known);
  }
}
