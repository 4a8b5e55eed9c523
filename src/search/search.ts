import { dirname } from 'node:path';
import { type HandoverError, isFailure } from '../errors.ts';
import { findMark, keepTime, type Mark, type Marks } from '../handover/marks.ts';
import { compareCodeUnits } from '../model/hash.ts';
import { isCacheTrouble } from '../platform/cache-database.ts';
import { pathExists, resolveRealPath } from '../platform/folders.ts';
import { listAliases, makeProjectNames } from '../platform/known-projects.ts';
import { abbreviateHome, pathOfUserConfig } from '../platform/paths.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import { withAliases } from '../store/catalog.ts';
import {
  authorOf,
  type Candidates,
  type FactDocument,
  type FactFilter,
  type Finder,
  isPassedOn,
  type SearchContext,
  type SearchDocument,
  timeOf,
} from './finder.ts';
import { excerpt, type FactState, type ParsedQuery, parseQuery, type SearchHit, type SearchQuery } from './query.ts';
import { type Exactness, fuse, fuseTexts, listTerms, NEAR, type TermStats } from './rank.ts';
import type { Candidate, Coverage, Embedding } from './semantic/rank.ts';
import type { SessionHits, SessionsOutcome } from './sessions/search-sessions.ts';
import { foldText, splitWords, stemWord } from './tokens.ts';

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
  /** Whether a hit has all words as they were typed; if not, what the hits have instead of words that no text has. */
  asTyped: boolean;
  instead: { typed: string; found: string[] }[];
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
  const finder = await openPlainFinder(context);
  return {
    ...finder,
    gather: (query, parsed) => finder.gather(withAliases(store, query), parsed),
    facts: (filter) => finder.facts(withAliases(store, filter)),
    countHolders: async ({ handover, ...found }) => {
      let count = 0;
      for (const id of listAliases(store.machine, handover.project.id))
        count += await finder.countHolders({
          ...found,
          handover: { ...handover, project: { ...handover.project, id } },
        });
      return count;
    },
    files: (filter) => finder.files(withAliases(store, filter)),
    marks: async (project) => {
      const marks = new Map<string, Mark>();
      for (const id of listAliases(store.machine, project))
        for (const [fact, mark] of await finder.marks(id))
          if (mark.at >= (marks.get(fact)?.at ?? '')) marks.set(fact, mark);
      return marks;
    },
  };
}

async function openPlainFinder(context: SearchContext): Promise<Finder> {
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
export async function search(context: SearchContext, asked: SearchQuery): Promise<SearchAnswer> {
  const query = withAliases(context.store, asked);
  const parsed = parseQuery(query.text);
  const finder = await openFinder(context);
  try {
    const isOfFacts = query.session === undefined;
    const candidates = isOfFacts ? await finder.gather(query, parsed) : { texts: [], known: [] };
    const here = query.project === undefined ? await finder.projectOf(listRoots(context)) : null;
    const similar = isOfFacts ? await findSimilarFacts(context, finder, query) : null;
    const ranked = rank(parsed, candidates, {
      here,
      similar: similar?.ranked ?? [],
      nameProject: makeProjectNames(context.store.machine),
    });
    const sessions = await searchSessions(context, query, { parsed, here });
    // Facts and sessions by turns, the most exact first.
    const both = fuse<RankedDocument | SessionHits['hits'][number]>([{ keys: ranked }, { keys: sessions?.hits ?? [] }])
      .map(({ key }) => key)
      .sort((a, b) => b.exact - a.exact);
    const terms = listTerms(parsed, candidates.known);
    const hits: SearchHit[] = [];
    for (const each of both.slice(0, query.limit))
      hits.push({
        ...('hit' in each ? each.hit : await describeHit(finder, each, terms)),
        ...(each.exact === NEAR ? { near: true as const } : {}),
      });
    const asTyped = hits.length === 0 || (both[0]?.exact ?? 0) > 0;
    return {
      hits,
      by: finder.by,
      indexFailure: finder.indexFailure,
      omitted: both.length - hits.length,
      asTyped,
      instead: asTyped ? [] : listInstead([candidates.known, sessions?.known ?? []], hits),
      ...(sessions === null ? {} : { sessions: sessions.outcome }),
      ...(similar === null ? {} : { meaning: similar.outcome }),
    };
  } finally {
    finder.close();
  }
}

const MAX_INSTEAD = 3;

/** The words of the hits that words stand for that no text has: those they may be a typo of, or are a part of. */
function listInstead(known: readonly (readonly TermStats[])[], hits: readonly SearchHit[]): SearchAnswer['instead'] {
  const words = new Set(hits.flatMap(({ text }) => splitWords(foldText(text))));
  const [first = [], second = []] = known[0]?.length === 0 ? known.slice(1) : known;
  return first.flatMap(({ word, texts, corrections }, place) => {
    if (texts + (second[place]?.texts ?? 0) > 0) return [];
    const stems = new Set([...corrections, ...(second[place]?.corrections ?? [])]);
    const found = [...words].filter((each) => stems.has(stemWord(each)) || each.includes(word.text));
    return [{ typed: word.text, found: found.slice(0, MAX_INSTEAD) }];
  });
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
    const key = `${document.handover.project.id}\n${document.fact.id}`;
    if (!facts.has(key)) facts.set(key, { key: document, text: document.text });
    if (facts.size >= most) break;
  }
  return [...facts.values()];
}

