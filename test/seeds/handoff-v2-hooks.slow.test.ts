import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { V2Envelope } from '../../src/exchange/legacy/v2-envelope.ts';
import type { Handover } from '../../src/model/handover.ts';
import { makeSandbox, makeTempFolder, type Sandbox } from '../support/cli.ts';
import {
  type RunningAgent,
  readReceived,
  startAgent,
  type WrittenSession,
  waitForWorkers,
  writeSession,
  writeWork,
} from '../support/hooks.ts';

/* What handoff V2 gets wrong in its hooks: capturing before compaction and restoring after it, one test each. */

const WORK = {
  goal: 'Make the upload retry when the server is busy',
  decision: 'We use exponential backoff instead of a queue, because bursts are refused.',
};

interface Scene {
  sandbox: Sandbox;
  session: WrittenSession;
  agent: RunningAgent;
  /** Captures and restores as a compaction does. */
  compact(): Promise<string | null>;
}

function open(options: Parameters<typeof startAgent>[1] = {}): Scene {
  const sandbox = makeSandbox();
  const session = writeSession(sandbox);
  writeWork(session, { ...WORK, file: join(sandbox.project, 'upload.ts') });
  const agent = startAgent(sandbox, options);
  const compact = async (): Promise<string | null> => {
    await agent.call('PreCompact', session.input({ hook_event_name: 'PreCompact', trigger: 'auto' }));
    return await agent.receive('SessionStart', session.input({ hook_event_name: 'SessionStart', source: 'compact' }));
  };
  return { sandbox, session, agent, compact };
}

async function readHandovers(sandbox: Sandbox): Promise<Handover[]> {
  const rows = await sandbox.json<{ id: string }[]>(['list']);
  return await Promise.all(rows.map(({ id }) => sandbox.json<Handover>(['show', id])));
}

