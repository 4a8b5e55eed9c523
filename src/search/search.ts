import { dirname } from 'node:path';
import { type HandoverError, isFailure } from '../errors.ts';
import { findMark, type Marks } from '../handover/marks.ts';
import { compareCodeUnits } from '../model/hash.ts';
import { isCacheTrouble } from '../platform/cache-database.ts';
import { pathExists, resolveRealPath } from '../platform/folders.ts';
import { abbreviateHome, pathOfUserConfig } from '../platform/paths.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import type { Candidates, FactDocument, FactFilter, Finder, SearchContext, SearchDocument } from './finder.ts';
import { excerpt, type FactState, type ParsedQuery, parseQuery, type SearchHit, type SearchQuery } from './query.ts';
import { fuse, fuseTexts } from './rank.ts';
import type { Candidate, Coverage, Embedding } from './semantic/rank.ts';
import type { SessionHits, SessionsOutcome } from './sessions/search-sessions.ts';
import { foldText } from './tokens.ts';

/*
 * From a query to its hits:
 *
 * - `query` parses what was typed into words (`tokens`).
 * - `openFinder` gives a `Finder`: `index-finder` reads search.sqlite, `scan-finder` the files, with the same results.
 * - `full-text` has the tables that every index searches by; `retrieve` asks them for texts that may match. `term-stats`
 *   weighs words, `typos` corrects those that no text has.
 * - `rank` orders texts by several measures and fuses the orders; `semantic` adds one by a model of the user.
 * - `update-index` brings search.sqlite (`search-index`) up to date with handovers, journal and notes.
 * - `sessions` does the same for the text of sessions.
 */

export interface SearchAnswer extends Pick<Finder, 'by' | 'indexFailure'> {
  hits: SearchHit[];
  omitted: number;
  /** Set when the text of sessions was searched. */
  sessions?: SessionsOutcome;
  /** Set when the user has configured a model. */
  meaning?: SemanticOutcome;
}

/** How many facts have vectors, and why not more. */
export type SemanticOutcome = Coverage & { trouble: HandoverError | null };

/** The index if there is one, else the files themselves: a cache that fails must not keep anyone from searching. */
export async function openFinder(context: SearchContext): Promise<Finder> {
  const { store } = context;
  if (!pathExists(store.root)) return await openScan(context);
  await (await import('../store/open-catalog.ts')).finishPendingImports(store);
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return await openScan(context);
  try {
    return await (await import('./index-finder.ts')).openIndexFinder(context, driver);
  } catch (error) {
    if (!isFailure(error) && !isCacheTrouble(error)) throw error;
    return { ...(await openScan(context)), indexFailure: error instanceof Error ? error : null };
  }
}

async function openScan(context: SearchContext): Promise<Finder> {
  return (await import('./scan-finder.ts')).openScanFinder(context);
}

/** Finds facts, handovers, notes and, if asked for, passages of sessions; best first. */
export async function search(context: SearchContext, query: SearchQuery): Promise<SearchAnswer> {
  const parsed = parseQuery(query.text);
  const finder = await openFinder(context);
  try {
    const candidates = await finder.gather(query, parsed);
    const here = query.project === undefined ? await finder.projectOf(listRoots(context)) : null;
    const similar = await findSimilarFacts(context, finder, query);
    const ranked = rank(parsed, candidates, { here, similar: similar?.ranked ?? [] });
    const sessions = await searchSessions(context, query, { parsed, here });
    // Facts and passages by turns.
    const both = fuse<RankedDocument | SearchHit>([{ keys: ranked }, { keys: sessions?.hits ?? [] }]);
    const hits: SearchHit[] = [];
    for (const { key } of both.slice(0, query.limit))
      hits.push('what' in key ? key : await describeHit(finder, key, parsed));
    return {
      hits,
      by: finder.by,
      indexFailure: finder.indexFailure,
      omitted: both.length - hits.length,
      ...(sessions === null ? {} : { sessions: sessions.outcome }),
      ...(similar === null ? {} : { meaning: similar.outcome }),
    };
  } finally {
    finder.close();
  }
}

/** Passages of sessions have no kind. */
async function searchSessions(
  { store, sessionProgress: progress, sessionsBudgetMs: budgetMs }: SearchContext,
  query: SearchQuery,
  { parsed, here }: { parsed: ParsedQuery; here: string | null },
): Promise<SessionHits | null> {
  if (query.sessions !== true || query.kinds !== undefined) return null;
  const deadline = budgetMs === undefined ? undefined : store.machine.clock.now() + budgetMs;
  const sessions = await import('./sessions/search-sessions.ts');
  return await sessions.searchSessions(store, { query, parsed, here, sync: { progress, deadline } });
}

const MAX_COMPARED = 20_000;

/** The facts most similar in meaning to the query, best first; null when the user has configured no model. */
async function findSimilarFacts(context: SearchContext, finder: Finder, query: SearchQuery) {
  const { store, embedProgress: progress } = context;
  // Reading settings takes longer than a search: without a user's configuration they are not even loaded.
  if (!pathExists(pathOfUserConfig(store.machine))) return null;
  const { readSemanticSettings } = await import('./semantic/settings.ts');
  if (readSemanticSettings(store.machine) === null) return null;
  const { rankBySimilarity } = await import('./semantic/rank.ts');
  const candidates = await collectFacts(finder, query, MAX_COMPARED);
  const ranking = await rankBySimilarity(store, { text: query.text, candidates, progress });
  if (ranking === null) return null;
  const { ranked, ...outcome } = ranking;
  return { ranked, outcome };
}

