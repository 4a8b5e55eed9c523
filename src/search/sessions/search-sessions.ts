import { isFailure } from '../../errors.ts';
import { formatTimestamp } from '../../model/time.ts';
import { isCacheTrouble, numberIn, openCache } from '../../platform/cache-database.ts';
import { assertSealed } from '../../platform/cache-writer.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { loadSqlDriver, type SqlDatabase, type SqlDriver } from '../../platform/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { isOfProject, namesFile } from '../finder.ts';
import { excerpt, type ParsedQuery, SCAN_LIMITS, type SearchHit, type SearchQuery } from '../query.ts';
import { fuseTexts, type TermStats } from '../rank.ts';
import { FULL_RANGE, type IndexExtent, limitTerms, lookUpTerms, retrieveNumbers } from '../retrieve.ts';
import { countTerms, mayMatch } from '../term-stats.ts';
import { foldText } from '../tokens.ts';
import { listTexts, nameText, type SessionHead } from './archive.ts';
import { openIndexStore, rebuildSessionIndex } from './index-store.ts';
import type { Passage } from './passage.ts';
import {
  lastNumberSince,
  listSessions,
  PASSAGES,
  readPassageRow,
  SESSION_INDEX,
  type SessionRow,
} from './session-index.ts';
import { listScannedTexts, openScanStore, type SyncOptions, type SyncResult, syncSessions } from './sync.ts';

/** How the sessions were searched, and how many are not. */
export type SessionsOutcome = SyncResult & { by: 'index' | 'scan' };

export type SessionHits = { hits: SearchHit[]; outcome: SessionsOutcome };

export interface SessionsQuery {
  query: SearchQuery;
  parsed: ParsedQuery;
  here: string | null;
  sync: SyncOptions;
}

const MAX_PER_SESSION = 3;

/** Finds passages of the sessions on this machine, including those that their agents have deleted; best first. */
export async function searchSessions(store: Store, asked: SessionsQuery): Promise<SessionHits> {
  const { passages, known, outcome } = await gather(store, asked);
  const { parsed, here } = asked;
  const fused = fuseTexts(
    { parsed, known },
    passages.map((found) => ({ key: found, text: found.passage.text })),
    here === null ? {} : { isHere: ({ head }) => head.project?.id === here },
  );
  const shown = new Map<string, number>();
  const hits = fused.flatMap(({ key, score }) => {
    const name = nameText(key.head);
    const count = shown.get(name) ?? 0;
    shown.set(name, count + 1);
    return count < MAX_PER_SESSION ? [describeHit(store, key, { score, parsed })] : [];
  });
  return { hits, outcome };
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

/** Archives every session that is new or has grown, and counts all. */
export async function readAllSessions(store: Store, progress: SyncOptions['progress']) {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  const opened = driver === null ? null : await openSessionIndex(store, driver, { progress });
  opened?.cache.close();
  const { by, ...result } = opened?.outcome ?? (await syncForScan(store, { progress }));
  return { ...result, by, sessions: listTexts(store).length };
}

type FoundPassage = Pick<SessionRow, 'head' | 'gone'> & { passage: Passage };

type PassageCandidates = { passages: FoundPassage[]; known: TermStats[] };

/** By the index if there is one, else by reading the newest archives. */
async function gather(store: Store, asked: SessionsQuery): Promise<PassageCandidates & Pick<SessionHits, 'outcome'>> {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver !== null)
    try {
      const { cache, outcome } = await openSessionIndex(store, driver, asked.sync);
      try {
        return { outcome, ...(await cache.ask((database) => askIndex(store, database, asked))) };
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
  const cache = await openCache(store, driver, {
    cache: SESSION_INDEX,
    update: async (database) => {
      assertSealed(store, SESSION_INDEX);
      result = await syncSessions(store, openIndexStore(store, database, { deadline }), options);
    },
    rebuild: () => rebuildSessionIndex(store, driver, deadline === undefined),
  });
  const outcome: SessionsOutcome = { by: 'index', ...result };
  return { cache, outcome };
}

async function syncForScan(store: Store, options: SyncOptions): Promise<SessionsOutcome> {
  return { by: 'scan', ...(await syncSessions(store, openScanStore(store), { ...options, most: SCAN_LIMITS })) };
}

function askIndex(store: Store, database: SqlDatabase, { query, parsed }: SessionsQuery): PassageCandidates {
  const extent = measureExtent(database);
  const known = lookUpTerms(database, parsed, extent);
  const sessions = new Map(
    listSessions(database)
      .filter(({ head }) => isWanted(store, query, head))
      .map((session) => [session.key, session]),
  );
  if (sessions.size === 0) return { passages: [], known };
  const { agent, file, project, sinceMs, limit } = query;
  const ids = new Set([...sessions.values()].flatMap(({ head }) => head.project?.id ?? []));
  const projects = project === undefined || ids.size === 0 ? undefined : [...ids];
  const numbers = retrieveNumbers(database, {
    parsed,
    known,
    total: extent.total,
    limits: limitTerms({ agent, file, projects }),
    range: sinceMs === undefined ? FULL_RANGE : { ...FULL_RANGE, to: lastNumberSince(sinceMs) },
    limit,
  });
  const find = database.prepare(`SELECT ${PASSAGES.columns} FROM passages WHERE n = ?`);
  const passages = numbers
    .flatMap((n) => {
      const { session: key, passage } = readPassageRow(find.get(n));
      const session = sessions.get(key);
      return session === undefined ? [] : [{ passage, head: session.head, gone: session.gone }];
    })
    .filter(({ passage }) => passesText(query, passage))
    .sort(compareFound);
  return { passages, known };
}

function measureExtent(database: SqlDatabase): IndexExtent {
  const row = database
    .prepare(
      `SELECT (SELECT coalesce(sum(passages), 0) FROM sessions) AS total,
         (SELECT min(n) FROM passages) AS low, (SELECT max(n) FROM passages) AS high`,
    )
    .get();
  const total = Math.max(1, numberIn(row, 'total'));
  return { total, from: numberIn(row, 'low') || 0, to: numberIn(row, 'high') || 0 };
}

function scan(store: Store, { query, parsed }: SessionsQuery): PassageCandidates {
  const texts = listScannedTexts(store).filter(({ head }) => isWanted(store, query, head));
  const all = texts.flatMap(({ passages, ...rest }) => passages.map((passage) => ({ passage, ...rest })));
  const spoken = all.map(({ passage }) => passage);
  const known = countTerms(spoken, parsed);
  const passages = all
    .filter(({ passage }) => passesText(query, passage) && mayMatch(known, foldText(passage.text)))
    .sort(compareFound);
  return { passages, known };
}

/** The latest first; passages of the same time in the order of their session. */
function compareFound(a: FoundPassage, b: FoundPassage): number {
  const later = (b.passage.at ?? b.head.changedMs) - (a.passage.at ?? a.head.changedMs);
  if (later !== 0) return later;
  return a.head.id === b.head.id ? a.passage.line - b.passage.line : a.head.id < b.head.id ? -1 : 1;
}

function isWanted({ machine }: Store, { agent, project }: SearchQuery, head: SessionHead): boolean {
  if (agent !== undefined && head.agent !== agent.toLowerCase()) return false;
  const root = head.cwd === null ? null : abbreviateHome(head.cwd, machine);
  return project === undefined || isOfProject({ project: head.project, root }, project);
}

function passesText({ sinceMs, file }: SearchQuery, { at, text }: Passage): boolean {
  if (sinceMs !== undefined && at !== null && at < sinceMs) return false;
  return file === undefined || namesFile(text, file);
}
