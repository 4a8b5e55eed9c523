import * as v from 'valibot';
import { HandoverError } from '../../../errors.ts';
import { lastChangeOf } from '../../../model/time.ts';
import type { Machine } from '../../../platform/machine.ts';
import { isLocal } from '../../../platform/postgres-socket.ts';
import type { LogHead, OutgoingBody, Remote, RemoteCheck, StoredPage } from '../remote.ts';
import { type Database, openDatabase, type SqlValue } from './connection.ts';
import { migrate } from './migrate.ts';
import { openPostgresRegister } from './register.ts';
import { MAX_BODY_BYTES, MAX_PAGE_BYTES } from './schema.ts';
import { describeTexts, openTeamCatalog, type TeamCatalog } from './search.ts';
import { type PostgresSettings, readPostgresSettings } from './settings.ts';

export interface PostgresRemote extends Remote {
  /** Lists and searches what the team has; without texts where it is encrypted. */
  readonly catalog: TeamCatalog;
}

/** Tables of PostgreSQL that a team shares. Connects at the first query. */
export async function openPostgresRemote(url: URL, machine: Machine): Promise<PostgresRemote> {
  const settings = readPostgresSettings(url, machine);
  const plain = openDatabase(settings, async (ms) => await new Promise((done) => setTimeout(done, ms)));
  let ready: Promise<void> | null = null;
  const prepare = async (): Promise<void> => {
    ready ??= migrate(plain, settings.schema).catch((error: unknown) => {
      ready = null;
      throw error;
    });
    await ready;
  };
  const database: Database = {
    ...plain,
    ask: async (question) => {
      await prepare();
      return await plain.ask(question);
    },
  };
  const { team, schema, address } = settings;
  /** Row security shows nothing to a role that is not of the team, which must not look like a team that has nothing. */
  const asMember = async <T>(found: Promise<T[]>): Promise<T[]> => {
    const list = await found;
    if (list.length === 0) await listPermitted(database, settings);
    return list;
  };
  const catalog = openTeamCatalog(database, settings);
  return {
    address,
    catalog: {
      list: async (filter) => await asMember(catalog.list(filter)),
      find: async (idPrefix) => await asMember(catalog.find(idPrefix)),
      search: async (query) => await asMember(catalog.search(query)),
    },
    listPermitted: async () => await listPermitted(database, settings),
    listLogs: async () => await asMember(listLogs(database, settings)),
    readPages: async ({ writer, project }, { after, limit }) => {
      const pages: StoredPage[] = [];
      for (let last = after; pages.length < limit; ) {
        const some = await readSomePages(database, schema, [team, project, writer, last, limit - pages.length]);
        pages.push(...some);
        if (some.length === 0) break;
        last = some.at(-1)?.number ?? last;
      }
      return pages;
    },
    appendPage: async ({ writer, project }, { number, bytes }) => {
      const written = await database.ask({
        sql: `INSERT INTO "${schema}".pages (team, project, writer, number, bytes) VALUES ($1, $2, $3, $4, $5)
              ON CONFLICT DO NOTHING RETURNING '1'`,
        values: [team, project, writer, number, bytes],
        row: v.tuple([v.literal('1')]),
        isRepeatable: true,
      });
      return written.length === 1;
    },
    writeBodies: async (bodies) => {
      for (const batch of splitBatches(bodies, ({ bytes }) => bytes.length))
        await writeBatch(database, settings, batch);
    },
    readBodies: (project, names) => readBodies(database, settings, { project, names }),
    deleteBodies: async (project, names) => {
      await database.ask({
        sql: `SELECT "${schema}".delete_bodies($1, $2, $3)`,
        values: [team, project, names],
        row: v.tuple([Count]),
        isRepeatable: true,
      });
    },
    openRegister: () => {
      const register = openPostgresRegister(database, settings);
      return { ...register, listOpen: async (filter, limit) => await asMember(register.listOpen(filter, limit)) };
    },
    check: async () => await checkRemote(database, settings, machine),
    close: async () => await plain.close(),
  };
}

const Count = v.pipe(
  v.string(),
  v.regex(/^\d{1,16}$/),
  v.transform(Number),
  v.check((number) => Number.isSafeInteger(number)),
);
const Base64 = v.pipe(
  v.string(),
  v.transform((text) => Buffer.from(text, 'base64')),
);
const ShortText = v.pipe(v.string(), v.maxLength(200));

const LOGS_AT_ONCE = 10_000;
const SafeInteger = v.pipe(v.number(), v.safeInteger());
const HEAD_LINE = /^(\S{1,64}) ([0-9a-f]{32}) (\d{1,16}) ([0-9a-f]{64})$/;
const HeadLines = v.pipe(
  v.string(),
  v.transform((text) => text.split('\n').map(readHead)),
  v.check((heads) => heads.length <= LOGS_AT_ONCE),
  v.array(v.object({ project: v.string(), writer: v.string(), newest: SafeInteger, digest: v.string() })),
);

