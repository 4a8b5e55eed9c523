import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { declareHandover } from '../../../src/handover/declare.ts';
import { sealHandover } from '../../../src/handover/seal.ts';
import type { Handover } from '../../../src/model/handover.ts';
import { formatTimestamp } from '../../../src/model/time.ts';
import { saveHandover } from '../../../src/store/handovers.ts';
import { openStore } from '../../../src/store/store.ts';
import { captureWork } from '../../support/captured-work.ts';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { makeDeclaration, PLACE } from '../../support/samples.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';

describe('an id', () => {
  it('can be given by its last four characters, or more of its end', async () => {
    const sandbox = makeSandbox();
    const [one, two] = [await sandbox.save('One thing'), await sandbox.save('Another thing')];
    expect((await sandbox.json<Handover>(['show', one.slice(-4)])).title).toBe('One thing');
    expect((await sandbox.json<Handover>(['show', two.slice(-11).toUpperCase()])).title).toBe('Another thing');
    const { first, second } = await sandbox.json<{ first: Handover; second: Handover }>([
      'diff',
      one.slice(-4),
      two.slice(-4),
    ]);
    expect([first.id, second.id]).toEqual([one, two]);
    for (const words of [one.slice(-3), 'zzzz', `${one.slice(-4)}x`])
      expect((await sandbox.run(['show', words])).status, words).toBe(66);
    await sandbox.ok(['forget', one.slice(-4)]);
    expect((await sandbox.run(['show', one])).status).toBe(66);
  });

  it('that ends like another is not guessed', async () => {
    const sandbox = makeSandbox();
    const store = openStore(sandbox.machine);
    const ids = ['20260101-120000-abcd', '20260102-120000-abcd'];
    for (const id of ids) {
      const at = `${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6, 8)}T12:00:00.000Z`;
      const created = { id, created_at: formatTimestamp(Date.parse(at)) };
      saveHandover(store, () =>
        sealHandover({ ...declareHandover(makeDeclaration(), PLACE, store.machine), ...created }),
      );
    }
    const result = await sandbox.run(['show', 'abcd', '--json']);
    expect([result.status, errorCode(result)]).toEqual([64, 'HANDOVER_ID_AMBIGUOUS']);
    const candidates: string[] = JSON.parse(result.stderr).error.candidates;
    expect(candidates.sort()).toEqual(ids);
    expect((await sandbox.run(['show', 'abcd'])).stderr).toContain('"abcd" is the end of more than one id');
  });

  it('of a session can be given by its end too', async () => {
    const sandbox = makeSandbox();
    const { session } = await captureWork(sandbox, { day: 7, steps: [{ ask: 'Fix the login' }, { say: 'Done.' }] });
    expect(await sandbox.json(['sessions', '0007'])).toMatchObject({ id: session.id, title: 'Fix the login' });
    expect((await sandbox.json<Handover>(['capture', '--session', '0007'])).session.id).toBe(session.id);
  });
});

describe('handover save', () => {
  it('takes a text, whose first line is the title', async () => {
    const sandbox = makeSandbox();
    const id = await sandbox.save('Login works\nThe page is still to do.', '--next', 'Write the page');
    expect(await sandbox.json(['show', id])).toMatchObject({
      title: 'Login works',
      summary: 'Login works\nThe page is still to do.',
      facts: [{ kind: 'next', text: 'Write the page' }],
    });
    expect((await sandbox.json<Handover>(['show', await sandbox.save('several', 'words')])).title).toBe(
      'several words',
    );
    const piped = await sandbox.json<{ id: string }>(['save', '-'], { input: 'From a pipe\nand more' });
    expect((await sandbox.json<Handover>(['show', piped.id])).title).toBe('From a pipe');
  });

  it('needs no more than what to do next', async () => {
    const sandbox = makeSandbox();
    const saved = await sandbox.json<Handover>(['show', await sandbox.save('--next', 'Write tests\nfor all of it')]);
    expect([saved.title, saved.summary, saved.facts[0]?.kind]).toEqual(['Write tests', '', 'next']);
  });
});

describe('handover import', () => {
  it('takes the file by itself', async () => {
    const [alice, bob] = [makeSandbox(), makeSandbox()];
    const id = await alice.save('Theirs');
    const path = join(alice.folder, 'work.handover');
    await alice.ok(['export', '--output', path]);
    await bob.ok(['import', path, '--allow-unsigned']);
    expect((await bob.json<Handover>(['show', id])).title).toBe('Theirs');
    const both = await bob.run(['import', path, '--input', path, '--json']);
    const none = await bob.run(['import', '--json']);
    expect([both, none].map((result) => [result.status, errorCode(result)])).toEqual([
      [64, 'HANDOVER_USAGE'],
      [64, 'HANDOVER_USAGE'],
    ]);
  });
});

