import { pickSession } from '../../agents/find-session.ts';
import { isFailure, notFoundError } from '../../errors.ts';
import { quoteInput } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import {
  checkCacheSeal,
  isCacheDamage,
  isCacheTrouble,
  openCache,
  openCacheFile,
} from '../../platform/cache-database.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { loadSqlDriver, type SqlDatabase, type SqlDriver } from '../../platform/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { isOfProject, namesFile } from '../finder.ts';
import { excerpt, type ParsedQuery, parseQuery, SCAN_LIMITS, type SearchHit, type SearchQuery } from '../query.ts';
import { type Exactness, fuse, fuseTexts, listTerms, type TermStats, weighWord } from '../rank.ts';
import { anyOf, type Expression, limitTerms, lookUpTerms, retrieveNumbers, term, wordTerm } from '../retrieve.ts';
import { countTerms, mayMatch } from '../term-stats.ts';
import { foldText } from '../tokens.ts';
import { listTexts, nameText, type SessionHead } from './archive.ts';
import { type IndexStore, openIndexStore, rebuildSessionIndex } from './index-store.ts';
import type { Passage } from './passage.ts';
import {
  countBySession,
  findLastTime,
  findSpread,
  keyOfPassage,
  listSessions,
  readPassages,
  SESSION_INDEX,
  type SessionRow,
  tagOfSession,
} from './session-index.ts';
import { listScannedTexts, openScanStore, type SyncOptions, type SyncResult, syncSessions } from './sync.ts';

/** How the sessions were searched, and how many are not. */
export type SessionsOutcome = SyncResult & { by: 'index' | 'scan' };

export interface SessionHits {
  hits: { hit: SearchHit; exact: Exactness }[];
  known: readonly TermStats[];
  outcome: SessionsOutcome;
}

export interface SessionsQuery {
  query: SearchQuery;
  parsed: ParsedQuery;
  here: string | null;
  sync: SyncOptions;
}

/**
 * Finds passages of the sessions on this machine, including those that their agents have deleted; best first. Of each
 * session only the best one, with the number of others; all of them where one session is asked about.
 */
export async function searchSessions(store: Store, asked: SessionsQuery): Promise<SessionHits> {
  const { passages, known, outcome, telling } = await gather(store, asked);
  const { parsed, here, query } = asked;
  const fused = fuseTexts(
    { parsed, known },
    passages.map((found) => ({ key: found, text: found.passage.text })),
    here === null ? {} : { isHere: ({ head }) => head.project?.id === here },
  );
  const groups = new Map<string, { found: FoundPassage; score: number; exact: Exactness; more: number }>();
  for (const [place, { key: found, score, exact }] of fused.entries()) {
    const name = query.session === undefined ? found.name : String(place);
    const best = groups.get(name);
    if (best === undefined) groups.set(name, { found, score, exact, more: 0 });
    else best.more++;
  }
  const terms = listTerms(parsed, known);
  const hits = orderGroups(groups, telling).map(({ exact, ...best }) => ({
    hit: describeHit(store, best, terms),
    exact,
  }));
  return { hits, known, outcome };
}

const TELLING_WEIGHT = 3;

/** Where no passage has all the words, sessions that have more of them in several passages come first. */
function orderGroups<T extends { exact: Exactness }>(
  groups: ReadonlyMap<string, T>,
  telling: ReadonlyMap<string, number>,
): T[] {
  const keys = [...groups.keys()];
  const worth = (name: string): number => telling.get(name) ?? 0;
  const byWorth = keys.filter((name) => telling.has(name)).sort((a, b) => worth(b) - worth(a));
  return fuse([{ keys }, { keys: byWorth, weight: TELLING_WEIGHT }])
    .flatMap(({ key }) => groups.get(key) ?? [])
    .sort((a, b) => b.exact - a.exact);
}

function describeHit(
  { machine }: Store,
  { found: { passage, head, gone }, score, more }: { found: FoundPassage; score: number; more: number },
  terms: readonly string[],
): SearchHit {
  const { id, agent, project, path, changedMs } = head;
  const { line, offset, at, speaker, text } = passage;
  return {
    what: 'session',
    id,
    text: excerpt(text, terms),
    from: {
      agent,
      session: id,
      ...(project === null ? {} : { project }),
      at: formatTimestamp(at ?? changedMs),
      line,
      speaker,
      transcript: abbreviateHome(path, machine),
      ...(offset === null ? {} : { offset }),
      ...(gone ? { gone: true as const } : {}),
    },
    open: `handover sessions ${id} --line ${line}`,
    ...(more === 0 ? {} : { more }),
    score,
  };
}

/** Archives every session that is new or has grown, and counts all. */
export async function readAllSessions(store: Store, progress: SyncOptions['progress']) {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  const opened = driver === null ? null : await openSessionIndex(store, driver, { progress });
  opened?.cache.close();
  const { by, ...result } = opened?.outcome ?? (await syncForScan(store, { progress }));
  return { ...result, by, sessions: listTexts(store).length };
}

