import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { describePlace } from '../../../src/platform/project.ts';
import { HOOK_STATE, openStore } from '../../../src/store/store.ts';
import { Transcript } from '../../fixtures/agents/claude-code.ts';
import { hasProgram, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { installPackage, type PackedPackage } from '../../support/package.ts';
import { saveSample } from '../../support/samples.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';
import { writeText } from '../../support/transcripts.ts';
import { walk } from '../../support/walk.ts';

const NARROW = 60;
const WIDE = 160;
const DOWN = '\u001b[B';
const ENTER = '\r';
const CTRL_C = '\u0003';

/** So long ago everything was made: it is called the same for half an hour, however slow the machine is. */
const AGE_MS = 3.5 * 60 * 60 * 1000;

/** A project with three handovers and a session. */
function makeWork(): Sandbox {
  const sandbox = makeSandbox();
  const then = Date.now() - AGE_MS;
  const place = describePlace('.', sandbox.machine);
  const titles = ['Rewrite the parser of the settings', 'Release notes', 'Make the login page work without cookies'];
  for (const [index, title] of titles.entries()) {
    const store = openStore({ ...sandbox.machine, clock: { now: () => then + index * 1000 } });
    const summary = `${title}\nIt is half done: the tests are there, and what is left is to make all of them pass on every system that we know.`;
    const facts = [
      { kind: 'next' as const, text: `Go on: ${title.toLowerCase()}` },
      { kind: 'decision' as const, text: 'No new dependency, whatever it may promise' },
    ];
    saveSample(store, { title, summary, facts }, place);
  }
  const id = '5b0c7f0e-4b5e-4f0a-9d57-000000000001';
  const transcript = new Transcript({
    cwd: sandbox.project,
    sessionId: id,
    timestamp: new Date(then).toISOString(),
  });
  transcript.human('Find out why the page of the login is shown twice after somebody has logged out, and mend it');
  transcript.call('toolu_1', 'Bash', { command: 'npm test -- --run test/login' });
  transcript.result('toolu_1', '3 passed');
  transcript.say('It was the cookie: it is set before the redirect.');
  const path = writeText(join(sandbox.home, `.claude/projects/-p/${id}.jsonl`), transcript.text);
  utimesSync(path, then / 1000, then / 1000);
  return sandbox;
}

let sandbox: Sandbox;

beforeAll(() => {
  sandbox = makeWork();
});

describe.runIf(hasTerminal)('what a person sees in a terminal', { timeout: 180_000 }, () => {
  it.each([NARROW, WIDE])('of lists and briefs, %i columns wide', async (columns) => {
    for (const [name, args] of [
      ['list', ['list']],
      ['sessions', ['sessions']],
      ['session', ['sessions', '5b0c']],
      ['search', ['search', 'parser']],
      ['nothing', ['search', 'zzzz']],
      ['timeline', ['timeline']],
      ['debt', ['debt']],
      ['show', ['show']],
      ['render', ['render']],
      ['missing', ['show', 'zzzz']],
    ] as const) {
      const shown = await walk(sandbox, { name: `${name}-${columns}`, args, columns, rows: 100 });
      expect(shown, name).not.toBe('');
    }
  });

  it.each([NARROW, WIDE])('of select, typing, %i columns wide', async (columns) => {
    const keys = [
      { after: 'Rewrite the parser', type: DOWN },
      { after: 'Release notes', type: 'l' },
      { after: 'Search:', type: 'ogpa' },
      { after: 'logpa', type: ENTER },
    ];
    await walk(sandbox, { name: `select-${columns}`, args: ['select'], columns, keys });
  });

  it('of select when nothing matches, and when it is cancelled', async () => {
    const keys = [
      { after: 'Rewrite the parser', type: 'zzz' },
      { after: 'No matches', type: ENTER },
      { after: 'Nothing matches', type: CTRL_C },
    ];
    await walk(sandbox, { name: 'select-cancelled', args: ['select'], columns: NARROW, keys });
  });

  it('of select without colours', async () => {
    const { terminal } = await runInTerminal(sandbox, ['select'], {
      env: { NO_COLOR: '1' },
      keys: [{ after: 'Rewrite the parser', type: CTRL_C }],
    });
    expect(terminal).not.toMatch(/\u001b\[[\d;]*m/);
  });

  it('of doctor: how far it is, and then only what it found', async () => {
    const own = makeSandbox();
    await own.save('Something');
    const folder = join(own.store, HOOK_STATE, 'many');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (let i = 0; i < 30_000; i++) writeFileSync(join(folder, `${i}`), '', { mode: 0o600 });
    const shown = await walk(own, { name: 'doctor', args: ['doctor'], columns: 100 });
    const counts = [...shown.matchAll(/checking (\d+) of (\d+)/g)].map(([, done, total]) => [
      Number(done),
      Number(total),
    ]);
    expect(counts.length).toBeGreaterThan(0);
    expect(counts.map(([done]) => done)).toEqual(counts.map(([done]) => done).sort((a = 0, b = 0) => a - b));
    expect(new Set(counts.map(([done]) => done)).size).toBe(counts.length);
    expect(new Set(counts.map(([, total]) => total)).size).toBe(1);
  });
});

const TAB = '\t';

describe.runIf(hasTerminal)('what a newcomer sees in a terminal', { timeout: 180_000 }, () => {
  const newcomer = makeSandbox();
  const prefix = join(newcomer.folder, 'prefix');
  let env: Record<string, string | undefined> = {};

  let packed: PackedPackage;

  beforeAll(() => {
    for (const folder of [prefix, join(newcomer.home, '.claude'), join(newcomer.home, '.codex')]) mkdirSync(folder);
    packed = installPackage(prefix);
    // Beside Node there may be agents.
    symlinkSync(process.execPath, join(packed.programs, 'node'));
    env = { PATH: `${packed.programs}:/usr/bin:/bin` };
  }, 120_000);

  it('of the installation from the tarball', async () => {
    const args = packed.install.map((word) => (word === prefix ? `${prefix}-2` : word));
    const typed = 'npm install --global agent-handover.tgz';
    await walk(newcomer, { name: 'install', typed, program: ['npm'], args, columns: 80, env: packed.env });
  });

  it('of the first call, and of init: ticking, and Ctrl-C', async () => {
    const program = ['handover'];
    await walk(newcomer, { name: 'first-call', typed: 'handover', program, args: [], columns: 80, env });
    const asked = 'What should be set up';
    const init = { program, args: ['init'], columns: 200, env };
    await walk(newcomer, { ...init, name: 'init-cancelled', columns: 48, keys: [{ after: asked, type: CTRL_C }] });
    const keys = [
      { after: asked, type: DOWN },
      { after: 'Codex', type: ' ' },
      { after: 'Codex', type: DOWN },
      { after: 'lines', type: ' ' },
      { after: 'lines', type: ENTER },
    ];
    await walk(newcomer, { ...init, name: 'init', keys });
    await walk(newcomer, { name: 'init-removed', program, args: ['init', '--remove'], columns: 200, env });
  });

  it('of Ctrl-C while a command waits for its input', async () => {
    const keys = [{ after: 'Connection', type: CTRL_C }];
    const { status, terminal } = await runInTerminal(newcomer, ['errors', '-'], {
      keys: [{ after: '', type: 'Connection refused\r' }, ...keys],
      program: ['handover'],
      env,
    });
    expect([status, terminal]).toEqual([-2, 'Connection refused\r\n^C']);
  });

  const START = {
    bash: `PS1='bash> '; bind 'set enable-bracketed-paste off'; bind 'set page-completions off'; unset HISTFILE
. <(handover completions bash)`,
    zsh: `PS1='zsh> '; unsetopt prompt_sp; unset zle_bracketed_paste
autoload -Uz compinit; compinit -D -u
. <(handover completions zsh)`,
  };

  for (const shell of ['bash', 'zsh'] as const)
    it.runIf(hasProgram(shell, '--version'))(`of completions in ${shell}`, async () => {
      const file = join(newcomer.home, shell === 'zsh' ? '.zshrc' : 'bashrc');
      writeFileSync(file, START[shell]);
      const program = shell === 'zsh' ? ['zsh', '-i'] : ['bash', '--noprofile', '--rcfile', file, '-i'];
      const listing = shell === 'zsh' ? TAB : `${TAB}${TAB}`;
      const keys = [
        { after: `${shell}> `, type: `handover ke${TAB}` },
        { after: 'eys', type: listing },
        { after: 'revoke', type: `l${TAB}` },
        { after: 'ist', type: ENTER },
        { after: 'no key is trusted yet', type: `handover list --age${TAB}` },
        { after: 'nt', type: `co${listing}` },
        { after: 'copilot', type: CTRL_C },
        { after: `${shell}> `, type: `exit${ENTER}` },
      ];
      await walk(newcomer, { name: `completions-${shell}`, typed: shell, program, args: [], columns: 80, keys, env });
    });
});