/** Null for any other line. */
function readHead(line: string): LogHead | null {
  const [, project, writer, newest, digest] = HEAD_LINE.exec(line) ?? [];
  if (project === undefined || writer === undefined || digest === undefined) return null;
  return { project, writer, newest: Number(newest), digest };
}
const MOST_LOGS = 1_000_000;

async function listLogs(database: Database, { team, schema }: PostgresSettings): Promise<LogHead[]> {
  const heads: LogHead[] = [];
  for (let last: LogHead | undefined; ; last = heads.at(-1)) {
    // As one text: ten times faster than as many rows.
    const [row] = await database.ask({
      sql: `SELECT string_agg(concat_ws(' ', project, writer, newest, digest), E'\\n' ORDER BY project, writer) FROM (
              SELECT project, writer, newest, digest FROM "${schema}".logs WHERE team = $1 AND (project, writer) > ($2, $3)
              ORDER BY team, project, writer LIMIT ${LOGS_AT_ONCE}) first`,
      values: [team, last?.project ?? '', last?.writer ?? ''],
      row: v.tuple([v.nullable(HeadLines)]),
      maxRows: 1,
      isRepeatable: true,
    });
    const some = row?.[0] ?? [];
    for (const head of some) heads.push(head);
    if (some.length < LOGS_AT_ONCE) return heads;
    if (heads.length >= MOST_LOGS)
      throw new HandoverError('HANDOVER_REMOTE_REFUSED', `the team has more than ${MOST_LOGS} logs`, {
        hint: 'Split it into several teams: each has an address with another ?team=NAME.',
      });
  }
}

/** The target size of one answer; a single page or body may be larger. */
const ANSWER_BYTES = 8 * 1024 * 1024;
const ROWS_AT_ONCE = 200;

/** The limit of an answer that has so many bytes in base64. */
function limitFor(bytes: number): number {
  return Math.ceil(bytes * 1.36) + 256 * 1024;
}

/** The first pages that fit into one answer; at least one if there is any. */
async function readSomePages(database: Database, schema: string, values: readonly SqlValue[]): Promise<StoredPage[]> {
  const rows = await database.ask({
    sql: `SELECT number, encode(bytes, 'base64') FROM (
            SELECT number, bytes, sum(octet_length(bytes)) OVER (ORDER BY number) - octet_length(bytes) AS before FROM (
              SELECT number, bytes FROM "${schema}".pages WHERE team = $1 AND project = $2 AND writer = $3 AND number > $4
              ORDER BY number LIMIT least($5::bigint, ${ROWS_AT_ONCE})) first) summed
          WHERE before < ${ANSWER_BYTES - MAX_PAGE_BYTES} ORDER BY number`,
    values,
    row: v.tuple([Count, Base64]),
    maxRows: ROWS_AT_ONCE,
    maxBytes: limitFor(ANSWER_BYTES),
    isRepeatable: true,
  });
  return rows.map(([number, bytes]) => ({ number, bytes }));
}

function* splitBatches<T>(items: readonly T[], sizeOf: (item: T) => number): Iterable<T[]> {
  let batch: T[] = [];
  let size = 0;
  for (const item of items) {
    if (batch.length > 0 && (batch.length >= ROWS_AT_ONCE || size + sizeOf(item) > ANSWER_BYTES)) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(item);
    size += sizeOf(item);
  }
  if (batch.length > 0) yield batch;
}

const BODY_COLUMNS = ['project', 'name', 'handover', 'worked_at', 'bytes', 'title', 'agent', 'lines', 'words'];
/** In a list of several rows, PostgreSQL does not infer types from the columns. */
const CASTS: Readonly<Record<string, string>> = { worked_at: '::timestamptz', bytes: '::bytea', words: '::tsvector' };

async function writeBatch(
  database: Database,
  { team, schema }: PostgresSettings,
  bodies: readonly OutgoingBody[],
): Promise<void> {
  const values: SqlValue[] = [team];
  const rows = bodies.map(({ project, name, bytes, handover }) => {
    const id = name.slice(0, -33);
    const texts = handover === null ? null : describeTexts(handover);
    const worked = handover === null ? timeOfId(id) : lastChangeOf(handover);
    const { title = null, agent = null, lines = null, words = null } = texts ?? {};
    const row = [project, name, id, worked, bytes, title, agent, lines, words];
    return `($1, ${row.map((value, at) => `$${values.push(value)}${CASTS[BODY_COLUMNS[at] ?? ''] ?? ''}`).join(', ')})`;
  });
  await database.ask({
    sql: `INSERT INTO "${schema}".bodies (team, ${BODY_COLUMNS.join(', ')}) VALUES ${rows.join(', ')} ON CONFLICT DO NOTHING`,
    values,
    row: v.tuple([]),
    isRepeatable: true,
  });
}

/** The only time that is known of an encrypted handover. */
function timeOfId(id: string): string {
  return id.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d).*$/, '$1-$2-$3T$4:$5:$6Z');
}