export async function embedFacts(context: SearchContext): Promise<Embedding> {
  const { embedAll } = await import('./semantic/rank.ts');
  const finder = await openFinder(context);
  try {
    const facts = await collectFacts(finder, {}, Number.POSITIVE_INFINITY);
    return await embedAll(context.store, facts, context.embedProgress);
  } finally {
    finder.close();
  }
}

/** Each fact once, as its newest handover has it, newest first. */
async function collectFacts(finder: Finder, filter: FactFilter, most: number): Promise<Candidate<FactDocument>[]> {
  const facts = new Map<string, Candidate<FactDocument>>();
  for await (const document of finder.facts(filter)) {
    const key = keyOf(document);
    if (!facts.has(key)) facts.set(key, { key: document, text: document.text });
    if (facts.size >= most) break;
  }
  return [...facts.values()];
}

type RankedDocument = { document: SearchDocument; score: number };

function rank(
  parsed: ParsedQuery,
  { texts, known }: Candidates,
  { here, similar }: { here: string | null; similar: readonly SearchDocument[] },
): RankedDocument[] {
  // Of documents with the same key the newest is shown: a fact that handovers pass on, or a title that is used again.
  const distinct = new Map<string, SearchDocument>();
  for (const document of sortNewestFirst([...texts, ...similar]))
    if (!distinct.has(keyOf(document))) distinct.set(keyOf(document), document);
  const keyed = [...distinct].map(([key, { text }]) => ({ key, text }));
  const fused = fuseTexts({ parsed, known }, keyed, {
    more: [{ keys: similar.map(keyOf) }],
    ...(here === null ? {} : { isHere: (key) => isOf(distinct.get(key), here) }),
  });
  return fused.flatMap(({ key, score }) => {
    const document = distinct.get(key);
    return document === undefined ? [] : [{ document, score }];
  });
}

function isOf(document: SearchDocument | undefined, project: string): boolean {
  if (document === undefined) return false;
  return document.what === 'note' || document.handover.project.id === project;
}

/** By time, whatever order an index has them in. The sort is stable: the documents of a handover stay in order. */
function sortNewestFirst(documents: readonly SearchDocument[]): SearchDocument[] {
  const name = (document: SearchDocument): string =>
    document.what === 'note' ? '' : `${document.handover.at} ${document.handover.id}`;
  return [...documents].sort((a, b) => compareCodeUnits(name(b), name(a)));
}

function keyOf(document: SearchDocument): string {
  if (document.what === 'note') return `note\n${document.path}\n${document.line}`;
  const { project, session } = document.handover;
  if (document.what === 'fact') return `fact\n${project.id}\n${document.fact.id}`;
  return `handover\n${project.id}\n${session ?? ''}\n${foldText(document.text)}`;
}

/** The current folder and those above it, spelled as in handovers. */
function listRoots({ store: { machine } }: SearchContext): string[] {
  const roots: string[] = [];
  const start = resolveRealPath(machine.cwd) ?? machine.cwd;
  for (let path = start; ; path = dirname(path)) {
    roots.push(abbreviateHome(path, machine));
    if (dirname(path) === path) return roots;
  }
}

type Judgement = { standing: FactState; because: string | null };

async function describeHit(finder: Finder, ranked: RankedDocument, parsed: ParsedQuery): Promise<SearchHit> {
  const { document, score } = ranked;
  const text = excerpt(document.text, parsed);
  if (document.what === 'note') {
    const { path, line, at } = document;
    return { what: 'note', id: path, text, from: { at, line }, open: `${path}:${line}`, score };
  }
  const { handover } = document;
  const from = {
    handover: handover.id,
    agent: handover.agent,
    ...(handover.session === null ? {} : { session: handover.session }),
    project: handover.project,
    at: handover.at,
    ...(handover.isForeign ? { imported: true as const } : {}),
  };
  if (document.what === 'handover')
    return { what: 'handover', id: handover.id, text, from, open: `handover show ${handover.id}`, score };
  const { fact } = document;
  const { standing, because } = judgeStanding(document, await finder.marks(handover.project.id));
  const handovers = await finder.countHolders(document);
  return {
    what: 'fact',
    id: fact.id,
    text,
    kind: fact.kind,
    ...(fact.isGuess ? { said: true as const } : {}),
    trust: fact.trust,
    ...(fact.status === null ? {} : { status: fact.status }),
    standing,
    ...(because === null ? {} : { because }),
    from: { ...from, ...(fact.line === null ? {} : { line: fact.line }), handovers },
    open: `handover show ${handover.id} --events ${fact.id}`,
    score,
  };
}

function judgeStanding({ fact, handover }: FactDocument, marks: Marks): Judgement {
  const { id, kind, text, trust, origin, from, ref } = fact;
  const source = { ...(from === null ? {} : { session: from }), ...(ref === null ? {} : { ref }) };
  const { agent, at: created_at, startedAt: started_at } = handover;
  const session = { agent, id: handover.session, terminal: null, model: null, transcript: null, started_at };
  const mark = findMark({ id, kind, text, trust, origin, sources: [source] }, { created_at, session }, marks);
  if (mark === undefined) return { standing: fact.pinned ? 'pinned' : 'open', because: null };
  if (mark.mark === 'unpinned') return { standing: 'open', because: null };
  return { standing: mark.mark, because: mark.because };
}
