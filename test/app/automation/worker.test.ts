import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listJobs, writeJob } from '../../../src/app/automation/jobs.ts';
import { keyOfSession } from '../../../src/app/automation/records.ts';
import { processJobs } from '../../../src/app/automation/worker.ts';
import { catchErrno } from '../../../src/errors.ts';
import { acquireLock } from '../../../src/platform/lock.ts';
import { describeMachine, systemClock } from '../../../src/platform/machine.ts';
import { LOCKS, openStore, WORKER_LOCK_PREFIX } from '../../../src/store/store.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { startAgent, type WrittenSession, waitForWorkers, writeSession } from '../../support/hooks.ts';

const CANARY = `ghp_${'q7Zk3TfW9xB2mN5pL8rD1sV4cG6hJ0yA2uE9'.slice(0, 36)}`;
const ANSWER = `We keep the old queue because the new one drops jobs. The token is ${CANARY}.`;

function openStoreOf(sandbox: Sandbox): ReturnType<typeof openStore> {
  return openStore(describeMachine({ HOME: sandbox.home, HANDOVER_HOME: sandbox.store }, sandbox.project));
}

function keyOf(session: WrittenSession): string {
  return keyOfSession({ agent: 'claude-code', session: session.id });
}

/** The files below a folder that hold a text. What a worker puts away meanwhile does not. */
function findFilesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => catchErrno(['ENOENT'], false, () => readFileSync(path).includes(text)));
}

describe('the last reply in a hook’s job', () => {
  it('is captured, and its secrets are in no file at any time', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    const agent = startAgent(sandbox);
    session.transcript.human('Which queue do we keep?');
    session.write();
    const folder = join(sandbox.store, LOCKS);
    mkdirSync(sandbox.store, { mode: 0o700 });
    mkdirSync(folder, { mode: 0o700 });
    const lock = acquireLock({
      folder,
      name: `${WORKER_LOCK_PREFIX}${keyOf(session).slice(0, 1)}`,
      waitMs: 1000,
      clock: systemClock,
    });
    await agent.call('Stop', session.input({ last_assistant_message: ANSWER }));
    expect(listJobs(sandbox.store, keyOf(session))).toHaveLength(1);
    expect(findFilesWith(sandbox.folder, CANARY)).toEqual([]);
    lock.release();
    await waitForWorkers(sandbox);
    const [{ id } = { id: '' }] = await sandbox.json<{ id: string }[]>(['list']);
    const shown = await sandbox.ok(['show', id]);
    expect(shown).toContain('We keep the old queue because the new one drops jobs');
    expect(shown).not.toContain(CANARY);
    expect(findFilesWith(sandbox.folder, CANARY)).toEqual([]);
    await agent.end();
  });

  it('stays with its own worker: another one leaves the job alone, but not for long', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    session.transcript.human('Which queue do we keep?');
    session.write();
    const store = openStoreOf(sandbox);
    const key = keyOf(session);
    const leaveNote = (atMs: number): string =>
      writeJob(sandbox.store, key, {
        machine: store.machine,
        job: {
          kind: 'capture',
          moment: 'turn',
          agent: 'claude-code',
          session: session.id,
          cwd: sandbox.project,
          transcript: session.path,
          terminal: null,
          process: null,
          isHanded: true,
          atMs,
          lastMs: null,
        },
      });
    const young = leaveNote(Date.now());
    await processJobs(store, key);
    expect(listJobs(sandbox.store, key)).toEqual([young]);
    const old = leaveNote(Date.now() - 60_000);
    await processJobs(store, key);
    expect(old < young && listJobs(sandbox.store, key)).toEqual([young]);
    await processJobs(store, key, { job: young, reply: ANSWER });
    expect(listJobs(sandbox.store, key)).toEqual([]);
    expect(await sandbox.ok(['show', 'latest'])).toContain('We keep the old queue');
  });
});
