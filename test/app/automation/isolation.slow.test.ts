import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox, makeTempFolder, runGit, type Sandbox } from '../../support/cli.ts';
import {
  type RunningAgent,
  startAgent,
  type WrittenSession,
  waitForWorkers,
  writeSession,
  writeWork,
} from '../../support/hooks.ts';

function openSandbox(settings = ''): Sandbox {
  const sandbox = makeSandbox();
  runGit(sandbox.project, 'init', '--quiet');
  runGit(sandbox.project, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  if (settings !== '') writeUserSettings(sandbox, settings);
  return sandbox;
}

function writeUserSettings(sandbox: Sandbox, text: string): void {
  const folder = join(sandbox.home, '.config', 'agent-handover');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.toml'), text);
}

async function workOn(sandbox: Sandbox, goal: string, cwd = sandbox.project): Promise<[RunningAgent, WrittenSession]> {
  const agent = startAgent(sandbox);
  const session = writeSession(sandbox, { cwd });
  await agent.call('SessionStart', session.input({ source: 'startup' }));
  writeWork(session, {
    goal,
    file: join(cwd, 'one.ts'),
    decision: 'We keep the old name because others use it.',
  });
  await agent.call('Stop', session.input());
  await waitForWorkers(sandbox);
  return [agent, session];
}

const BRIEFS = '[restore]\nstartup = "brief"\n';

describe('two parallel sessions', () => {
  it('in two terminals of one worktree never get each other’s brief', async () => {
    const sandbox = openSandbox(BRIEFS);
    const [first, one] = await workOn(sandbox, 'Make the upload retry');
    const [second, two] = await workOn(sandbox, 'Write the sitemap anew');
    // The one that was captured last would be delivered to a new session, were it not running.
    const third = startAgent(sandbox);
    expect(await third.receive('SessionStart', writeSession(sandbox).input({ source: 'startup' }))).toBeNull();
    for (const [agent, session, own, other] of [
      [first, one, 'Make the upload retry', 'sitemap'],
      [second, two, 'Write the sitemap anew', 'upload'],
    ] as const) {
      await agent.call('PreCompact', session.input({ trigger: 'auto' }));
      const compacted = await agent.receive('SessionStart', session.input({ source: 'compact' }));
      expect(compacted).toContain(own);
      expect(compacted).not.toContain(other);
      await agent.call('SessionEnd', session.input({ reason: 'clear' }));
      const cleared = await agent.receive('SessionStart', writeSession(sandbox).input({ source: 'clear' }));
      expect(cleared).toContain(own);
      expect(cleared).not.toContain(other);
    }
    await Promise.all([first.end(), second.end(), third.end()]);
  });

  it('in two worktrees of one repository never get each other’s brief', async () => {
    const sandbox = openSandbox(BRIEFS);
    const worktree = join(makeTempFolder(), 'second');
    runGit(sandbox.project, 'worktree', 'add', '--quiet', worktree);
    const [agent, session] = await workOn(sandbox, 'Make the upload retry');
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await waitForWorkers(sandbox);
    const there = startAgent(sandbox);
    const next = writeSession(sandbox, { cwd: worktree });
    expect(await there.receive('SessionStart', next.input({ source: 'startup' }))).toBeNull();
    expect(
      await there.receive('SessionStart', writeSession(sandbox, { cwd: worktree }).input({ source: 'clear' })),
    ).toBeNull();
    const here = startAgent(sandbox);
    const sub = join(sandbox.project, 'src');
    mkdirSync(sub);
    const given = await here.receive('SessionStart', writeSession(sandbox, { cwd: sub }).input({ source: 'startup' }));
    expect(given).toContain('Make the upload retry');
    await Promise.all([there.end(), here.end()]);
  });
});

describe('automation that is disabled', () => {
  it.each<[string, (sandbox: Sandbox) => void]>([
    ['the user, in settings', (sandbox) => writeUserSettings(sandbox, '[hooks]\nenabled = false\n')],
    ['a settings file that cannot be read', (sandbox) => writeUserSettings(sandbox, '[hooks\n')],
    [
      'the project, in its settings',
      (sandbox) => {
        mkdirSync(join(sandbox.project, '.agent-handover'));
        writeFileSync(join(sandbox.project, '.agent-handover', 'config.toml'), 'hooks = { enabled = false }\n');
      },
    ],
    [
      'the project, with a PAUSE file',
      (sandbox) => {
        mkdirSync(join(sandbox.project, '.agent-handover'));
        writeFileSync(join(sandbox.project, '.agent-handover', 'PAUSE'), '');
      },
    ],
    [
      'the user, with a PAUSE file',
      (sandbox) => {
        mkdirSync(join(sandbox.home, '.agent_handover'));
        writeFileSync(join(sandbox.home, '.agent_handover', 'PAUSE'), '');
      },
    ],
    [
      'the user, with a configured pause file',
      (sandbox) => {
        mkdirSync(join(sandbox.home, '.config', 'agent-handover'), { recursive: true });
        writeFileSync(
          join(sandbox.home, '.config', 'agent-handover', 'config.toml'),
          '[handover]\npause_file = "~/pausing"\n',
        );
        writeFileSync(join(sandbox.home, 'pausing'), '');
      },
    ],
  ])('by %s captures nothing and delivers nothing', async (_, switchOff) => {
    const sandbox = openSandbox();
    switchOff(sandbox);
    const [agent, session] = await workOn(sandbox, 'Make the upload retry');
    expect(await agent.receive('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    expect(await sandbox.json<unknown[]>(['list'])).toEqual([]);
    await agent.end();
  });

  it('by the user cannot be enabled by a project', async () => {
    const sandbox = openSandbox();
    mkdirSync(join(sandbox.project, '.agent-handover'));
    const settings = join(sandbox.project, '.agent-handover', 'config.toml');
    writeFileSync(settings, BRIEFS);
    const [agent, session] = await workOn(sandbox, 'Make the upload retry');
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await waitForWorkers(sandbox);
    const start = async (): Promise<string | null> => {
      const next = startAgent(sandbox);
      const given = await next.receive('SessionStart', writeSession(sandbox).input({ source: 'startup' }));
      await next.end();
      return given;
    };
    expect(await start()).toContain('an earlier session here');
    writeFileSync(settings, '[restore]\nstartup = "off"\n');
    expect(await start()).toBeNull();
  });

  it.each([
    ['by a timer of the agent', { source: 'schedule_wakeup', prompt: 'look again' }, {}],
    ['on a build server', { source: 'startup' }, { CI: 'true' }],
    ['for a sub-agent', { source: 'startup', agent_id: 'a1' }, {}],
  ])('delivers nothing to a session started %s', async (_, more, env) => {
    const sandbox = openSandbox(BRIEFS);
    const [agent, session] = await workOn(sandbox, 'Make the upload retry');
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await waitForWorkers(sandbox);
    const next = startAgent(sandbox, { env });
    const event = 'prompt' in more ? 'UserPromptSubmit' : 'SessionStart';
    expect(await next.receive(event, writeSession(sandbox).input(more))).toBeNull();
    await next.end();
  });
});