describe('an agent', () => {
  it('can be called as people call it, wherever one is named', async () => {
    const sandbox = makeSandbox();
    mkdirSync(join(sandbox.home, '.claude'));
    const { id } = await captureWork(sandbox, { day: 1, steps: [{ ask: 'Fix the login' }, { say: 'Done.' }] });
    const claude = ['--agent', 'claude'];
    for (const command of [['list'], ['sessions'], ['files'], ['backfill', '--dry-run'], ['hooks', 'status']]) {
      const named = await sandbox.json([...command, ...claude]);
      expect([command, named]).toEqual([command, await sandbox.json([...command, '--agent', 'claude-code'])]);
    }
    expect(await sandbox.json<{ id: string }[]>(['list', ...claude])).toMatchObject([{ id }]);
    expect(await sandbox.ok(['search', 'login', '--agent', 'Claude'])).toContain(id);
    expect(await sandbox.json(['render', '--target', 'claude'])).toMatchObject({ target: 'claude-code' });
    expect(await sandbox.json(['to', 'gemini-cli'])).toMatchObject({ agent: 'gemini' });
    expect(await sandbox.ok(['hooks', 'install', ...claude, '--dry-run'])).toContain('claude-code');
    const saved = await sandbox.json<Handover>(['show', await sandbox.save('Mine', ...claude)]);
    expect(saved.session.agent).toBe('claude-code');
    for (const name of ['codex-cli', 'gemini', 'qwen-code', 'copilot-cli', 'github-copilot'])
      expect((await sandbox.run(['sessions', '--agent', name])).status, name).toBe(0);
    expect((await sandbox.run(['sessions', '--agent', 'claudia'])).status).toBe(64);
  });
});

describe('handover render --copy', () => {
  function installCopier(sandbox: Sandbox, name: string, script: string): void {
    const path = join(sandbox.folder, 'bin', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  const pathOf = (sandbox: Sandbox): string => `${join(sandbox.folder, 'bin')}:/usr/bin:/bin`;

  it('gives the brief to the program of the display, and to the next when one fails', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('Copy this ü');
    const copied = join(sandbox.folder, 'copied');
    installCopier(sandbox, 'wl-copy', `cat > ${copied}`);
    const env = { PATH: pathOf(sandbox), WAYLAND_DISPLAY: 'wayland-0' };
    const { status, stdout, stderr } = await sandbox.run(['render', '--copy'], { env });
    expect([status, stdout, stderr]).toEqual([
      0,
      '',
      expect.stringMatching(/^copied .* by wl-copy: about \d+ tokens\n$/),
    ]);
    const printed = await sandbox.ok(['render']);
    expect(readFileSync(copied, 'utf8')).toBe(printed);
    installCopier(sandbox, 'wl-copy', 'exit 1');
    installCopier(sandbox, 'xsel', `echo "$@" > ${copied}; cat >> ${copied}`);
    await sandbox.ok(['render', '--copy'], { env: { ...env, DISPLAY: ':0' } });
    expect(readFileSync(copied, 'utf8')).toBe(`--clipboard --input\n${printed}`);
  });

  it('says what to install where nothing can copy', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('Copy this');
    const { status, stdout, stderr } = await sandbox.run(['render', '--copy'], { env: { PATH: pathOf(sandbox) } });
    expect([status, stdout]).toEqual([69, '']);
    expect(stderr).toContain('nothing here can copy to the clipboard');
    expect(stderr).toContain('xclip');
  });

  it.runIf(hasTerminal)('else asks the terminal to copy it', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('Copy this');
    const { status, stdout, terminal } = await runInTerminal(sandbox, ['render', '--copy'], {
      pipeOutput: true,
      env: { PATH: pathOf(sandbox) },
    });
    const [, sent = ''] = terminal.split('\u001b]52;c;').map((part) => part.split('\u0007')[0]);
    expect([status, stdout]).toEqual([0, '']);
    expect(Buffer.from(sent, 'base64').toString('utf8')).toBe(await sandbox.ok(['render']));
    expect(terminal).toContain('by the terminal');
  });
});
