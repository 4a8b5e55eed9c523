import { HandoverError, isErrno } from '../../errors.ts';
import { isCacheTrouble, numberIn, type OpenCache, openCache } from '../../platform/cache-database.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { loadSqlDriver, type SqlDatabase, type SqlDriver } from '../../platform/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { namesFile } from '../filter.ts';
import { anyOf, EVERYWHERE, type Expression, nameTerm, term } from '../full-text.ts';
import { knowWordsOf, mayMatch } from '../know-words.ts';
import type { ParsedQuery } from '../parsed-query.ts';
import type { SearchQuery } from '../query.ts';
import type { KnownWord } from '../rank.ts';
import { type Extent, gatherNumbers, knowWords } from '../retrieve.ts';
import { tagOfAgent, tagOfProject } from '../searched.ts';
import { foldText } from '../tokens.ts';
import { listTexts, type SessionHead } from './archive.ts';
import { type Followed, type FollowOptions, followSessions } from './follow-sessions.ts';
import { checkSessionIndex, openIndexKeeper, rebuildSessionIndex } from './index-keeper.ts';
import type { Passage } from './passage.ts';
import { openScanKeeper, scanTexts } from './scan-keeper.ts';
import { SCANNED } from './scanned.ts';
import { listSessions } from './text-index.ts';
import { lastNumberSince, PASSAGE_COLUMNS, readPassageRow, SESSION_INDEX } from './text-schema.ts';

/** A passage and the session that it is from. */
export interface FoundPassage {
  passage: Passage;
  head: SessionHead;
  gone: boolean;
}

export interface GatheredPassages extends Followed {
  by: 'index' | 'scan';
  passages: FoundPassage[];
  known: KnownWord[];
}

export interface SessionsQuery {
  query: SearchQuery;
  parsed: ParsedQuery;
  follow: Following;
}

/** How sessions are read that are not known yet: all of them, unless only so much time is to be spent. */
export interface Following {
  progress?: FollowOptions['progress'];
  budgetMs?: number;
}

function toOptions({ machine }: Store, { progress, budgetMs }: Following): FollowOptions {
  return { progress, deadline: budgetMs === undefined ? undefined : machine.clock.now() + budgetMs };
}

/** Passages that may be what is looked for, by the index where there is one to be had, else by a look at the newest. */
export async function gatherPassages(store: Store, asked: SessionsQuery): Promise<GatheredPassages> {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return await gatherByScan(store, asked);
  try {
    return await gatherByIndex(store, driver, asked);
  } catch (error) {
    if (!(error instanceof HandoverError || isErrno(error) || isCacheTrouble(error))) throw error;
    return await gatherByScan(store, asked);
  }
}

/** Reads every session that is not known yet, and tells how many are. */
export async function readAllSessions(
  store: Store,
  progress: FollowOptions['progress'],
): Promise<Followed & Pick<GatheredPassages, 'by'> & { sessions: number }> {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) {
    const followed = await followSessions(store, openScanKeeper(store), { progress, most: SCANNED });
    return { ...followed, by: 'scan', sessions: listTexts(store).length };
  }
  const { cache, followed } = await openSessionIndex(store, driver, { progress });
  cache.close();
  return { ...followed, by: 'index', sessions: listTexts(store).length };
}

async function gatherByIndex(
  store: Store,
  driver: SqlDriver,
  { query, parsed, follow }: SessionsQuery,
): Promise<GatheredPassages> {
  const { cache, followed } = await openSessionIndex(store, driver, toOptions(store, follow));
  try {
    const gathered = await cache.ask((database) => ask(store, database, { query, parsed }));
    return { by: 'index', ...followed, ...gathered };
  } finally {
    cache.close();
  }
}

/** Opens the index in line with what the agents have. */
async function openSessionIndex(
  store: Store,
  driver: SqlDriver,
  options: FollowOptions,
): Promise<{ cache: OpenCache; followed: Followed }> {
  const { deadline } = options;
  let followed: Followed = { behind: 0, unread: 0, damaged: 0 };
  const cache = await openCache(store, driver, {
    cache: SESSION_INDEX,
    update: async (database) => {
      checkSessionIndex(store);
      followed = await followSessions(store, openIndexKeeper(store, database, { deadline }), options);
    },
    rebuild: () => rebuildSessionIndex(store, driver, { isWhole: deadline === undefined }),
  });
  return { cache, followed };
}

