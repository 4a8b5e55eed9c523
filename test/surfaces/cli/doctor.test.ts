import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examineStore } from '../../../src/store/doctor/doctor.ts';
import { openStore } from '../../../src/store/store.ts';
import { makeSandbox } from '../../support/cli.ts';
import { examine, makeStore } from '../../support/doctor.ts';
import { snapshotTree } from '../../support/tree.ts';

describe('handover doctor', () => {
  it('reports a healthy store, and changes no handover and no journal', async () => {
    const { sandbox } = await makeStore();
    const before = [snapshotTree(join(sandbox.store, 'handovers')), snapshotTree(join(sandbox.store, 'journal'))];
    const text = await sandbox.ok(['doctor']);
    expect(text).toContain('3 of 3 handovers intact, 3 journal entries');
    expect(text).toMatch(/all is well with what is stored\n$/);
    const report = await sandbox.json(['doctor', '--fix']);
    expect(Object.keys(report)).toEqual([
      'root',
      'handovers',
      'intact',
      'newer',
      'sqlite',
      'findings',
      'transcripts',
      'hooks',
      'journal_entries',
    ]);
    expect(report).toMatchObject({
      root: sandbox.store,
      handovers: 3,
      intact: 3,
      journal_entries: 3,
      findings: [],
    });
    expect([snapshotTree(join(sandbox.store, 'handovers')), snapshotTree(join(sandbox.store, 'journal'))]).toEqual(
      before,
    );
    expect(await makeSandbox().ok(['doctor'])).toContain('0 of 0 handovers intact');
  });

  it('calls all well only where hooks capture', async () => {
    const sandbox = makeSandbox();
    mkdirSync(join(sandbox.home, '.claude'));
    expect(await sandbox.ok(['doctor'])).toMatch(/hooks +none.*\nall is well with what is stored\n$/);
    await sandbox.ok(['init', '--yes']);
    expect(await sandbox.ok(['doctor'])).toMatch(/\nall is well\n$/);
  });

  it('names the agents that have hooks, and how to get them where none has', async () => {
    const sandbox = makeSandbox();
    mkdirSync(join(sandbox.home, '.claude'));
    expect(await sandbox.ok(['doctor'])).toMatch(/^hooks +none, .*handover init$/m);
    await sandbox.ok(['init', '--yes']);
    expect(await sandbox.ok(['doctor'])).toMatch(/^hooks +Claude Code$/m);
  });

  it('exits with 65 for a missing handover, which it cannot restore', async () => {
    const { sandbox, path } = await makeStore();
    rmSync(path);
    const { status, codes, report } = await examine(sandbox, '--fix');
    expect([status, codes]).toEqual([65, ['missing-handover']]);
    expect(report.findings[0]).toMatchObject({ path, level: 'damage', fixed: false, remedy: null });
  });

  it('counts what it has checked, up to all of it', async () => {
    const { sandbox } = await makeStore();
    const counts: [number, number][] = [];
    await examineStore(openStore(sandbox.machine), (done, total) => void counts.push([done, total]));
    const total = counts.length;
    expect(total).toBeGreaterThan(3);
    expect(counts).toEqual(counts.map((_, index) => [index + 1, total]));
  });

  it('warns of hooks that are gone, turned off or in a file that cannot be read, with the command that mends it', async () => {
    const sandbox = makeSandbox();
    const settings = join(sandbox.home, '.claude/settings.json');
    mkdirSync(join(sandbox.home, '.claude'));
    expect((await examine(sandbox)).codes).toEqual([]);
    await sandbox.ok(['hooks', 'install']);
    const installed = readFileSync(settings, 'utf8');
    const mended = 'handover hooks install --agent claude-code';
    const { SessionStart: _, ...some } = JSON.parse(installed).hooks;
    for (const [text, code, words] of [
      ['{}', 'missing-hook', `lacks the hooks of Claude Code; put back: ${mended}`],
      [JSON.stringify({ hooks: some }), 'missing-hook', `lacks some hooks of Claude Code; put back: ${mended}`],
      ['{"hooks": ', 'unreadable-hooks', `mend that, then: ${mended}`],
      [installed.replace('{', '{ "disableAllHooks": true,'), 'hooks-off', 'turns all hooks of Claude Code off'],
    ] as const) {
      writeFileSync(settings, text);
      const { status, codes, report } = await examine(sandbox);
      expect([status, codes, report.findings[0]?.message]).toEqual([0, [code], expect.stringContaining(words)]);
      expect(report.findings[0]).toMatchObject({ path: settings, level: 'warning' });
    }
    rmSync(settings);
    mkdirSync(settings);
    expect((await examine(sandbox)).codes).toEqual(['unreadable-hooks']);
    rmSync(settings, { recursive: true });
    expect((await examine(sandbox)).codes).toEqual(['missing-hook']);
    await sandbox.ok(['hooks', 'install']);
    rmSync(join(sandbox.home, '.claude.json'));
    const [finding] = (await examine(sandbox)).report.findings;
    expect(finding?.message).toContain(`lacks the MCP server of Claude Code; put back: ${mended}`);
    await sandbox.ok(['hooks', 'uninstall']);
    expect((await examine(sandbox)).codes).toEqual([]);
  });

  it('says that automation is paused, by what, and how to go on', async () => {
    const sandbox = makeSandbox();
    for (const flags of [[], ['--everywhere']]) {
      await sandbox.ok(['pause', '--why', 'release week', ...flags]);
      const { status, codes, report } = await examine(sandbox);
      expect([status, codes]).toEqual([0, ['paused']]);
      expect(report.findings[0]?.message).toContain('/PAUSE (release week); go on: handover unpause');
      const [, command = ''] = report.findings[0]?.message.split('go on: handover ') ?? [];
      expect(await sandbox.ok(command.split(' '))).toBe('unpaused\n');
      expect((await examine(sandbox)).codes).toEqual([]);
    }
  });

  it('warns that Codex does not run hooks that nobody has reviewed', async () => {
    const sandbox = makeSandbox();
    mkdirSync(join(sandbox.home, '.codex'));
    await sandbox.ok(['hooks', 'install', '--agent', 'codex']);
    const { status, codes, report } = await examine(sandbox);
    expect([status, codes]).toEqual([0, ['untrusted-hook']]);
    expect(report.findings[0]).toMatchObject({ level: 'warning', message: expect.stringContaining('start codex') });
    const config = join(sandbox.home, '.codex/config.toml');
    const path = join(sandbox.home, '.codex/hooks.json');
    const events: string[] = Object.keys(JSON.parse(readFileSync(path, 'utf8')).hooks);
    const names = events.map((event) => event.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase());
    const hashes = names.map(
      (name) => `[hooks.state."${path}:${name}:0:0"]\ntrusted_hash = "sha256:${'0'.repeat(64)}"\n`,
    );
    appendFileSync(config, `\n${hashes.join('')}`);
    expect((await examine(sandbox)).codes).toEqual([]);
  });
});