export type FoundPassage = Pick<SessionRow, 'name' | 'head' | 'gone'> & { passage: Passage };

type PassageCandidates = {
  passages: FoundPassage[];
  known: TermStats[];
  /** By the name of a session, how much of the query it has anywhere in it; none where one session is asked about. */
  telling: ReadonlyMap<string, number>;
};

/** By the index if there is one, else by reading the newest archives. */
async function gather(store: Store, asked: SessionsQuery): Promise<PassageCandidates & Pick<SessionHits, 'outcome'>> {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver !== null)
    try {
      const { cache, sessions, outcome } = await openSessionIndex(store, driver, asked.sync);
      try {
        const found = await cache.ask((database) => {
          const all = sessions();
          return askIndex(database, asked, { all, wanted: pickWanted(store, asked.query, all) });
        });
        return { outcome, ...found };
      } finally {
        cache.close();
      }
    } catch (error) {
      if (!isFailure(error) && !isCacheTrouble(error)) throw error;
    }
  return { outcome: await syncForScan(store, asked.sync), ...scan(store, asked) };
}

/** Opens the index and brings it up to date with the agents' sessions. */
async function openSessionIndex(store: Store, driver: SqlDriver, options: SyncOptions) {
  const { deadline } = options;
  let result: SyncResult = { behind: 0, unread: 0, damaged: 0 };
  let texts: IndexStore | null = null;
  const cache = await openCache(store, driver, {
    cache: SESSION_INDEX,
    update: async (database) => {
      if (checkCacheSeal(store, SESSION_INDEX) === 'broken')
        (await import('../../platform/cache-writer.ts')).assertSealed(store, SESSION_INDEX);
      texts = openIndexStore(store, database, { deadline });
      result = await syncSessions(store, texts, options);
    },
    rebuild: () => rebuildSessionIndex(store, driver, deadline === undefined),
  });
  const outcome: SessionsOutcome = { by: 'index', ...result };
  return { cache, outcome, sessions: () => texts?.sessions() ?? [] };
}

/** The index without an update: a question does not wait for new sessions to be read. */
export interface StandingIndex {
  all: readonly SessionRow[];
  /** When something was last said in a session: the time of its file may be that of a copy. */
  endOf(session: SessionRow): number;
  /** Passages of these sessions, best first. */
  find(text: string, wanted: readonly SessionRow[]): FoundPassage[];
}

/** Null when there is none that can be used. */
export async function withStandingIndex<T>(store: Store, ask: (index: StandingIndex) => Promise<T>): Promise<T | null> {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  try {
    const database = driver === null ? null : openCacheFile(store, driver, SESSION_INDEX);
    if (database === null) return null;
    try {
      const all = listSessions(database);
      return await ask({
        all,
        endOf: (session) => findLastTime(database, session) ?? session.head.changedMs,
        find: (text, wanted) => findStanding(database, text, { all, wanted }),
      });
    } finally {
      database.close();
    }
  } catch (error) {
    if (!isCacheDamage(error) && !isCacheTrouble(error) && !isFailure(error)) throw error;
    return null;
  }
}

function findStanding(
  database: SqlDatabase,
  text: string,
  sessions: { all: readonly SessionRow[]; wanted: readonly SessionRow[] },
): FoundPassage[] {
  const parsed = parseQuery(text);
  const { passages, known } = askIndex(database, { query: { text, limit: 0 }, parsed }, sessions);
  const texts = passages.map((found) => ({ key: found, text: found.passage.text }));
  return fuseTexts({ parsed, known }, texts).map(({ key }) => key);
}

async function syncForScan(store: Store, options: SyncOptions): Promise<SessionsOutcome> {
  return { by: 'scan', ...(await syncSessions(store, openScanStore(store), { ...options, most: SCAN_LIMITS })) };
}

/** So many passages with a word are looked at to choose those that are ranked; of more, those of the newest sessions. */
const MAX_LOOKED_AT = 5000;
const MAX_RANKED = 200;

/** Of all sessions those that are wanted are looked through. */
function askIndex(
  database: SqlDatabase,
  { query, parsed }: Pick<SessionsQuery, 'query' | 'parsed'>,
  { all, wanted }: { all: readonly SessionRow[]; wanted: readonly SessionRow[] },
): PassageCandidates {
  const total = all.reduce((sum, { passages }) => sum + passages, 1);
  const count = rememberCounts(database);
  const known = lookUpTerms(database, parsed, { total, count: (expression) => estimateTotal(count(expression), all) });
  const sessions = new Map(wanted.map((session) => [session.key, session]));
  if (sessions.size === 0) return { passages: [], known, telling: new Map() };
  const { agent, file, project, session } = query;
  const ids = new Set([...sessions.values()].flatMap(({ head }) => head.project?.id ?? []));
  const projects = project === undefined || ids.size === 0 ? undefined : [...ids];
  const own = session === undefined ? [] : [anyOf([...sessions.keys()].map((key) => term(tagOfSession(key))))];
  const numbers = retrieveNumbers(database, {
    parsed,
    known,
    total,
    limits: [...limitTerms({ agent, file, projects }), ...own],
    find: (expression, limit) =>
      findSpread(database, expression, {
        from: MAX_LOOKED_AT,
        sessions: sessions.size === all.length ? null : [...sessions.keys()],
        limit,
      }),
    limit: query.limit,
    ranked: MAX_RANKED,
  });
  const passages = readPassages(database, numbers)
    .flatMap(({ n, passage }) => {
      const found = sessions.get(keyOfPassage(n));
      return found === undefined ? [] : [{ passage, name: found.name, head: found.head, gone: found.gone }];
    })
    .filter(({ passage }) => passesText(query, passage))
    .sort(compareFound);
  return { passages, known, telling: session === undefined ? weighSessions(count, known, sessions) : new Map() };
}

