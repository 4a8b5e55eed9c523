import { dirname } from 'node:path';
import { HandoverError, isErrno } from '../errors.ts';
import { findMark, type Marks } from '../handover/marks.ts';
import type { Fact } from '../model/fact.ts';
import { compareCodeUnits } from '../model/hash.ts';
import { isCacheTrouble } from '../platform/cache-database.ts';
import { pathExists, resolveRealPath } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { abbreviateHome, pathOfUserConfig } from '../platform/paths.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import {
  type Candidates,
  type FactFilter,
  type FactRecord,
  type Finder,
  type FoundFact,
  type HandoverRecord,
  namesFile,
  type SearchContext,
  type SearchDocument,
} from './finder.ts';
import {
  excerpt,
  type ParsedQuery,
  parseQuery,
  type SearchHit,
  type SearchQuery,
  type Standing,
} from './query.ts';
import { fuse, fuseTexts } from './rank.ts';
import type { Candidate, Coverage, Embedding } from './semantic/rank.ts';
import type { SessionsOutcome } from './sessions/search-sessions.ts';
import { foldText } from './tokens.ts';

/** The index where there is one to be had, else the files themselves: a cache that fails must not keep anyone from them. */
export async function openFinder(desk: SearchContext): Promise<Finder> {
  const { store } = desk;
  if (!pathExists(store.root)) return await openScan(desk);
  await (await import('../store/open-catalog.ts')).finishOpenArrivals(store);
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return await openScan(desk);
  try {
    return await (await import('./index-finder.ts')).openIndexFinder(desk, driver);
  } catch (error) {
    if (!(error instanceof HandoverError || isErrno(error) || isCacheTrouble(error))) throw error;
    return { ...(await openScan(desk)), indexFailure: error instanceof Error ? error : null };
  }
}

async function openScan(desk: SearchContext): Promise<Finder> {
  return (await import('./scan-finder.ts')).openScanFinder(desk);
}

/** How far meaning had a say, and what kept it from more. */
export interface SemanticOutcome extends Coverage {
  trouble: HandoverError | null;
}

const MOST_LOOKED_AT = 20_000;

/** The facts that mean what was asked, best first; null when the user has set no model for it. */
export async function findSimilarFacts(
  { store, embedProgress: progress }: SearchContext,
  finder: Finder,
  query: SearchQuery,
): Promise<{ ranked: SearchDocument[]; outcome: SemanticOutcome } | null> {
  if (!(await isConfigured(store.machine))) return null;
  const { rankBySimilarity } = await import('./semantic/rank.ts');
  const candidates = await collectFacts(finder, query, MOST_LOOKED_AT);
  const ranking = await rankBySimilarity(store, { text: query.text, candidates, progress });
  if (ranking === null) return null;
  const { ranked, ...outcome } = ranking;
  return {
    ranked: ranked.map(({ fact, handover }) => ({ what: 'fact', text: fact.text, handover, fact })),
    outcome,
  };
}

/** Reading settings takes longer than a search: where the user has none, they are not even loaded. */
async function isConfigured(machine: Machine): Promise<boolean> {
  if (!pathExists(pathOfUserConfig(machine))) return false;
  return (await import('./semantic/settings.ts')).readSemanticSettings(machine) !== null;
}

/** Embeds every fact that has no vector yet. */
export async function embedFacts(desk: SearchContext): Promise<Embedding> {
  const { embedAll } = await import('./semantic/rank.ts');
  const finder = await openFinder(desk);
  try {
    const facts = await collectFacts(finder, {}, Number.POSITIVE_INFINITY);
    return await embedAll(desk.store, facts, desk.embedProgress);
  } finally {
    finder.close();
  }
}

