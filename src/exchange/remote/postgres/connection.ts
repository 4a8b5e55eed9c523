import type { Client } from 'pg';
import * as v from 'valibot';
import { HandoverError } from '../../../errors.ts';
import { type GuardedStream, guardSocket, openPostgresSocket } from '../../../platform/postgres-socket.ts';
import { withoutNul } from '../../../search/tokens.ts';
import { explainFailure, isConflict, isLost } from './errors.ts';
import { noPasswordError, type PostgresSettings } from './settings.ts';

/** What may be bound to `$1`, `$2` …. */
export type SqlValue = string | number | null | Buffer | readonly string[];

export interface Question<Schema extends RowSchema> {
  sql: string;
  values?: readonly SqlValue[];
  /** Every column is text or null. */
  row: Schema;
  /** The connection is closed when the answer is larger: the server is not trusted. */
  maxRows?: number;
  maxBytes?: number;
  /** Whether it may be asked again after the connection was lost. */
  isRepeatable?: boolean;
}

type RowSchema = v.GenericSchema<readonly (string | null)[], unknown>;

export interface Database {
  ask<Schema extends RowSchema>(question: Question<Schema>): Promise<v.InferOutput<Schema>[]>;
  /** Statements without values and without answers that count. */
  execute(sql: string): Promise<void>;
  /** All or nothing; again from the start after a conflict with another transaction. */
  transact<T>(work: (database: Omit<Database, 'transact' | 'close'>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** How long an answer may take, besides the time that its bytes need on a slow network. */
const ANSWER_MS = 60_000;
const BYTES_PER_MS = 64;
/** A connection on which nothing moves for so many times as long as connecting may take, while an answer is awaited, is lost. */
const STALLED = 3;
const END_MS = 1000;
const MAX_ROWS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
const TRIES = 8;

interface Link {
  client: Client;
  stalledMs: number;
  stream: GuardedStream;
  lost: Error | null;
}

/**
 * One connection, opened when it is first needed and again after it was lost. It uses no prepared statements and no session
 * settings, so a pooler may give every transaction another one.
 */
export function openDatabase(settings: PostgresSettings, sleep: (ms: number) => Promise<void>): Database {
  let link: Link | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => null);
    return await mine;
  };
  const reach = async (): Promise<Link> => {
    if (link?.lost === null) return link;
    link = null;
    link = await openLink(settings);
    return link;
  };
  const drop = async (): Promise<void> => {
    const old = link;
    link = null;
    if (old === null) return;
    // Does not wait for a server that never closes its end.
    const timer = setTimeout(() => old.stream.destroy(), END_MS);
    await old.client.end().catch(() => null);
    clearTimeout(timer);
  };
  const ask = async <Schema extends RowSchema>(question: Question<Schema>): Promise<v.InferOutput<Schema>[]> => {
    const isOld = link?.lost === null;
    try {
      return await askLink(await reach(), question);
    } catch (error) {
      if (!isLost(error)) throw error;
      await drop();
      if (!isOld || question.isRepeatable !== true) throw error;
      return await askLink(await reach(), question);
    }
  };
  const { execute } = makeDatabase(ask);
  /** A transaction that conflicted with another was rolled back: it can be tried again. */
  const retry = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let tried = 1; ; tried++) {
      try {
        return await work();
      } catch (error) {
        if (!isConflict(error) || tried >= TRIES) throw explainFailure(error, settings.address);
        await sleep(2 ** tried * 5);
      }
    }
  };
  const run = async <T>(work: () => Promise<T>): Promise<T> => await inTurn(async () => await retry(work));
  return {
    ask: async (question) => await run(async () => await ask(question)),
    execute: async (sql) => await run(async () => await execute(sql)),
    transact: async (work) =>
      await run(async () => {
        // All on one connection: what follows on another would be no part of it.
        const own = await reach();
        const onOwn = makeDatabase(async (question) => await askLink(own, question));
        try {
          await onOwn.execute('BEGIN');
          const result = await work(onOwn);
          await onOwn.execute('COMMIT');
          return result;
        } catch (error) {
          // Also where it cannot be rolled back: without the connection, the server does.
          if (isLost(error)) await drop();
          else await onOwn.execute('ROLLBACK').catch(drop);
          throw error;
        }
      }),
    close: async () => await inTurn(drop),
  };
}

