import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOOK_EVENTS } from '../../../src/agents/hook-input.ts';
import { asOrdinaryUser, giveAway, isBoundByModes } from '../../support/another-user.ts';
import { type Desk, makeDesk, runProcess } from '../../support/cli.ts';
import { HOOK, settle, startAgent, tellWork, writeSession } from '../../support/hooks.ts';

const FIRST_EVENTS = Object.fromEntries(
  Object.entries(HOOK_EVENTS).map(([agent, events]) => [agent, Object.keys(events)[0] ?? '']),
);

async function callHook(
  desk: Desk,
  [agent, event]: readonly [string, string],
  options: Parameters<typeof runProcess>[1],
): Promise<void> {
  const { env, ...rest } = { env: {}, ...options };
  const result = await runProcess([process.execPath, HOOK, agent, event], {
    cwd: desk.project,
    timeoutMs: 5000,
    ...rest,
    env: { ...desk.env, ...env },
  });
  expect(result).toEqual({ status: 0, stdout: '', stderr: '' });
}

const START = ['claude-code', 'SessionStart'] as const;
const STOP = ['claude-code', 'Stop'] as const;

describe('a hook exits with 0 and prints nothing', () => {
  it('when its input is never closed, with nothing in it or half of it', async () => {
    const desk = makeDesk();
    await callHook(desk, START, { input: null });
    for (const begun of ['', '{"session_id":"a","cwd":"/', '{"session_id":"a"}']) {
      const child = spawn(process.execPath, [HOOK, ...START], {
        env: { PATH: process.env.PATH, ...desk.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        timeout: 5000,
        killSignal: 'SIGKILL',
      });
      child.stdin.write(begun);
      expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(0);
    }
  });

  it('when its input is a pipe that is never closed', () => {
    const desk = makeDesk();
    const env = { PATH: process.env.PATH, ...desk.env };
    const command = `(printf '{'; sleep 4) | "${process.execPath}" "${HOOK}" claude-code SessionStart; echo "status $?"`;
    const { stdout } = spawnSync('sh', ['-c', command], { env, encoding: 'utf8', timeout: 8000 });
    expect(stdout).toBe('status 0\n');
  });

  it('on 10 MB of garbage, and says so in its log', async () => {
    const desk = makeDesk();
    await callHook(desk, START, { input: Buffer.alloc(10 * 1024 * 1024, '}{"') });
    const log = readFileSync(join(desk.store, 'log', 'hooks.ndjson'), 'utf8');
    expect(log).toContain('its input was large');
    expect(await desk.ok(['doctor'])).toContain('the hook claude-code SessionStart HOOK_INPUT failed once');
    expect(await desk.ok(['status'])).toContain('the hook claude-code SessionStart HOOK_INPUT failed once');
  });

  it.each(Object.entries(FIRST_EVENTS))('for %s on input of another form', async (agent, event) => {
    const desk = makeDesk();
    await callHook(desk, [agent, event], { input: '{"session_id":7,"sessionId":[],"taskId":{}}' });
  });

  it('for unknown agents and events', async () => {
    const desk = makeDesk();
    await callHook(desk, ['constructor', 'toString'], { input: '{}' });
    await callHook(desk, ['claude-code', 'toString'], { input: '{}' });
    await callHook(desk, ['', ''], { input: '{}' });
  });

  it.skipIf(!isBoundByModes)('when the store cannot be written', async () => {
    const desk = makeDesk();
    const session = writeSession(desk);
    mkdirSync(desk.store);
    giveAway(desk.folder);
    chmodSync(desk.folder, 0o755);
    chmodSync(desk.store, 0o500);
    for (const event of [START, STOP])
      await callHook(desk, event, {
        input: JSON.stringify(session.input({ source: 'startup' })),
        through: asOrdinaryUser,
      });
    chmodSync(desk.store, 0o700);
  });

  it('when there is no home folder', async () => {
    const desk = makeDesk();
    const session = writeSession(desk);
    for (const event of [START, STOP])
      await callHook(desk, event, {
        input: JSON.stringify(session.input({ source: 'startup' })),
        env: { HOME: '', HANDOVER_HOME: undefined },
      });
  });

  it('when the folder of the session is missing', async () => {
    const desk = makeDesk();
    const session = writeSession(desk, { cwd: join(desk.project, 'gone') });
    for (const event of [START, STOP])
      await callHook(desk, event, { input: JSON.stringify(session.input({ source: 'startup' })) });
  });

  it('when all prepared briefs and the index are damaged', async () => {
    const desk = makeDesk();
    const session = writeSession(desk);
    const agent = startAgent(desk);
    tellWork(session, {
      goal: 'Make the upload retry',
      file: join(desk.project, 'one.ts'),
      decision: 'We keep the old name because others use it.',
    });
    await agent.call('Stop', session.input());
    await settle(desk);
    await desk.ok(['list']);
    spoil(join(desk.store, 'ready'));
    writeFileSync(join(desk.store, 'index.sqlite'), 'rot');
    for (const source of ['compact', 'clear', 'startup', 'resume'])
      expect(await agent.given('SessionStart', session.input({ source }))).toBeNull();
    session.transcript.human('Never retry on 404');
    session.write();
    await agent.call('Stop', session.input());
    await settle(desk);
    expect(await desk.json<unknown[]>(['list'])).toHaveLength(2);
    await agent.end();
  });
});

describe('a full disk during a hook', () => {
  it('loses a capture, and the agent gets no error', async (test) => {
    const desk = makeDesk();
    mkdirSync(desk.store);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=0700', 'tmpfs', desk.store]);
    if (mounted.status !== 0) test.skip();
    try {
      spawnSync('sh', ['-c', `cat /dev/zero > ${desk.store}/filler`]);
      const session = writeSession(desk);
      for (const event of [START, STOP, ['claude-code', 'PreCompact'] as const])
        await callHook(desk, event, { input: JSON.stringify(session.input({ source: 'startup' })) });
    } finally {
      spawnSync('umount', [desk.store]);
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