async function* readBodies(
  database: Database,
  { team, schema }: PostgresSettings,
  { project, names }: { project: string; names: readonly string[] },
): AsyncIterable<{ name: string; bytes: Buffer }> {
  for (let at = 0; at < names.length; at += ROWS_AT_ONCE) {
    const some = names.slice(at, at + ROWS_AT_ONCE);
    const where = `FROM "${schema}".bodies WHERE team = $1 AND project = $2 AND name = ANY ($3) AND size IS NOT NULL`;
    const sizes = await database.ask({
      sql: `SELECT name, size ${where}`,
      values: [team, project, some],
      row: v.tuple([ShortText, Count]),
      maxRows: some.length,
      isRepeatable: true,
    });
    for (const batch of splitBatches(sizes, ([, size]) => size)) {
      const total = batch.reduce((sum, [, size]) => sum + size, 0);
      const rows = await database.ask({
        sql: `SELECT name, encode(bytes, 'base64') ${where}`,
        values: [team, project, batch.map(([name]) => name)],
        row: v.tuple([ShortText, Base64]),
        maxRows: batch.length,
        maxBytes: limitFor(Math.min(total, ANSWER_BYTES + MAX_BODY_BYTES)),
        isRepeatable: true,
      });
      for (const [name, bytes] of rows) yield { name, bytes };
    }
  }
}

/** Of the team `$1`, or of one of its projects. */
function expressMembership(schema: string): string {
  return `"${schema}".may_use($1, '*') OR EXISTS (SELECT FROM "${schema}".own_projects() p WHERE split_part(p, '/', 1) = $1)`;
}

const MOST_PERMITTED = 10_000;

async function listPermitted(database: Database, settings: PostgresSettings): Promise<string[] | null> {
  const { schema, team } = settings;
  const rows = await database.ask({
    sql: `SELECT '*' WHERE "${schema}".may_use($1, '*') UNION SELECT split_part(p, '/', 2) FROM "${schema}".own_projects() p
          WHERE split_part(p, '/', 1) = $1 ORDER BY 1`,
    values: [team],
    row: v.tuple([ShortText]),
    maxRows: MOST_PERMITTED,
    isRepeatable: true,
  });
  if (rows.length === 0) throw notMemberError(settings);
  const projects = rows.map(([project]) => project);
  return projects.includes('*') ? null : projects;
}

function hintAtMembership({ schema, team, user }: PostgresSettings): string {
  return `Check team= in the address. The owner of the schema lets a role in with: SELECT ${schema}.admit('${user}', '${team}');`;
}

function notMemberError(settings: PostgresSettings): HandoverError {
  const message = `this role is not a member of the team ${settings.team}`;
  return new HandoverError('HANDOVER_REMOTE_REFUSED', message, { hint: hintAtMembership(settings) });
}

const MAX_CLOCK_DIFFERENCE_MS = 60_000;

async function checkRemote(database: Database, settings: PostgresSettings, machine: Machine): Promise<RemoteCheck[]> {
  const { schema, team } = settings;
  const checks: RemoteCheck[] = [];
  const note = (name: string, isGood: boolean, found: string): void => void checks.push({ name, isGood, found });
  try {
    // Connects first, so that the time it takes does not count as a difference of clocks.
    await database.ask({ sql: 'SELECT 1', row: v.tuple([Count]), isRepeatable: true });
    const asked = machine.clock.now();
    const [row] = await database.ask({
      sql: `SELECT current_setting('server_version'), round(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
              coalesce((SELECT version::text FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl), ''),
              ${expressMembership(schema)},
              has_table_privilege('"${schema}".pages', 'UPDATE, DELETE, TRUNCATE') OR has_table_privilege('"${schema}".bodies', 'UPDATE, DELETE, TRUNCATE')`,
      values: [team],
      row: v.tuple([ShortText, Count, ShortText, Flag, Flag]),
      isRepeatable: true,
    });
    if (row === undefined) throw new HandoverError('HANDOVER_REMOTE_REFUSED', 'the server does not say what it is');
    const [version, now, tls, isMember, mayChange] = row;
    const difference = now - (asked + machine.clock.now()) / 2;
    const isNear = Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MS;
    const apart = `${Math.round(Math.abs(difference))} ms apart`;
    note('server', true, `PostgreSQL ${version.replace(/[^\w. ()+~-]/g, '')}`);
    const why = isLocal(settings) ? 'it does not leave this machine' : `sslmode=${settings.sslMode} allows that`;
    note('encryption', true, tls === '' ? `not encrypted: ${why}` : tls.replace(/[^\w.]/g, ''));
    note('clock', isNear, isNear ? apart : `${apart}: set the clock of this machine`);
    const outsider = `not a member of ${team}. ${hintAtMembership(settings)}`;
    note('team', isMember, isMember ? `a member of ${team}` : outsider);
    const owner = 'this role could change what others wrote; a role that was admitted only inserts and reads';
    note('rights', true, mayChange ? owner : 'insert and read only');
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    note('server', false, [error.message, error.hint ?? ''].join('. '));
  }
  return checks;
}

const Flag = v.pipe(
  v.picklist(['t', 'f']),
  v.transform((sign) => sign === 't'),
);
