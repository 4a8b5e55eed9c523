import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadSqlDriver, type SqlDriver } from '../../src/platform/sqlite.ts';
import { takeRows } from '../../src/store/catalog.ts';
import { pathOfIndex } from '../../src/store/index-schema.ts';
import { openCatalog, openIndexCatalog } from '../../src/store/open-catalog.ts';
import { openScanCatalog } from '../../src/store/scan-catalog.ts';
import { testCatalog } from '../support/conformance/catalog.ts';
import { makeStore, saveOne } from '../support/temp-store.ts';

function requireDriver(): SqlDriver {
  const driver = loadSqlDriver(undefined);
  if (driver === null) throw new Error('the tests need SQLite: npm install');
  return driver;
}

testCatalog('scan', async (store) => openScanCatalog(store));
testCatalog(`index (${requireDriver().name})`, async (store) => await openIndexCatalog(store, requireDriver()));

async function listTitles(store: ReturnType<typeof makeStore>): Promise<string[]> {
  const { catalog, indexFailure } = await openCatalog(store);
  expect(indexFailure).toBeNull();
  const rows = await takeRows(catalog.rows({}), 100);
  catalog.close();
  return rows.map((row) => row.title);
}

describe('the index of the store', () => {
  const damages: [string, (path: string) => void][] = [
    ['missing', (path) => rmSync(path)],
    ['empty', (path) => truncateSync(path, 0)],
    ['cut short', (path) => truncateSync(path, 5000)],
    [
      'overwritten',
      (path) => writeFileSync(path, 'not a database at all, but long enough to look like one'.repeat(100)),
    ],
    ['flipped in the middle of a row', (path) => replaceIn(path, 'the title', 'the tItle')],
    ['of another version', (path) => setVersion(path, 99)],
  ];

  it.each(damages)('is rebuilt when it is %s', async (_what, damage) => {
    const store = makeStore();
    saveOne(store, 'the title');
    saveOne(store, 'another');
    expect(await listTitles(store)).toEqual(['another', 'the title']);
    damage(pathOfIndex(store));
    expect(await listTitles(store)).toEqual(['another', 'the title']);
    const { catalog } = await openCatalog(store);
    expect(catalog.driver).toBe('index');
    catalog.close();
  });

  it('is not needed by the store', async () => {
    const store = makeStore();
    const without = {
      ...store,
      machine: { ...store.machine, env: { ...store.machine.env, HANDOVER_SQLITE: 'none' } },
    };
    saveOne(without, 'plain');
    const { catalog } = await openCatalog(without);
    expect(catalog.driver).toBe('scan');
    expect((await takeRows(catalog.rows({}), 5)).map((row) => row.title)).toEqual(['plain']);
  });
});

function replaceIn(path: string, from: string, to: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(from);
  expect(at).toBeGreaterThan(0);
  bytes.write(to, at);
  writeFileSync(path, bytes);
}

function setVersion(path: string, version: number): void {
  const database = requireDriver().open(path);
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
}
