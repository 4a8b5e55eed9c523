import { HandoverError, isErrno } from '../../errors.ts';
import { formatTimestamp } from '../../model/time.ts';
import { isCacheTrouble, numberIn, type OpenCache, openCache } from '../../platform/cache-database.ts';
import { abbreviateHome } from '../../platform/place.ts';
import { loadSqlDriver, type SqlDatabase, type SqlDriver } from '../../platform/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { namesFile, tagOfAgent, tagOfProject } from '../finder.ts';
import { anyOf, EVERYWHERE, type Expression, nameTerm, term } from '../full-text.ts';
import { excerpt, type ParsedQuery, SCAN_LIMITS, type SearchHit, type SearchQuery } from '../query.ts';
import { fuseTexts, type TermStats } from '../rank.ts';
import { type Extent, lookUpTerms, retrieveNumbers } from '../retrieve.ts';
import { countTerms, mayMatch } from '../term-stats.ts';
import { foldText } from '../tokens.ts';
import { listTexts, nameText, type SessionHead } from './archive.ts';
import { checkSessionIndex, openIndexStore, rebuildSessionIndex } from './index-store.ts';
import type { Passage } from './passage.ts';
import {
  lastNumberSince,
  listSessions,
  PASSAGE_COLUMNS,
  readPassageRow,
  SESSION_INDEX,
} from './session-index.ts';
import { listScannedTexts, openScanStore, type SyncOptions, type SyncResult, syncSessions } from './sync.ts';

/** A passage and the session that it is from. */
export interface FoundPassage {
  passage: Passage;
  head: SessionHead;
  gone: boolean;
}

export interface PassageCandidates extends SyncResult {
  by: 'index' | 'scan';
  passages: FoundPassage[];
  known: TermStats[];
}

export interface SessionsQuery {
  query: SearchQuery;
  parsed: ParsedQuery;
  follow: Following;
}

/** How sessions are read that are not known yet: all of them, unless only so much time is to be spent. */
export interface Following {
  progress?: SyncOptions['progress'];
  budgetMs?: number;
}

function toOptions({ machine }: Store, { progress, budgetMs }: Following): SyncOptions {
  return { progress, deadline: budgetMs === undefined ? undefined : machine.clock.now() + budgetMs };
}

/** Passages that may be what is looked for, by the index where there is one to be had, else by a look at the newest. */
export async function gatherPassages(store: Store, asked: SessionsQuery): Promise<PassageCandidates> {
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
  progress: SyncOptions['progress'],
): Promise<SyncResult & Pick<PassageCandidates, 'by'> & { sessions: number }> {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) {
    const followed = await syncSessions(store, openScanStore(store), { progress, most: SCAN_LIMITS });
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
): Promise<PassageCandidates> {
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
  options: SyncOptions,
): Promise<{ cache: OpenCache; followed: SyncResult }> {
  const { deadline } = options;
  let followed: SyncResult = { behind: 0, unread: 0, damaged: 0 };
  const cache = await openCache(store, driver, {
    cache: SESSION_INDEX,
    update: async (database) => {
      checkSessionIndex(store);
      followed = await syncSessions(store, openIndexStore(store, database, { deadline }), options);
    },
    rebuild: () => rebuildSessionIndex(store, driver, { isWhole: deadline === undefined }),
  });
  return { cache, followed };
}

function ask(
  store: Store,
  database: SqlDatabase,
  { query, parsed }: Pick<SessionsQuery, 'query' | 'parsed'>,
): Pick<PassageCandidates, 'passages' | 'known'> {
  const extent = measureExtent(database);
  const known = lookUpTerms(database, parsed, extent);
  const sessions = new Map(
    listSessions(database)
      .filter(({ head }) => isOfSession(store, query, head))
      .map((session) => [session.key, session]),
  );
  if (sessions.size === 0) return { passages: [], known };
  const limits = describeLimits(query, [...sessions.values()]);
  const to = query.sinceMs === undefined ? Number.MAX_SAFE_INTEGER : lastNumberSince(query.sinceMs);
  const numbers = retrieveNumbers(
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

async function gatherByScan(store: Store, asked: SessionsQuery): Promise<PassageCandidates> {
  const { query, parsed, follow } = asked;
  const options = { ...toOptions(store, follow), most: SCAN_LIMITS };
  const followed = await syncSessions(store, openScanStore(store), options);
  const texts = listScannedTexts(store).filter(({ head }) => isOfSession(store, query, head));
  const known = countTerms(
    texts.flatMap(({ passages }) => passages),
    parsed,
  );
  const passages = texts
    .flatMap(({ head, gone, passages: all }) => all.map((passage) => ({ passage, head, gone })))
    .filter(({ passage }) => passesText(query, passage) && mayMatch(known, foldText(passage.text)))
    .sort(compareFound);
  return { by: 'scan', ...followed, passages, known };
}

/** How the text of sessions was searched, and how far it is known. */
export type SessionsOutcome = Omit<PassageCandidates, 'passages' | 'known'>;

export interface SessionHits extends SessionsOutcome {
  hits: SearchHit[];
}

/** What of one session is shown at most: the rest is found by opening it. */
const MOST_OF_A_SESSION = 3;

/** Finds what was said in the sessions that agents keep on this machine, or kept until they deleted them; best first. */
export async function searchSessions(
  store: Store,
  asked: SessionsQuery & { here: string | null },
): Promise<SessionHits> {
  const { passages, known, ...outcome } = await gatherPassages(store, asked);
  const { parsed, here } = asked;
  const texts = passages.map((found) => ({ key: found, text: found.passage.text }));
  const fused = fuseTexts(
    { parsed, known },
    texts,
    here === null ? {} : { isHere: ({ head }) => head.project?.id === here },
  );
  const shown = new Map<string, number>();
  const hits = fused.flatMap(({ key, score }) => {
    const name = nameText(key.head);
    const count = shown.get(name) ?? 0;
    shown.set(name, count + 1);
    return count < MOST_OF_A_SESSION ? [describeHit(store, key, { score, parsed })] : [];
  });
  return { hits, ...outcome };
}

function describeHit(
  { machine }: Store,
  { passage, head, gone }: FoundPassage,
  { score, parsed }: { score: number; parsed: ParsedQuery },
): SearchHit {
  const { id, agent, project, path, changedMs } = head;
  const { line, offset, at, speaker, text } = passage;
  return {
    what: 'session',
    id,
    text: excerpt(text, parsed),
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
    score,
  };
}