function ask(
  store: Store,
  database: SqlDatabase,
  { query, parsed }: Pick<SessionsQuery, 'query' | 'parsed'>,
): Pick<GatheredPassages, 'passages' | 'known'> {
  const extent = measureExtent(database);
  const known = knowWords(database, parsed, extent);
  const sessions = new Map(
    listSessions(database)
      .filter(({ head }) => isOfSession(store, query, head))
      .map((session) => [session.key, session]),
  );
  if (sessions.size === 0) return { passages: [], known };
  const limits = describeLimits(query, [...sessions.values()]);
  const to = query.sinceMs === undefined ? Number.MAX_SAFE_INTEGER : lastNumberSince(query.sinceMs);
  const numbers = gatherNumbers(
    database,
    { parsed, known, extent, limits, limit: query.limit },
    { ...EVERYWHERE, to },
  );
  const find = database.prepare(`SELECT ${PASSAGE_COLUMNS} FROM passages WHERE n = ?`);
  const passages = numbers
    .flatMap((n) => {
      const { n: _, session: key, place: __, ...passage } = readPassageRow(find.get(n));
      const session = sessions.get(key);
      return session === undefined ? [] : [{ passage, head: session.head, gone: session.gone }];
    })
    .filter(({ passage }) => passesText(query, passage))
    .sort(compareFound);
  return { passages, known };
}

/** The latest first; what was said at one time in the order of its session. */
function compareFound(a: FoundPassage, b: FoundPassage): number {
  const later = (b.passage.at ?? b.head.changedMs) - (a.passage.at ?? a.head.changedMs);
  if (later !== 0) return later;
  return a.head.id === b.head.id ? a.passage.line - b.passage.line : a.head.id < b.head.id ? -1 : 1;
}

function measureExtent(database: SqlDatabase): Extent {
  const row = database
    .prepare(
      `SELECT (SELECT coalesce(sum(passages), 0) FROM sessions) AS total,
         (SELECT min(n) FROM passages) AS low, (SELECT max(n) FROM passages) AS high`,
    )
    .get();
  return {
    total: Math.max(1, numberIn(row, 'total')),
    from: numberIn(row, 'low') || 0,
    to: numberIn(row, 'high') || 0,
  };
}

function describeLimits(
  { agent, project, file }: SearchQuery,
  sessions: readonly { head: SessionHead }[],
): Expression[] {
  const limits: Expression[] = agent === undefined ? [] : [term(tagOfAgent(agent))];
  const name = file === undefined ? null : nameTerm(file);
  if (name !== null) limits.push(name);
  if (project === undefined) return limits;
  const ids = new Set(sessions.flatMap(({ head }) => (head.project === null ? [] : [head.project.id])));
  return ids.size === 0 ? limits : [...limits, anyOf([...ids].map((id) => term(tagOfProject(id))))];
}

function isOfSession({ machine }: Store, { agent, project }: SearchQuery, head: SessionHead): boolean {
  if (agent !== undefined && head.agent !== agent.toLowerCase()) return false;
  if (project === undefined) return true;
  const folder = head.cwd === null ? null : abbreviateHome(head.cwd, machine);
  return (
    (head.project !== null && head.project.id === project.id) ||
    (project.name !== undefined && head.project?.name.toLowerCase() === project.name.toLowerCase()) ||
    (project.root !== undefined && folder === project.root)
  );
}

function passesText({ sinceMs, file }: SearchQuery, { at, text }: Passage): boolean {
  if (sinceMs !== undefined && at !== null && at < sinceMs) return false;
  return file === undefined || namesFile(text, file);
}

async function gatherByScan(store: Store, asked: SessionsQuery): Promise<GatheredPassages> {
  const { query, parsed, follow } = asked;
  const options = { ...toOptions(store, follow), most: SCANNED };
  const followed = await followSessions(store, openScanKeeper(store), options);
  const texts = scanTexts(store).filter(({ head }) => isOfSession(store, query, head));
  const known = knowWordsOf(
    texts.flatMap(({ passages }) => passages),
    parsed,
  );
  const passages = texts
    .flatMap(({ head, gone, passages: all }) => all.map((passage) => ({ passage, head, gone })))
    .filter(({ passage }) => passesText(query, passage) && mayMatch(known, foldText(passage.text)))
    .sort(compareFound);
  return { by: 'scan', ...followed, passages, known };
}
