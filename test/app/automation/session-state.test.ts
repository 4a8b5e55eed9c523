import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trimFolders } from '../../../src/app/automation/records.ts';
import { claimDelivery, type DeliveryRecord, listDeliveries } from '../../../src/app/automation/session-state.ts';
import { makeTempFolder } from '../../support/cli.ts';

const KEY = '0123456789abcdef';
const GIVEN: DeliveryRecord = {
  agent: 'qwen',
  session: 's1',
  handover: '20260131-120000-abcd',
  form: 'brief',
  compactions: 1,
  process: '100-1',
  atMs: 1_000,
};

function claim(store: string, delivery: DeliveryRecord): boolean {
  return claimDelivery(store, KEY, { delivery, before: listDeliveries(store, KEY) });
}

it('a brief is delivered once to a run of the agent, also by two hooks at once', () => {
  const store = makeTempFolder();
  const before = listDeliveries(store, KEY);
  expect(claimDelivery(store, KEY, { delivery: GIVEN, before })).toBe(true);
  expect(claimDelivery(store, KEY, { delivery: GIVEN, before })).toBe(false);
  expect(claim(store, { ...GIVEN, atMs: 1_500 })).toBe(false);
});

it('a brief is delivered again to the next run of the agent', () => {
  const store = makeTempFolder();
  expect(claim(store, GIVEN)).toBe(true);
  expect(claim(store, { ...GIVEN, process: '200-1', atMs: 1_500 })).toBe(true);
});

it('trimming keeps deliveries to sessions that could get the same brief again', () => {
  const store = makeTempFolder();
  for (const atMs of [1_000, 100_000]) expect(claim(store, { ...GIVEN, atMs })).toBe(true);
  const folder = join(store, 'ready', 'given');
  for (const number of [1, 2]) utimesSync(join(folder, `${KEY}.${number}.json`), number, number);
  for (let other = 0; other < 600; other++)
    writeFileSync(join(folder, `${String(other).padStart(16, '0')}.1.json`), JSON.stringify(GIVEN));
  mkdirSync(join(store, 'ready', 'sessions'), { mode: 0o700 });
  writeFileSync(join(store, 'ready', 'sessions', `${KEY}.json`), 'prepared');
  trimFolders(store);
  expect(listDeliveries(store, KEY).map(({ atMs }) => atMs)).toEqual([1_000, 100_000]);
  expect(listDeliveries(store, '0000000000000599')).toHaveLength(1);
  expect(readdirSync(folder)).toHaveLength(502);
});