type CountSessions = (expression: Expression) => ReadonlyMap<number, number>;

/** The passages with a word are counted to weigh it, and again to weigh their sessions. */
function rememberCounts(database: SqlDatabase): CountSessions {
  const known = new Map<Expression, ReadonlyMap<number, number>>();
  return (expression) => {
    const counts = known.get(expression) ?? countBySession(database, expression, MAX_LOOKED_AT);
    known.set(expression, counts);
    return counts;
  };
}

/** Where too many have been counted, the share of all passages that were looked at gives an estimate. */
function estimateTotal(counts: ReadonlyMap<number, number>, all: readonly SessionRow[]): number {
  const count = [...counts.values()].reduce((sum, each) => sum + each, 0);
  if (count < MAX_LOOKED_AT) return count;
  const last = Math.max(...counts.keys());
  const seen = all.reduce((sum, { key, passages }) => sum + (key <= last ? passages : 0), 0);
  const total = all.reduce((sum, { passages }) => sum + passages, 0);
  return Math.round((count * total) / Math.max(1, seen));
}

const SATURATION = 0.9;
const LENGTH_SHARE = 0.3;

/** As in BM25, with a session as the text, and a passage with the word as an occurrence. */
function weighSessions(
  count: CountSessions,
  known: readonly TermStats[],
  sessions: ReadonlyMap<number, SessionRow>,
): Map<string, number> {
  const scores = new Map<string, number>();
  if (known.length < 2) return scores;
  const usual = [...sessions.values()].reduce((sum, { passages }) => sum + passages, 0) / sessions.size;
  for (const { word, corrections } of known) {
    const expression = anyOf([wordTerm(word.text), ...corrections.map(term)]);
    const counts = [...count(expression)].filter(([key]) => sessions.has(key));
    const weight = weighWord(counts.length, sessions.size);
    for (const [key, count] of counts) {
      const { name = '', passages = 0 } = sessions.get(key) ?? {};
      const length = passages / usual;
      const worth = (weight * count) / (count + SATURATION + LENGTH_SHARE * length);
      scores.set(name, (scores.get(name) ?? 0) + worth);
    }
  }
  return scores;
}

function scan(store: Store, { query, parsed }: SessionsQuery): PassageCandidates {
  const texts = pickWanted(store, query, listScannedTexts(store));
  const all = texts.flatMap(({ passages, ...rest }) => {
    const name = nameText(rest.head);
    return passages.map((passage) => ({ passage, name, ...rest }));
  });
  const spoken = all.map(({ passage }) => passage);
  const known = countTerms(spoken, parsed);
  const passages = all
    .filter(({ passage }) => passesText(query, passage) && mayMatch(known, foldText(passage.text)))
    .sort(compareFound);
  return { passages, known, telling: new Map() };
}

/** The latest first; passages of the same time in the order of their session. */
function compareFound(a: FoundPassage, b: FoundPassage): number {
  const later = (b.passage.at ?? b.head.changedMs) - (a.passage.at ?? a.head.changedMs);
  if (later !== 0) return later;
  return a.head.id === b.head.id ? a.passage.line - b.passage.line : a.head.id < b.head.id ? -1 : 1;
}

export function pickWanted<T extends { head: SessionHead }>(
  store: Store,
  query: SearchQuery,
  sessions: readonly T[],
): T[] {
  const { agent, project, session, sinceMs = 0 } = query;
  const heads = sessions.map(({ head }) => head);
  const asked = session === undefined ? undefined : pickSession(heads, session);
  if (session !== undefined && asked === null)
    throw notFoundError(`there is no session ${quoteInput(session)}`, 'List sessions: handover sessions');
  return sessions.filter(({ head }) => {
    if (agent !== undefined && head.agent !== agent.toLowerCase()) return false;
    if ((asked !== undefined && head.id !== asked?.id) || head.changedMs < sinceMs) return false;
    const root = head.cwd === null ? null : abbreviateHome(head.cwd, store.machine);
    return project === undefined || isOfProject({ project: head.project, root }, project);
  });
}

function passesText({ sinceMs, file }: SearchQuery, { at, text }: Passage): boolean {
  if (sinceMs !== undefined && at !== null && at < sinceMs) return false;
  return file === undefined || namesFile(text, file);
}
