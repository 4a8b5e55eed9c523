import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';

describe('the exit status', () => {
  it('is 0, with a sentence, when nothing matches', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('Something', '--decision', 'Use tabs');
    mkdirSync(join(sandbox.project, 'empty'));
    for (const args of [
      ['list', '--query', 'zzzz'],
      ['list', '--id', '1999'],
      ['search', 'zzzz'],
      ['search', 'tabs', '--kind', 'error'],
      ['sessions', '--since', '1h'],
      ['why', 'zzzz.ts'],
      ['errors', 'zzzz: nobody saw this'],
      ['files'],
      ['timeline', '--project', 'empty'],
      ['debt', '--project', 'empty'],
      ['snapshot', '--earlier'],
      ['compact'],
      ['backfill', '--dry-run'],
    ]) {
      const { status, stdout, stderr } = await sandbox.run(args);
      expect([args, status]).toEqual([args, 0]);
      expect(`${stdout}${stderr}`, args.join(' ')).toMatch(/\b(?:no|nothing|not|every)\b/);
      const json = await sandbox.run([...args, '--json']);
      expect([args, json.status]).toEqual([args, 0]);
    }
  });

  it('is 66 when a thing that was named is not there', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('Something');
    for (const args of [
      ['show', 'zzzz'],
      ['show', 'latest', '--events', 'f-zzzzzzzz'],
      ['render', '19990101'],
      ['diff', '19990101'],
      ['sessions', 'zzzz'],
      ['capture', '--session', 'zzzz'],
      ['capture', '--transcript', 'zzzz.jsonl'],
      ['to', 'codex', '--from', 'zzzz', '--print'],
      ['export', '--id', '19990101', '--dry-run'],
      ['import', 'zzzz.handover'],
      ['forget', 'zzzz'],
      ['forget', '--session', 'zzzz'],
      ['pin', 'nobody said this'],
      ['pin', 'f-1', '--in', 'zzzz'],
      ['keys', 'revoke', 'nobody'],
      ['redact', 'zzzz.txt'],
      ['save', 'x', '--project', 'zzzz'],
      ['sessions', '--project', 'zzzz'],
      ['list', '--project', 'zzzz'],
      ['list', '--project', 'p-0000000000000000'],
      ['search', 'x', '--project', 'zzzz'],
      ['timeline', '--project', 'zzzz'],
      ['select', '--print-id', '--query', 'zzzz'],
      ['select', '--agent', 'nobody'],
      ['backfill', '--project', 'zzzz'],
      ['push', 'zzzz'],
      ['snapshot', 'zzzz'],
      ['migrate', '--from', 'zzzz'],
      ['migrate', '--workspace', 'zzzz'],
      ['run', '--config', 'zzzz.toml', '--note', 'x'],
    ]) {
      const { status, stderr } = await sandbox.run(args);
      expect([args, status, stderr]).toEqual([args, 66, expect.stringMatching(/^error: .*\n {2}next: /s)]);
    }
  });

  it('is 66 for a project that nobody knows, with the names that are near', async () => {
    const sandbox = makeSandbox();
    const none = await sandbox.run(['list', '--project', 'shop']);
    expect([none.status, none.stderr]).toEqual([66, expect.stringContaining('No project has a handover yet')]);
    mkdirSync(join(sandbox.folder, 'Webshop'));
    await sandbox.save('Something', '--project', join(sandbox.folder, 'Webshop'));
    for (const command of ['list', 'select', 'timeline', 'files']) {
      const { status, stdout, stderr } = await sandbox.run([command, '--project', 'wbeshop']);
      expect([command, status, stdout, stderr]).toEqual([command, 66, '', expect.stringContaining('mean: Webshop?')]);
    }
    expect((await sandbox.run(['search', 'x', '--project', 'qqqq'])).stderr).toContain('handovers: Webshop\n');
    expect(await sandbox.ok(['list', '--project', 'Webshop'])).toContain('Something');
  });

  it.runIf(hasTerminal)('is 130 when the user cancels, whatever was asked', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('Something');
    await sandbox.ok(['keys', 'generate', '--name', 'me']);
    const bundle = join(sandbox.folder, 'work.handover');
    await sandbox.ok(['export', '--sign', '--output', bundle]);
    const other = makeSandbox();
    for (const [where, args, question] of [
      [sandbox, ['select'], 'Something'],
      [sandbox, ['export', '--ask-passphrase', '--output', `${bundle}2`], 'Passphrase'],
      [other, ['import', bundle], 'Trust this key'],
    ] as const)
      for (const key of ['\u0003', '\u001b']) {
        const { status, terminal } = await runInTerminal(where, args, {
          quietMs: 100,
          keys: [{ after: question, type: key }],
        });
        expect([args, JSON.stringify(key), status]).toEqual([args, JSON.stringify(key), 130]);
        expect(terminal).toContain('cancelled: ');
      }
  });
});

describe('the block that init writes for agents', () => {
  it('asks for nothing that ends in a failure', async () => {
    const sandbox = makeSandbox();
    mkdirSync(join(sandbox.home, '.codex'));
    await sandbox.ok(['init', '--no-hooks', '--blocks']);
    await captureWork(sandbox, { day: 1, steps: [{ ask: 'Fix the login' }, { say: 'Done.' }] });
    const block = readFileSync(join(sandbox.project, 'AGENTS.md'), 'utf8');
    const commands = [...block.matchAll(/`handover ([^`]+)`/g)].map(([, words = '']) =>
      (words.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', '')),
    );
    expect(commands.length).toBeGreaterThan(1);
    for (const again of ['first', 'second'])
      for (const args of commands) expect([again, args, (await sandbox.run(args)).status]).toEqual([again, args, 0]);
  });
});
