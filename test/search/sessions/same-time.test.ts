import { describe, expect, it } from 'vitest';
import { loadSqlDriver, type SqlDatabase } from '../../../src/platform/sqlite.ts';
import { openFullText } from '../../../src/search/full-text.ts';
import type { SessionHead } from '../../../src/search/sessions/archive.ts';
import {
  CREATE_TABLES,
  listPassages,
  listSessions,
  SessionIndexWriter,
} from '../../../src/search/sessions/session-index.ts';

const driver = loadSqlDriver(undefined);

/** Counts how often its statements are run. */
function countStatements(database: SqlDatabase): { database: SqlDatabase; count(): number } {
  let count = 0;
  const counted: SqlDatabase = {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      const note = <T>(result: T): T => {
        count++;
        return result;
      };
      return {
        run: (...values) => note(statement.run(...values)),
        get: (...values) => note(statement.get(...values)),
        all: (...values) => note(statement.all(...values)),
      };
    },
  };
  return { database: counted, count: () => count };
}

const head = (id: string): SessionHead => ({
  id,
  agent: 'aider',
  path: `/gone/${id}`,
  cwd: null,
  title: null,
  startedMs: 1_767_607_200_000,
  changedMs: 1_767_607_200_000,
  bytes: 1,
  project: null,
});

/** Indexes passages without a time of their own, as aider's are, in parts of 500. */
function index(sessions: number, passages: number) {
  if (driver === null) throw new Error('there is no SQLite');
  const { database, count } = countStatements(driver.open(':memory:'));
  database.exec(CREATE_TABLES);
  const writer = new SessionIndexWriter(database, openFullText(database));
  for (let session = 0; session < sessions; session++) {
    const all = Array.from({ length: passages }, (_, line) => ({
      line,
      offset: null,
      at: null,
      speaker: 'human' as const,
      text: 'the same words',
    }));
    const parts = Array.from({ length: Math.ceil(passages / 500) }, (_, part) =>
      all.slice(500 * part, 500 * part + 500),
    );
    const name = `s${session}`;
    writer.put({ name, head: head(name), archive: '', gone: false, reading: null, stays: 0, parts });
  }
  const statements = count();
  const rows = listSessions(database).flatMap(({ key }) => listPassages(database, key, {}));
  return { rows, statements };
}

describe.skipIf(driver === null)('passages that share a time', () => {
  it.each([
    ['in one session', 1, 3500],
    ['in many sessions', 1500, 2],
  ])('cost a few statements each, however many there are: %s', (_where, sessions, passages) => {
    const { rows, statements } = index(sessions, passages);
    expect(rows).toHaveLength(sessions * passages);
    expect(new Set(rows.map(({ n }) => n)).size).toBe(rows.length);
    expect(statements / rows.length).toBeLessThan(25);
  });

  it('stay in their order within a session', () => {
    const { rows } = index(1, 2500);
    expect(rows.map(({ passage }) => passage.line)).toEqual(rows.map((_, at) => at));
  });
});
