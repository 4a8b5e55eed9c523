import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOOK_EVENTS } from '../../../src/agents/hook-input.ts';
import { asOrdinaryUser, giveAway, isBoundByModes } from '../../support/another-user.ts';
import { makeSandbox, runProcess, type Sandbox } from '../../support/cli.ts';
import { HOOK, startAgent, waitForWorkers, writeSession, writeWork } from '../../support/hooks.ts';

const FIRST_EVENTS = Object.fromEntries(
  Object.entries(HOOK_EVENTS).map(([agent, events]) => [agent, Object.keys(events)[0] ?? '']),
);

async function callHook(
  sandbox: Sandbox,
  [agent, event]: readonly [string, string],
  options: Parameters<typeof runProcess>[1],
): Promise<void> {
  const { env, ...rest } = { env: {}, ...options };
  const result = await runProcess([process.execPath, HOOK, agent, event], {
    cwd: sandbox.project,
    ...rest,
    env: { ...sandbox.env, ...env },
  });
  expect(result).toEqual({ status: 0, stdout: '', stderr: '' });
}

const START = ['claude-code', 'SessionStart'] as const;
const STOP = ['claude-code', 'Stop'] as const;

describe('a hook exits with 0 and prints nothing', () => {
  it('when its input is never closed, with nothing in it or half of it', async () => {
    const sandbox = makeSandbox();
    await callHook(sandbox, START, { input: null });
    for (const begun of ['', '{"session_id":"a","cwd":"/', '{"session_id":"a"}']) {
      const child = spawn(process.execPath, [HOOK, ...START], {
        env: { PATH: process.env.PATH, ...sandbox.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        timeout: 30_000,
        killSignal: 'SIGKILL',
      });
      child.stdin.write(begun);
      expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(0);
    }
  });

  it('when its input is a pipe that is never closed', () => {
    const sandbox = makeSandbox();
    const env = { PATH: process.env.PATH, ...sandbox.env };
    const command = `(printf '{'; sleep 4) | "${process.execPath}" "${HOOK}" claude-code SessionStart; echo "status $?"`;
    const { stdout } = spawnSync('sh', ['-c', command], { env, encoding: 'utf8', timeout: 30_000 });
    expect(stdout).toBe('status 0\n');
  });

  it('on 10 MB of garbage, and says so in its log', async () => {
    const sandbox = makeSandbox();
    await callHook(sandbox, START, { input: Buffer.alloc(10 * 1024 * 1024, '}{"') });
    const log = readFileSync(join(sandbox.store, 'log', 'hooks.ndjson'), 'utf8');
    expect(log).toContain('its input was large');
    expect(await sandbox.ok(['doctor'])).toContain('the hook claude-code SessionStart HOOK_INPUT failed once');
    expect(await sandbox.ok(['status'])).toContain('the hook claude-code SessionStart HOOK_INPUT failed once');
  });

  it.each(Object.entries(FIRST_EVENTS))('for %s on input of another form', async (agent, event) => {
    const sandbox = makeSandbox();
    await callHook(sandbox, [agent, event], { input: '{"session_id":7,"sessionId":[],"taskId":{}}' });
  });

  it('for unknown agents and events', async () => {
    const sandbox = makeSandbox();
    await callHook(sandbox, ['constructor', 'toString'], { input: '{}' });
    await callHook(sandbox, ['claude-code', 'toString'], { input: '{}' });
    await callHook(sandbox, ['', ''], { input: '{}' });
  });

  it.skipIf(!isBoundByModes)('when the store cannot be written', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    mkdirSync(sandbox.store);
    giveAway(sandbox.folder);
    chmodSync(sandbox.folder, 0o755);
    chmodSync(sandbox.store, 0o500);
    for (const event of [START, STOP])
      await callHook(sandbox, event, {
        input: JSON.stringify(session.input({ source: 'startup' })),
        through: asOrdinaryUser,
      });
    chmodSync(sandbox.store, 0o700);
  });

  it('when there is no home folder', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    for (const event of [START, STOP])
      await callHook(sandbox, event, {
        input: JSON.stringify(session.input({ source: 'startup' })),
        env: { HOME: '', HANDOVER_HOME: undefined },
      });
  });

  it('when the folder of the session is missing', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox, { cwd: join(sandbox.project, 'gone') });
    for (const event of [START, STOP])
      await callHook(sandbox, event, { input: JSON.stringify(session.input({ source: 'startup' })) });
  });

  it('when all prepared briefs and the index are damaged', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    const agent = startAgent(sandbox);
    writeWork(session, {
      goal: 'Make the upload retry',
      file: join(sandbox.project, 'one.ts'),
      decision: 'We keep the old name because others use it.',
    });
    await agent.call('Stop', session.input());
    await waitForWorkers(sandbox);
    await sandbox.ok(['list']);
    spoil(join(sandbox.store, 'ready'));
    writeFileSync(join(sandbox.store, 'index.sqlite'), 'rot');
    for (const source of ['compact', 'clear', 'startup', 'resume'])
      expect(await agent.receive('SessionStart', session.input({ source }))).toBeNull();
    session.transcript.human('Never retry on 404');
    session.write();
    await agent.call('Stop', session.input());
    await waitForWorkers(sandbox);
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(2);
    await agent.end();
  });
});

describe('a full disk during a hook', () => {
  it('loses a capture, and the agent gets no error', async (test) => {
    const sandbox = makeSandbox();
    mkdirSync(sandbox.store);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=0700', 'tmpfs', sandbox.store]);
    if (mounted.status !== 0) test.skip();
    try {
      spawnSync('sh', ['-c', `cat /dev/zero > ${sandbox.store}/filler`]);
      const session = writeSession(sandbox);
      for (const event of [START, STOP, ['claude-code', 'PreCompact'] as const])
        await callHook(sandbox, event, { input: JSON.stringify(session.input({ source: 'startup' })) });
    } finally {
      spawnSync('umount', [sandbox.store]);
    }
  });
});

/** Writes rot into every file below a folder. */
function spoil(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) spoil(path);
    else writeFileSync(path, '{"schema":"ready/1","agent":"claude-code"');
  }
}
