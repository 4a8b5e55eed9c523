import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type JournalJob, writeJob } from '../../../src/app/automation/jobs.ts';
import { describeFailure, listFailures, logFailure } from '../../../src/app/automation/records.ts';
import { processJobs } from '../../../src/app/automation/worker.ts';
import { HandoverError } from '../../../src/errors.ts';
import { describeMachine } from '../../../src/platform/machine.ts';
import { readEntriesOf } from '../../../src/store/journal.ts';
import { openStore } from '../../../src/store/store.ts';
import { type LabelledSecret, writeSecrets } from '../../fixtures/secrets/write-secrets.ts';
import { makeSandbox } from '../../support/cli.ts';
import { makeRedactor } from '../../support/redactor.ts';

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

it('a failure is logged without the secrets that its message quotes', async () => {
  const sandbox = makeSandbox();
  const seed = randomInt(2 ** 31);
  process.stdout.write(`secrets in failures: seed ${seed}\n`);
  const tell = ({ text }: LabelledSecret): string => `cannot read ${text}`;
  const isIn = ({ secret }: LabelledSecret, text: string): boolean => text.includes(secret.slice(0, 20));
  // How many are recognised is the business of other tests.
  const secrets = writeSecrets(40, seed).filter(
    (one) => !one.text.includes('\n') && one.text.length < 400 && !isIn(one, makeRedactor().redactText(tell(one))),
  );
  expect(secrets.length).toBeGreaterThan(5);
  for (const one of secrets) {
    const error = new HandoverError('HANDOVER_INPUT_INVALID', tell(one));
    logFailure(sandbox.store, await describeFailure(error, 'claude-code Stop', 1));
  }
  const log = readFileSync(join(sandbox.store, 'log', 'hooks.ndjson'), 'utf8');
  expect(listFailures(sandbox.store, 0)).toHaveLength(secrets.length);
  expect(secrets.filter((one) => isIn(one, log)).map(({ text }) => text)).toEqual([]);
});