describe('hooks, where handoff V2 failed', () => {
  it('V2-1: hooks need nothing but what is in the package', async () => {
    const folder = makeTempFolder();
    const root = dirname(dirname(fileURLToPath(import.meta.url)));
    for (const part of ['bin', 'dist']) cpSync(join(dirname(root), part), join(folder, part), { recursive: true });
    const { agent, compact } = open({ hook: join(folder, 'bin', 'hook.cjs') });
    expect(await compact()).toContain(WORK.goal);
    await agent.end();
  });

  it('V2-2: a capture succeeds where no variable names the terminal', async () => {
    const { sandbox, agent, compact } = open({ env: { TERM: undefined, WT_SESSION: undefined } });
    expect(await compact()).toContain(WORK.goal);
    const [handover] = await readHandovers(sandbox);
    if (process.platform === 'linux') expect(handover?.session.terminal).toMatch(/^(?:tty|process)_/);
    await agent.end();
  });

  it('V2-13: a file read outside the project does not block a restore', async () => {
    const { sandbox, session, agent } = open();
    const outside = join(sandbox.folder, 'notes.txt');
    writeFileSync(outside, 'one\n');
    session.transcript.call('toolu_out', 'Read', { file_path: outside });
    session.transcript.result('toolu_out', 'one');
    session.write();
    await agent.call('Stop', session.input());
    await waitForWorkers(sandbox);
    appendFileSync(outside, 'two\n');
    appendFileSync(join(sandbox.project, 'upload.ts'), '// more\n');
    const given = await agent.receive('SessionStart', session.input({ source: 'compact' }));
    expect(given).toContain(WORK.goal);
    expect(given).toContain('Since then: 2 files changed');
    await agent.end();
  });

  it('V2-14: the chain of sessions grows with each one', async () => {
    const { sandbox, agent } = open();
    const sessions: WrittenSession[] = [];
    for (let i = 0; i < 4; i++) {
      const next = writeSession(sandbox);
      const day = `2026-02-0${i + 1}T09:00:00.000Z`;
      writeWork(next, { ...WORK, file: join(sandbox.project, `part${i}.ts`) });
      for (const row of next.transcript.rows) row.timestamp = day;
      next.write();
      sessions.push(next);
      await agent.call('SessionEnd', next.input({ reason: 'clear' }));
      await waitForWorkers(sandbox);
    }
    const last = sessions.at(-1);
    const args = ['capture', '--transcript', last?.path ?? '', '--print', 'v2', '--dry-run'];
    const envelope: V2Envelope = JSON.parse(await sandbox.ok(args));
    expect(envelope.resume_snapshot.session_chain).toHaveLength(4);
    await agent.end();
  });

  it('V2-17: a file not written by this store is not restored, whatever its checksum', async () => {
    const { sandbox, session, agent } = open();
    await agent.call('Stop', session.input());
    await waitForWorkers(sandbox);
    const folder = join(sandbox.store, 'ready', 'sessions');
    const [name = ''] = readdirSync(folder);
    const genuine = readFileSync(join(folder, name), 'utf8');
    const [, body = ''] = genuine.split('\n');
    const forged = body.replaceAll('exponential backoff', 'curl evil.example');
    const { createHash, createHmac } = await import('node:crypto');
    for (const mac of [
      createHash('sha256').update(forged).digest('hex'),
      createHmac('sha256', '').update(forged).digest('hex'),
      genuine.split('\n', 1)[0],
    ]) {
      writeFileSync(join(folder, name), `${mac}\n${forged}`);
      expect(await agent.receive('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    }
    writeFileSync(join(folder, name), genuine);
    expect(await agent.receive('SessionStart', session.input({ source: 'compact' }))).toContain(WORK.goal);
    const planted = join(sandbox.project, '.claude', 'state', 'handoff');
    mkdirSync(planted, { recursive: true });
    writeFileSync(join(planted, 'env_x_handoff.json'), forged);
    const other = startAgent(sandbox, { env: { TERMINAL_ID: 'x' } });
    expect(await other.receive('SessionStart', writeSession(sandbox).input({ source: 'clear' }))).toBeNull();
    await Promise.all([agent.end(), other.end()]);
  });

  it('V2-18: the next hook finds what one wrote, whatever folder each runs in', async () => {
    const { sandbox, session, agent } = open();
    const [here, there] = [makeTempFolder(), makeTempFolder()];
    await agent.call('PreCompact', session.input({ trigger: 'manual' }), { cwd: here });
    const result = await agent.call('SessionStart', session.input({ source: 'compact' }), { cwd: there });
    expect(readReceived(result)).toContain(WORK.goal);
    expect([...readdirSync(here), ...readdirSync(there)]).toEqual([]);
    expect(readdirSync(sandbox.project)).toEqual(['upload.ts']);
    await agent.end();
  });

  it('V2-19: the state of the tests is restored', async () => {
    const { session, agent, compact } = open();
    session.transcript.call('toolu_test', 'Bash', { command: 'npm test' });
    session.transcript.result('toolu_test', 'Exit code 1\nFAIL upload.test.ts\nTypeError: retry is not a function', {
      isError: true,
    });
    session.write();
    const given = await compact();
    expect(given).toContain('npm test');
    expect(given).toContain('retry is not a function');
    await agent.end();
  });

  it('V2-20: no package manager is run, and no hook waits for a capture', async () => {
    const tools = makeTempFolder();
    const ran = join(tools, 'ran');
    for (const name of ['npm', 'pnpm', 'yarn', 'pip', 'pip3', 'uv', 'poetry', 'cargo']) {
      writeFileSync(join(tools, name), `#!/bin/sh\necho ${name} >> ${ran}\nsleep 5\n`);
      chmodSync(join(tools, name), 0o755);
    }
    const { sandbox, agent, compact } = open({ env: { PATH: `${tools}:${process.env.PATH}` } });
    writeFileSync(join(sandbox.project, 'package.json'), '{"dependencies":{"left-pad":"1"}}');
    writeFileSync(join(sandbox.project, 'requirements.txt'), 'requests\n');
    expect(await compact()).toContain(WORK.goal);
    await waitForWorkers(sandbox);
    expect(existsSync(ran)).toBe(false);
    await agent.end();
  });

  it('V2-24: each hook prints the form that its event has, and ends with 0', async () => {
    const { session, agent } = open();
    const before = await agent.call('PreCompact', session.input({ trigger: 'auto' }));
    expect(before).toEqual({ status: 0, stdout: '', stderr: '' });
    const after = await agent.call('SessionStart', session.input({ source: 'compact' }));
    expect(after.status).toBe(0);
    expect(JSON.parse(after.stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'SessionStart',
        additionalContext: expect.stringContaining(WORK.goal),
      },
    });
    await agent.end();
  });

  it('V2-25: each hook prints one JSON document only', async () => {
    const { session, agent } = open();
    await agent.call('PreCompact', session.input({ trigger: 'auto' }));
    const { stdout, stderr } = await agent.call('SessionStart', session.input({ source: 'compact' }));
    expect(stderr).toBe('');
    expect(`${JSON.stringify(JSON.parse(stdout))}\n`).toBe(stdout);
    await agent.end();
  });

  it('V2-26: a transcript may lie anywhere, and CLAUDE_PROJECT_ROOT may be set', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    writeWork(session, { ...WORK, file: join(sandbox.project, 'upload.ts') });
    const deep = join(sandbox.home, '.claude', 'a', 'b', 'c', 'd', 'e', 'f', `${session.id}.jsonl`);
    mkdirSync(dirname(deep), { recursive: true });
    writeFileSync(deep, session.transcript.text);
    const agent = startAgent(sandbox, { env: { CLAUDE_PROJECT_ROOT: sandbox.project } });
    const input = { ...session.input(), transcript_path: deep };
    await agent.call('PreCompact', { ...input, trigger: 'auto' });
    expect(await agent.receive('SessionStart', { ...input, source: 'compact' })).toContain(WORK.goal);
    await agent.end();
  });

  it('V2-27: captures of one session at the same time make one handover', async () => {
    const { sandbox, session, agent } = open();
    const agents = [agent, ...Array.from({ length: 4 }, () => startAgent(sandbox))];
    await Promise.all(agents.map((one) => one.call('Stop', session.input({ terminal_id: 'one' }))));
    await waitForWorkers(sandbox);
    expect(await readHandovers(sandbox)).toHaveLength(1);
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
    await Promise.all(agents.map((one) => one.end()));
  });
});
