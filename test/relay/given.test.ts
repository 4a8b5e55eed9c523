import { expect, it } from 'vitest';
import {
  claimDelivery,
  type DeliveryRecord,
  listDeliveries,
} from '../../src/app/automation/session-state.ts';
import { makeTempFolder } from '../support/cli.ts';

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

it('what is given is given once to a run of the agent, also by two hooks at once', () => {
  const store = makeTempFolder();
  const before = listDeliveries(store, KEY);
  expect(claimDelivery(store, KEY, { delivery: GIVEN, before })).toBe(true);
  expect(claimDelivery(store, KEY, { delivery: GIVEN, before })).toBe(false);
  expect(claim(store, { ...GIVEN, atMs: 1_500 })).toBe(false);
});

it('a run that follows at once has none of it, and is given it too', () => {
  const store = makeTempFolder();
  expect(claim(store, GIVEN)).toBe(true);
  expect(claim(store, { ...GIVEN, process: '200-1', atMs: 1_500 })).toBe(true);
});
