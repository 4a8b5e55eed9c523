import { dirname } from 'node:path';
import { findMark, type Marks } from '../handover/marks.ts';
import type { Fact } from '../model/fact.ts';
import { compareCodeUnits } from '../model/hash.ts';
import { resolveRealPath } from '../platform/folders.ts';
import { abbreviateHome } from '../platform/paths.ts';
import { excerpt } from './excerpt.ts';
import type { Finder, Gathered, SearchDesk } from './finder.ts';
import { fuse } from './fuse.ts';
import type { SearchHit, Standing } from './hit.ts';
import { findMeant, type MeaningOutcome } from './meant.ts';
import { openFinder } from './open-finder.ts';
import { type ParsedQuery, parseQuery } from './parsed-query.ts';
import type { SearchQuery } from './query.ts';
import { fuseTexts } from './rank.ts';
import type { Searched, SearchedFact, SearchedHandover } from './searched.ts';
import type { SessionsOutcome } from './sessions/search-sessions.ts';
import { foldText } from './tokens.ts';

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
  meaning?: MeaningOutcome;
}

/** Finds facts, handovers, notes and, where asked for, what was said in sessions; best first. */
export async function search(desk: SearchDesk, query: SearchQuery): Promise<SearchAnswer> {
  const parsed = parseQuery(query.text);
  const finder = await openFinder(desk);
  try {
    const gathered = await finder.gather(query, parsed);
    const here = query.project === undefined ? await finder.projectOf(listRoots(desk)) : null;
    const meant = await findMeant(desk, finder, query);
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
  searched: Searched;
  score: number;
}

/** The best of each by turns. */
function mergeRankings<A, B>(a: readonly A[], b: readonly B[]): (A | B)[] {
  return fuse<A | B>([{ keys: a }, { keys: b }]).map(({ key }) => key);
}

/** Facts have kinds; what was said in sessions has none. */
async function searchSessionsToo(
  { store, sessionProgress: progress, sessionsBudgetMs: budgetMs }: SearchDesk,
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
  { texts: gathered, known }: Gathered,
  { here, meant }: { here: string | null; meant: readonly Searched[] },
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

function isOf(searched: Searched | undefined, project: string): boolean {
  if (searched === undefined) return false;
  return searched.what === 'note' || searched.handover.project.id === project;
}

/** By their times, whatever order an index has them in; the texts of one handover as they stand in it. */
function sortNewestFirst(texts: readonly Searched[]): Searched[] {
  const name = (searched: Searched): string =>
    searched.what === 'note' ? '' : `${searched.handover.at} ${searched.handover.id}`;
  return [...texts].sort((a, b) => compareCodeUnits(name(b), name(a)));
}

/** A fact that a line of handovers carries on is one: the newest tells it. So is a title that is kept again and again. */
function keepNewest(texts: readonly Searched[]): Searched[] {
  const seen = new Set<string>();
  return texts.filter((searched) => {
    const name = nameOf(searched);
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

function nameOf(searched: Searched): string {
  if (searched.what === 'note') return `note\n${searched.path}\n${searched.line}`;
  const { project, session } = searched.handover;
  if (searched.what === 'fact') return `fact\n${project.id}\n${searched.fact.id}`;
  return `handover\n${project.id}\n${session ?? ''}\n${foldText(searched.text)}`;
}

/** The folder that is searched from and those above it, as handovers name them. */
function listRoots({ store: { machine } }: SearchDesk): string[] {
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
  fact: SearchedFact,
  handover: SearchedHandover,
  marks: Marks,
): { standing: Standing; because: string | null } {
  const mark = findMark(restoreFact(fact), tellingOf(handover), marks);
  if (mark === undefined || mark.mark === 'unpinned')
    return { standing: fact.pinned && mark === undefined ? 'pinned' : 'open', because: null };
  return { standing: mark.mark, because: mark.because };
}

function tellingOf({ at, startedAt, agent, session }: SearchedHandover): Parameters<typeof findMark>[1] {
  return {
    created_at: at,
    session: { agent, id: session, terminal: null, model: null, transcript: null, started_at: startedAt },
  };
}

function restoreFact({ id, kind, text, trust, origin, line, from, ref }: SearchedFact): Fact {
  const source = {
    ...(from === null ? {} : { session: from }),
    ...(line === null ? {} : { line }),
    ...(ref === null ? {} : { ref }),
  };
  return { id, kind, text, trust, origin, sources: Object.keys(source).length === 0 ? [] : [source] };
}
