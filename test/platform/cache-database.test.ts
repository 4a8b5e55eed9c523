import { copyFileSync, renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openCache, pathOfCache } from '../../src/platform/cache-database.ts';
import { rebuildCache } from '../../src/platform/cache-writer.ts';
import { systemClock } from '../../src/platform/machine.ts';
import { loadSqlDriver, type SqlDatabase } from '../../src/platform/sqlite.ts';
import { makeTempFolder } from '../support/cli.ts';

const driver = loadSqlDriver(undefined);

describe.runIf(driver !== null)('a cache that another process replaces', () => {
  it('while it is opened for the first time or asked is opened again, and is no damage', async () => {
    if (driver === null) return;
    const folder = { root: makeTempFolder(), machine: { clock: systemClock } };
    const cache = { name: 'index', version: 1 };
    const path = pathOfCache(folder, cache);
    const replace = (): void => {
      copyFileSync(path, `${path}.new`);
      renameSync(`${path}.new`, path);
    };
    let replacements = 3;
    let rebuilds = 0;
    const write = (database: SqlDatabase): void => {
      if (replacements-- > 0) replace();
      database.exec('BEGIN IMMEDIATE; INSERT INTO seen VALUES (1); COMMIT');
    };
    const opened = await openCache(folder, driver, {
      cache,
      update: write,
      rebuild: () => {
        rebuilds++;
        rebuildCache(folder, { cache, driver }, (database) => database.exec('CREATE TABLE seen (n INTEGER)'));
      },
    });
    replacements = 1;
    await opened.ask(write);
    const count = await opened.ask((database) => database.prepare('SELECT count(*) AS n FROM seen').get());
    opened.close();
    expect([rebuilds, count]).toEqual([1, expect.objectContaining({ n: 3 })]);
  });
});
