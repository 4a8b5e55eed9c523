import { describe, expect, it } from 'vitest';
import type { Machine } from '../../src/platform/machine.ts';
import type { CatalogRow } from '../../src/store/catalog.ts';
import { examineStore } from '../../src/store/doctor/doctor.ts';
import { findLatest } from '../../src/store/find-handover.ts';
import { openCatalog } from '../../src/store/open-catalog.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { makeSandbox, type Sandbox } from '../support/cli.ts';
import { saveSample } from '../support/samples.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 10, 2, 0, 30);

/** A machine on one store, whose clock shows what the test says. */
interface Watch {
  store: Store;
  now: number;
}

function makeWatch(sandbox: Sandbox, now: number, sqlite?: string): Watch {
  const watch: Watch = { store: openStore(sandbox.machine), now };
  const env = { ...sandbox.machine.env, HANDOVER_SQLITE: sqlite };
  // Ids count down, so that an order by id alone is the wrong way round.
  let count = 0xffffff;
  const bytes = (): Uint8Array => {
    count -= 0x10000;
    return Uint8Array.from([(count >> 16) & 0xff, (count >> 8) & 0xff, count & 0xff]);
  };
  const machine: Machine = { ...sandbox.machine, env, clock: { now: () => watch.now }, random: { bytes } };
  watch.store = openStore(machine);
  return watch;
}

async function listRows(store: Store): Promise<CatalogRow[]> {
  const { catalog } = await openCatalog(store);
  const rows: CatalogRow[] = [];
  for await (const row of catalog.rows({})) rows.push(row);
  catalog.close();
  return rows;
}

async function latestOf(store: Store): Promise<string> {
  const { catalog } = await openCatalog(store);
  const { id } = await findLatest(store, catalog);
  catalog.close();
  return id;
}

async function expectOrderly(watch: Watch, saved: readonly string[]): Promise<void> {
  expect(new Set(saved).size).toBe(saved.length);
  const rows = await listRows(watch.store);
  expect(rows.map((row) => row.id).sort()).toEqual([...saved].sort());
  const keys = rows.map((row) => `${row.created_at} ${row.id}`);
  expect(keys).toEqual([...keys].sort().reverse());
  expect(await listRows(watch.store)).toEqual(rows);
  const scanning = { ...watch.store, machine: { ...watch.store.machine, env: { HANDOVER_SQLITE: 'none' } } };
  expect(await listRows(scanning)).toEqual(rows);
  const { findings } = await examineStore(watch.store);
  expect(findings.filter((finding) => finding.level !== 'notice')).toEqual([]);
}

/** Saves once at each time, and expects each to be the latest at that time. */
async function saveAt(sandbox: Sandbox, times: readonly number[]): Promise<void> {
  const watch = makeWatch(sandbox, START);
  const saved: string[] = [];
  for (const [at, time] of times.entries()) {
    watch.now = time;
    saved.push(saveSample(watch.store, { title: `save ${at}` }).id);
    expect(await latestOf(watch.store), `save ${at} at ${new Date(time).toISOString()}`).toBe(saved.at(-1));
  }
  await expectOrderly(watch, saved);
}

const year = (value: number): number => new Date(0).setUTCFullYear(value, 5, 15);

describe('a clock', () => {
  it.each<[string, readonly number[]]>([
    ['stands still', Array(8).fill(START)],
    ['goes back by a minute', [START, START - MINUTE, START - MINUTE, START + 1]],
    ['goes back by an hour, into the month before', [START, START - HOUR, START - HOUR, START]],
    ['goes back by three days', [START, START - 3 * DAY, START - 3 * DAY + 1, START - 3 * DAY + 2]],
    ['goes back by three days and stands still', [START, ...Array(6).fill(START - 3 * DAY)]],
    ['goes back by three days, and then by a minute', [START, START - 3 * DAY, START - 3 * DAY - MINUTE]],
    ['goes back by three days in one month', [START + 9 * DAY, START + 6 * DAY, START + 6 * DAY - HOUR]],
    ['goes back by three days and comes back almost to where it was', [START, START - 3 * DAY, START - MINUTE]],
    ['does so in one month', [START + 9 * DAY, START + 6 * DAY, START + 9 * DAY - MINUTE]],
    ['goes back a little many times', Array.from({ length: 30 }, (_, at) => START - at * MINUTE)],
    ['goes back by years and stands still', [year(2030), year(2026), year(2026), year(2026)]],
    ['shows 2038', [2_147_483_647_000, 2_147_483_648_000, 2_147_483_648_000]],
    ['shows 9999', [year(9999), year(9999), year(9999) + 1]],
    ['shows 10000', [year(9999), year(10_000)]],
    ['shows the year 0', [year(0), year(0), year(0) + 1]],
    ['jumps from 1970 to now', [0, 0, START, START]],
  ])('that %s loses no handover, and the last one saved is the latest', async (_, times) => {
    await saveAt(makeSandbox(), times);
  });

  it.each([0, 2 * HOUR])(
    'that is ahead of another machine’s by %i ms still orders handovers of both',
    async (ahead) => {
      const sandbox = makeSandbox();
      const machines = [makeWatch(sandbox, START), makeWatch(sandbox, START + ahead)] as const;
      const saved: string[] = [];
      for (let turn = 0; turn < 10; turn++) {
        const watch = machines[turn % 2 === 0 ? 0 : 1];
        watch.now += 1000;
        saved.push(saveSample(watch.store).id);
        for (const { store } of machines) expect(await latestOf(store)).toBe(saved.at(-1));
      }
      await expectOrderly(machines[0], saved);
    },
  );

  it('that is days ahead of another machine’s does not hide the other’s handovers from it', async () => {
    const sandbox = makeSandbox();
    const right = makeWatch(sandbox, START);
    const wrong = makeWatch(sandbox, START + 5 * DAY);
    const saved: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      saved.push(saveSample(wrong.store).id, saveSample(right.store).id);
      expect(await latestOf(right.store)).toBe(saved.at(-1));
    }
    await expectOrderly(right, saved);
  });
});