const AnyRow = v.array(v.nullable(v.string()));

function makeDatabase(ask: Database['ask']): Pick<Database, 'ask' | 'execute'> {
  return { ask, execute: async (sql) => void (await ask({ sql, row: AnyRow })) };
}

async function openLink(settings: PostgresSettings): Promise<Link> {
  const { default: pg } = await import('pg');
  const stream = guardSocket(await openPostgresSocket(settings), (what, cause) =>
    what === 'too much' ? distrustError('the server sent more than was asked for') : distrustError(NO_SENSE, cause),
  );
  stream.allow(MAX_BYTES);
  const { host, port, user, database, timeoutMs } = settings;
  const client = new pg.Client({
    ...{ host, port, user, database },
    ssl: false,
    stream: () => stream,
    password: () => {
      const password = settings.findPassword();
      if (password === null) throw noPasswordError(settings.address);
      return password;
    },
    application_name: 'agent-handover',
    connectionTimeoutMillis: timeoutMs,
  });
  const opened: Link = { client, stalledMs: timeoutMs * STALLED, stream, lost: null };
  const lose = (error: Error): void => {
    opened.lost ??= error;
  };
  client.on('error', lose);
  stream.on('error', lose).on('close', () => lose(new Error('the connection was closed')));
  try {
    await client.connect();
  } catch (error) {
    stream.destroy();
    throw opened.lost instanceof HandoverError ? opened.lost : error;
  }
  return opened;
}

const NO_SENSE = 'the server answered with something else than its tables have';

function distrustError(message: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_REMOTE_REFUSED', message, {
    hint: 'Nothing of it was taken. Ask whoever runs the server.',
    ...(cause === undefined ? {} : { cause }),
  });
}

async function askLink<Schema extends RowSchema>(
  link: Link,
  question: Question<Schema>,
): Promise<v.InferOutput<Schema>[]> {
  const { default: pg } = await import('pg');
  const { sql, values = [], row: schema, maxRows = MAX_ROWS, maxBytes = MAX_BYTES } = question;
  link.stream.allow(maxBytes);
  const rows: v.InferOutput<Schema>[] = [];
  const end = (error: Error): void => {
    link.lost ??= error;
    link.stream.destroy(error);
  };
  await new Promise<void>((resolve, reject) => {
    const sent = values.reduce<number>((sum, value) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0);
    const mostMs = ANSWER_MS + (sent + maxBytes) / BYTES_PER_MS;
    const timer = setTimeout(() => end(new Error('no answer in time')), mostMs);
    link.stream.watch(link.stalledMs);
    const stopTimers = (): void => {
      clearTimeout(timer);
      link.stream.watch(0);
    };
    const fail = (error: Error): void => {
      stopTimers();
      reject(link.lost ?? error);
    };
    const config = { text: sql, values: values.map(withoutNuls), rowMode: 'array', types: TEXT_ONLY };
    const query = new pg.Query(config);
    query.on('row', (row: unknown) => {
      if (link.lost !== null) return;
      const read = v.safeParse(schema, row);
      if (rows.length >= maxRows) end(distrustError('the server sent more than was asked for'));
      else if (read.success) rows.push(read.output);
      else end(distrustError(NO_SENSE));
    });
    query.on('error', fail);
    query.on('end', () => {
      stopTimers();
      resolve();
    });
    if (link.lost === null) link.client.query(query);
    else fail(link.lost);
  });
  return rows;
}

/** PostgreSQL has no text with a NUL in it. */
function withoutNuls(value: SqlValue): unknown {
  if (typeof value === 'string') return withoutNul(value);
  return Array.isArray(value) ? value.map(withoutNuls) : value;
}

/** Texts are read by the schema of the row; what a server says about types is not asked for. */
const TEXT_ONLY = { getTypeParser: () => (value: string) => value };

/** SQL for a timestamp in our own form. */
export function asTimestamp(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