/** The newest telling of each fact, newest first. */
async function collectFacts(
  finder: Finder,
  { kinds, agent, project, sinceMs, file }: Partial<SearchQuery>,
  most: number,
): Promise<Candidate<FoundFact>[]> {
  const filter: FactFilter = {
    ...(kinds === undefined ? {} : { kinds }),
    ...(agent === undefined ? {} : { agent }),
    ...(project === undefined ? {} : { project }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
  const seen = new Set<string>();
  const facts: Candidate<FoundFact>[] = [];
  for await (const found of finder.facts(filter)) {
    const { fact, handover } = found;
    const name = `${handover.project.id}\n${fact.id}`;
    if (seen.has(name) || (file !== undefined && !namesFile(fact.text, file))) continue;
    seen.add(name);
    facts.push({ key: found, text: fact.text });
    if (facts.length >= most) break;
  }
  return facts;
}

/*
 * From a query to its hits:
 *
 * - `query`, `parsed-query` are what is asked, and the words of it (`tokens`, `stem`).
 * - `open-finder` opens a `Finder`: `index-finder` answers from search.sqlite, `scan-finder` from the files, both alike.
 * - `full-text` has the tables that texts are found by; `retrieve` asks them for texts that may be what is looked for, with
 *   `misspelt` for words that no text has. `filter` says what a query is limited to.
 * - `rank` orders such texts by several measures and fuses the orders (`fuse`); `meant` adds the one by meaning.
 * - `search-writer` keeps the index in line with handovers, journal and notes (`follow-*`), where `search-freshness` finds
 *   news; `search-schema` has its tables.
 * - `sessions` does all of this for what was said in sessions.
 */

export interface SearchAnswer extends Pick<Finder, 'by' | 'indexFailure'> {
  hits: SearchHit[];
  /** How many more were found than there was room for, as far as they were looked at. */
  omitted: number;
  /** Where the text of sessions was asked for. */
  sessions?: SessionsOutcome;
  /** Where the user has set a model for it. */
  meaning?: SemanticOutcome;
}

/** Finds facts, handovers, notes and, where asked for, what was said in sessions; best first. */
export async function search(desk: SearchContext, query: SearchQuery): Promise<SearchAnswer> {
  const parsed = parseQuery(query.text);
  const finder = await openFinder(desk);
  try {
    const gathered = await finder.gather(query, parsed);
    const here = query.project === undefined ? await finder.projectOf(listRoots(desk)) : null;
    const meant = await findSimilarFacts(desk, finder, query);
    const ranked = rank(parsed, gathered, { here, meant: meant?.ranked ?? [] });
    const heard = await searchSessionsToo(desk, query, { parsed, here });
    const hits: SearchHit[] = [];
    for (const found of mergeRankings(ranked, heard?.hits ?? []).slice(0, query.limit))
      hits.push('what' in found ? found : await describeHit(finder, { ...found, parsed }));
    const total = ranked.length + (heard?.hits.length ?? 0);
    return {
      hits,
      by: finder.by,
      indexFailure: finder.indexFailure,
      omitted: total - hits.length,
      ...(heard === null ? {} : { sessions: heard.outcome }),
      ...(meant === null ? {} : { meaning: meant.outcome }),
    };
  } finally {
    finder.close();
  }
}

interface Ranked {
  searched: SearchDocument;
  score: number;
}

/** The best of each by turns. */
function mergeRankings<A, B>(a: readonly A[], b: readonly B[]): (A | B)[] {
  return fuse<A | B>([{ keys: a }, { keys: b }]).map(({ key }) => key);
}

/** Facts have kinds; what was said in sessions has none. */
async function searchSessionsToo(
  { store, sessionProgress: progress, sessionsBudgetMs: budgetMs }: SearchContext,
  query: SearchQuery,
  { parsed, here }: { parsed: ParsedQuery; here: string | null },
): Promise<{ hits: SearchHit[]; outcome: SessionsOutcome } | null> {
  if (query.sessions !== true || query.kinds !== undefined) return null;
  const { searchSessions } = await import('./sessions/search-sessions.ts');
  const follow = { progress, ...(budgetMs === undefined ? {} : { budgetMs }) };
  const { hits, ...outcome } = await searchSessions(store, { query, parsed, here, follow });
  return { hits, outcome };
}

function rank(
  parsed: ParsedQuery,
  { texts: gathered, known }: Candidates,
  { here, meant }: { here: string | null; meant: readonly SearchDocument[] },
): Ranked[] {
  const distinct = new Map(
    keepNewest(sortNewestFirst([...gathered, ...meant])).map((searched) => [nameOf(searched), searched]),
  );
  const texts = [...distinct].map(([key, { text }]) => ({ key, text }));
  const fused = fuseTexts({ parsed, known }, texts, {
    more: [{ keys: meant.map(nameOf) }],
    ...(here === null ? {} : { isHere: (key) => isOf(distinct.get(key), here) }),
  });
  return fused.flatMap(({ key, score }) => {
    const searched = distinct.get(key);
    return searched === undefined ? [] : [{ searched, score }];
  });
}

function isOf(searched: SearchDocument | undefined, project: string): boolean {
  if (searched === undefined) return false;
  return searched.what === 'note' || searched.handover.project.id === project;
}

/** By their times, whatever order an index has them in; the texts of one handover as they stand in it. */
function sortNewestFirst(texts: readonly SearchDocument[]): SearchDocument[] {
  const name = (searched: SearchDocument): string =>
    searched.what === 'note' ? '' : `${searched.handover.at} ${searched.handover.id}`;
  return [...texts].sort((a, b) => compareCodeUnits(name(b), name(a)));
}

/** A fact that a line of handovers carries on is one: the newest tells it. So is a title that is kept again and again. */
function keepNewest(texts: readonly SearchDocument[]): SearchDocument[] {
  const seen = new Set<string>();
  return texts.filter((searched) => {
    const name = nameOf(searched);
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

function nameOf(searched: SearchDocument): string {
  if (searched.what === 'note') return `note\n${searched.path}\n${searched.line}`;
  const { project, session } = searched.handover;
  if (searched.what === 'fact') return `fact\n${project.id}\n${searched.fact.id}`;
  return `handover\n${project.id}\n${session ?? ''}\n${foldText(searched.text)}`;
}

/** The folder that is searched from and those above it, as handovers name them. */
function listRoots({ store: { machine } }: SearchContext): string[] {
  const roots: string[] = [];
  const start = resolveRealPath(machine.cwd) ?? machine.cwd;
  for (let path = start; ; path = dirname(path)) {
    roots.push(abbreviateHome(path, machine));
    if (dirname(path) === path) return roots;
  }
}

async function describeHit(
  finder: Finder,
  { searched, score, parsed }: Ranked & { parsed: ParsedQuery },
): Promise<SearchHit> {
  const text = excerpt(searched.text, parsed);
  if (searched.what === 'note') {
    const { path, line, at } = searched;
    return { what: 'note', id: path, text, from: { at, line }, open: `${path}:${line}`, score };
  }
  const { handover } = searched;
  const from = {
    handover: handover.id,
    agent: handover.agent,
    ...(handover.session === null ? {} : { session: handover.session }),
    project: handover.project,
    at: handover.at,
    ...(handover.isForeign ? { imported: true as const } : {}),
  };
  if (searched.what === 'handover')
    return { what: 'handover', id: handover.id, text, from, open: `handover show ${handover.id}`, score };
  const { fact } = searched;
  const { standing, because } = judgeStanding(fact, handover, await finder.marks(handover.project.id));
  return {
    what: 'fact',
    id: fact.id,
    text,
    kind: fact.kind,
    trust: fact.trust,
    ...(fact.status === null ? {} : { status: fact.status }),
    standing,
    ...(because === null ? {} : { because }),
    from: {
      ...from,
      ...(fact.line === null ? {} : { line: fact.line }),
      handovers: await finder.countHolders({ fact, handover }),
    },
    open: `handover show ${handover.id} --events ${fact.id}`,
    score,
  };
}

/** How a fact stands by what was said of it since. */
export function judgeStanding(
  fact: FactRecord,
  handover: HandoverRecord,
  marks: Marks,
): { standing: Standing; because: string | null } {
  const mark = findMark(restoreFact(fact), tellingOf(handover), marks);
  if (mark === undefined || mark.mark === 'unpinned')
    return { standing: fact.pinned && mark === undefined ? 'pinned' : 'open', because: null };
  return { standing: mark.mark, because: mark.because };
}

function tellingOf({ at, startedAt, agent, session }: HandoverRecord): Parameters<typeof findMark>[1] {
  return {
    created_at: at,
    session: { agent, id: session, terminal: null, model: null, transcript: null, started_at: startedAt },
  };
}

function restoreFact({ id, kind, text, trust, origin, line, from, ref }: FactRecord): Fact {
  const source = {
    ...(from === null ? {} : { session: from }),
    ...(line === null ? {} : { line }),
    ...(ref === null ? {} : { ref }),
  };
  return { id, kind, text, trust, origin, sources: Object.keys(source).length === 0 ? [] : [source] };
}
