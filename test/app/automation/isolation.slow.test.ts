import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, makeDesk, makeTempFolder, runGit } from '../../support/cli.ts';
import {
  type RunningAgent,
  settle,
  startAgent,
  tellWork,
  type WrittenSession,
  writeSession,
} from '../../support/hooks.ts';

function openDesk(settings = ''): Desk {
  const desk = makeDesk();
  runGit(desk.project, 'init', '--quiet');
  runGit(desk.project, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  if (settings !== '') writeUserSettings(desk, settings);
  return desk;
}

function writeUserSettings(desk: Desk, text: string): void {
  const folder = join(desk.home, '.config', 'agent-handover');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.toml'), text);
}

async function workOn(desk: Desk, goal: string, cwd = desk.project): Promise<[RunningAgent, WrittenSession]> {
  const agent = startAgent(desk);
  const session = writeSession(desk, { cwd });
  await agent.call('SessionStart', session.input({ source: 'startup' }));
  tellWork(session, {
    goal,
    file: join(cwd, 'one.ts'),
    decision: 'We keep the old name because others use it.',
  });
  await agent.call('Stop', session.input());
  await settle(desk);
  return [agent, session];
}

const BRIEFS = '[restore]\nstartup = "brief"\n';

describe('two parallel sessions', () => {
  it('in two terminals of one worktree never get each other’s brief', async () => {
    const desk = openDesk(BRIEFS);
    const [first, one] = await workOn(desk, 'Make the upload retry');
    const [second, two] = await workOn(desk, 'Write the sitemap anew');
    // The one that was captured last is what a new session would be given, were it not running.
    const third = startAgent(desk);
    expect(await third.given('SessionStart', writeSession(desk).input({ source: 'startup' }))).toBeNull();
    for (const [agent, session, own, other] of [
      [first, one, 'Make the upload retry', 'sitemap'],
      [second, two, 'Write the sitemap anew', 'upload'],
    ] as const) {
      await agent.call('PreCompact', session.input({ trigger: 'auto' }));
      const compacted = await agent.given('SessionStart', session.input({ source: 'compact' }));
      expect(compacted).toContain(own);
      expect(compacted).not.toContain(other);
      await agent.call('SessionEnd', session.input({ reason: 'clear' }));
      const cleared = await agent.given('SessionStart', writeSession(desk).input({ source: 'clear' }));
      expect(cleared).toContain(own);
      expect(cleared).not.toContain(other);
    }
    await Promise.all([first.end(), second.end(), third.end()]);
  });

  it('in two worktrees of one repository never get each other’s brief', async () => {
    const desk = openDesk(BRIEFS);
    const worktree = join(makeTempFolder(), 'second');
    runGit(desk.project, 'worktree', 'add', '--quiet', worktree);
    const [agent, session] = await workOn(desk, 'Make the upload retry');
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await settle(desk);
    const there = startAgent(desk);
    const next = writeSession(desk, { cwd: worktree });
    expect(await there.given('SessionStart', next.input({ source: 'startup' }))).toBeNull();
    expect(
      await there.given('SessionStart', writeSession(desk, { cwd: worktree }).input({ source: 'clear' })),
    ).toBeNull();
    const here = startAgent(desk);
    const sub = join(desk.project, 'src');
    mkdirSync(sub);
    const given = await here.given('SessionStart', writeSession(desk, { cwd: sub }).input({ source: 'startup' }));
    expect(given).toContain('Make the upload retry');
    await Promise.all([there.end(), here.end()]);
  });
});

describe('automation that is disabled', () => {
  it.each<[string, (desk: Desk) => void]>([
    ['the user, in settings', (desk) => writeUserSettings(desk, '[hooks]\nenabled = false\n')],
    ['a settings file that cannot be read', (desk) => writeUserSettings(desk, '[hooks\n')],
    [
      'the project, in its settings',
      (desk) => {
        mkdirSync(join(desk.project, '.agent-handover'));
        writeFileSync(join(desk.project, '.agent-handover', 'config.toml'), 'hooks = { enabled = false }\n');
      },
    ],
    [
      'the project, with a PAUSE file',
      (desk) => {
        mkdirSync(join(desk.project, '.agent-handover'));
        writeFileSync(join(desk.project, '.agent-handover', 'PAUSE'), '');
      },
    ],
    [
      'the user, with a PAUSE file',
      (desk) => {
        mkdirSync(join(desk.home, '.agent_handover'));
        writeFileSync(join(desk.home, '.agent_handover', 'PAUSE'), '');
      },
    ],
    [
      'the user, with a configured pause file',
      (desk) => {
        mkdirSync(join(desk.home, '.config', 'agent-handover'), { recursive: true });
        writeFileSync(
          join(desk.home, '.config', 'agent-handover', 'config.toml'),
          '[handover]\npause_file = "~/brake"\n',
        );
        writeFileSync(join(desk.home, 'brake'), '');
      },
    ],
  ])('by %s captures nothing and delivers nothing', async (_, switchOff) => {
    const desk = openDesk();
    switchOff(desk);
    const [agent, session] = await workOn(desk, 'Make the upload retry');
    expect(await agent.given('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    expect(await desk.json<unknown[]>(['list'])).toEqual([]);
    await agent.end();
  });

  it('by the user cannot be enabled by a project', async () => {
    const desk = openDesk();
    mkdirSync(join(desk.project, '.agent-handover'));
    const settings = join(desk.project, '.agent-handover', 'config.toml');
    writeFileSync(settings, BRIEFS);
    const [agent, session] = await workOn(desk, 'Make the upload retry');
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await settle(desk);
    const start = async (): Promise<string | null> => {
      const next = startAgent(desk);
      const given = await next.given('SessionStart', writeSession(desk).input({ source: 'startup' }));
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
    const desk = openDesk(BRIEFS);
    const [agent, session] = await workOn(desk, 'Make the upload retry');
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await settle(desk);
    const next = startAgent(desk, { env });
    const event = 'prompt' in more ? 'UserPromptSubmit' : 'SessionStart';
    expect(await next.given(event, writeSession(desk).input(more))).toBeNull();
    await next.end();
  });
});
