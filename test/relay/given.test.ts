import { expect, it } from 'vitest';
import { claimGiving, type Given, listGiven } from '../../src/app/automation/given.ts';
import { makeTempFolder } from '../support/cli.ts';

const KEY = '0123456789abcdef';
const GIVEN: Given = {
  agent: 'qwen',
  session: 's1',
  handover: '20260131-120000-abcd',
  form: 'brief',
  compactions: 1,
  process: '100-1',
  atMs: 1_000,
};

function claim(store: string, given: Given): boolean {
  return claimGiving(store, KEY, { given, before: listGiven(store, KEY) });
}

it('what is given is given once to a run of the agent, also by two hooks at once', () => {
  const store = makeTempFolder();
  const before = listGiven(store, KEY);
  expect(claimGiving(store, KEY, { given: GIVEN, before })).toBe(true);
  expect(claimGiving(store, KEY, { given: GIVEN, before })).toBe(false);
  expect(claim(store, { ...GIVEN, atMs: 1_500 })).toBe(false);
});

it('a run that follows at once has none of it, and is given it too', () => {
  const store = makeTempFolder();
  expect(claim(store, GIVEN)).toBe(true);
  expect(claim(store, { ...GIVEN, process: '200-1', atMs: 1_500 })).toBe(true);
});