type RankedDocument = { document: SearchDocument; score: number; exact: Exactness };

function rank(
  parsed: ParsedQuery,
  { texts, known }: Candidates,
  {
    here,
    similar,
    nameProject,
  }: { here: string | null; similar: readonly SearchDocument[]; nameProject: ProjectNames },
): RankedDocument[] {
  const nameOf = (document: SearchDocument): string => keyOf(document, nameProject);
  // Of documents with the same key the newest is shown, and of a fact that handovers pass on the newest that states it.
  const distinct = new Map<string, SearchDocument>();
  for (const document of sortNewestFirst([...texts, ...similar]))
    if (!distinct.has(nameOf(document))) distinct.set(nameOf(document), document);
  const keyed = [...distinct].map(([key, { text }]) => ({ key, text }));
  const fused = fuseTexts({ parsed, known }, keyed, {
    more: [{ keys: similar.map(nameOf) }],
    ...(here === null ? {} : { isHere: (key) => isOf(distinct.get(key), here, nameProject) }),
  });
  return fused.flatMap(({ key, score, exact }) => {
    const document = distinct.get(key);
    return document === undefined ? [] : [{ document, score, exact }];
  });
}

function isOf(document: SearchDocument | undefined, project: string, nameProject: ProjectNames): boolean {
  if (document === undefined) return false;
  return document.what === 'note' || nameProject(document.handover.project.id) === nameProject(project);
}

/** By time, whatever order an index has them in. The sort is stable: the documents of a handover stay in order. */
function sortNewestFirst(documents: readonly SearchDocument[]): SearchDocument[] {
  const name = (document: SearchDocument): string => {
    if (document.what === 'note') return '';
    const isOwn = document.what === 'handover' || !isPassedOn(document.fact);
    return `${Number(isOwn)} ${document.handover.at} ${document.handover.id}`;
  };
  return [...documents].sort((a, b) => compareCodeUnits(name(b), name(a)));
}

type ProjectNames = ReturnType<typeof makeProjectNames>;

function keyOf(document: SearchDocument, nameProject: ProjectNames): string {
  if (document.what === 'note') return `note\n${document.path}\n${document.line}`;
  const { project, session } = document.handover;
  const name = nameProject(project.id);
  if (document.what === 'fact') return `fact\n${name}\n${document.fact.id}`;
  return `handover\n${name}\n${session ?? ''}\n${foldText(document.text)}`;
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

async function describeHit(finder: Finder, ranked: RankedDocument, terms: readonly string[]): Promise<SearchHit> {
  const { document, score } = ranked;
  const text = excerpt(document.text, terms);
  if (document.what === 'note') {
    const { path, line, at } = document;
    return { what: 'note', id: path, text, from: { at, line }, open: `${path}:${line}`, score };
  }
  const { handover } = document;
  const from = {
    handover: handover.id,
    agent: authorOf(document),
    ...(handover.session === null ? {} : { session: handover.session }),
    project: handover.project,
    at: timeOf(document),
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
  const { id, kind, text, trust, origin, from, ref, statedAt } = fact;
  const source = { ...(from === null ? {} : { session: from }), ...(ref === null ? {} : { ref }) };
  const { agent, at: created_at, startedAt: started_at } = handover;
  const session = { agent, id: handover.session, terminal: null, model: null, transcript: null, started_at };
  const mark = findMark(
    keepTime(
      { id, kind, text, trust, origin: trust === 'imported' ? 'import' : origin, sources: [source] },
      statedAt ?? undefined,
    ),
    { created_at, session, ...(handover.isNoted ? { noted_at: created_at } : {}) },
    marks,
  );
  if (mark === undefined) return { standing: fact.pinned ? 'pinned' : 'open', because: null };
  if (mark.mark === 'unpinned') return { standing: 'open', because: null };
  return { standing: mark.mark, because: mark.because };
}
