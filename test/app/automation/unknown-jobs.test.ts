import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type JournalJob, writeJob } from '../../../src/app/automation/jobs.ts';
import { listFailures } from '../../../src/app/automation/records.ts';
import { processJobs } from '../../../src/app/automation/worker.ts';
import { describeMachine } from '../../../src/platform/machine.ts';
import { readEntriesOf } from '../../../src/store/journal.ts';
import { openStore } from '../../../src/store/store.ts';
import { makeSandbox } from '../../support/cli.ts';

const KEY = '0123456789abcdef';
const JOB: JournalJob = {
  kind: 'journal',
  event: 'delivered',
  handover: '20260131-120000-abcd',
  session: 's1',
  reason: 'brief, after compaction',
  atMs: 2_000,
};

it('a job of an unknown kind is set aside and logged once, and does not block later jobs', async () => {
  const sandbox = makeSandbox();
  const store = openStore(describeMachine({ HOME: sandbox.home, HANDOVER_HOME: sandbox.store }, sandbox.project));
  writeJob(store.root, 'journal', { job: JOB, machine: store.machine });
  const spool = join(sandbox.store, 'spool');
  const unknown = JSON.stringify({ ...JOB, event: 'applauded', atMs: 1_000 });
  const name = 'journal.000000000001000-00000000.json';
  writeFileSync(join(spool, name), unknown);
  writeFileSync(join(spool, 'journal.000000000001500-00000000.json'), '{"kind":"journ');
  writeFileSync(join(spool, `${KEY}.000000000001000-00000000.json`), '{"kind":"capture","moment":"dream"}');
  await processJobs(store, KEY);
  await processJobs(store, KEY);
  expect(readdirSync(spool)).toEqual([]);
  expect(readdirSync(join(sandbox.store, 'quarantine')).sort()).toEqual([`${KEY}.000000000001000-00000000.json`, name]);
  expect(readFileSync(join(sandbox.store, 'quarantine', name), 'utf8')).toBe(unknown);
  expect(listFailures(store.root, 0).map(({ code }) => code)).toEqual(['UNKNOWN_JOB', 'UNKNOWN_JOB']);
  const events = readEntriesOf(store, ['delivered', 'quarantined']).map(({ event }) => event);
  expect(events.sort()).toEqual(['delivered', 'quarantined', 'quarantined']);
});
