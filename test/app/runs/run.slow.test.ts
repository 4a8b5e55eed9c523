import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { configure } from '../../support/publishing.ts';

function declare(sandbox: Sandbox, toml: string): void {
  writeFileSync(join(sandbox.project, 'handover.toml'), toml);
}

describe('a run configuration in the project', () => {
  it('cannot refer outside the project', async () => {
    const sandbox = makeSandbox();
    for (const line of ['memory_dir = "../elsewhere"', 'memory_dir = "~/notes"', 'checkpoint = "/tmp/x.json"']) {
      declare(sandbox, `[handover]\n${line}\n`);
      expect((await sandbox.run(['run', '--note', 'x'])).status, line).toBe(77);
    }
    expect(readdirSync(sandbox.home)).toEqual([]);
  });

  it('is refused with unknown content', async () => {
    const sandbox = makeSandbox();
    for (const toml of [
      '[[step]]\nkind = "mail"\n',
      '[handover]\ntag = "a:b"\n',
      '[backend]\ntype = "ftp"\n',
      '[handover]\nmemory = "x"\n',
      '[[steps]]\nkind = "note"\n',
      '[[step]]\nkind = "note"\n[[step]]\nkind = "note"\n',
      'not toml',
    ]) {
      declare(sandbox, toml);
      expect((await sandbox.run(['run', '--note', 'x'])).status, toml).toBe(78);
    }
    rmSync(join(sandbox.project, 'handover.toml'));
    configure(sandbox, '[handover]\ntag = "own"\n[publish]\nbackend = "none"\n');
    await sandbox.ok(['run', '--note', 'x', '--config', join(sandbox.home, '.config/agent-handover/config.toml')]);
  });
});

/** The folder that memory is then published to. */
function publishToFolder(sandbox: Sandbox, more = ''): string {
  const away = join(sandbox.folder, 'away');
  mkdirSync(away);
  configure(sandbox, `${more}[publish]\nbackend = "folder"\n[publish.folder]\npath = "${away}"\n`);
  return away;
}

describe('a PAUSE file', () => {
  it('stops all automatic writes with exit status 75, in any location, and its reason is shown', async () => {
    const sandbox = makeSandbox();
    const away = publishToFolder(sandbox);
    const old = join(sandbox.project, 'memory', 'layer1', '2020-01', 'api-2020-01-02.md');
    mkdirSync(join(old, '..'), { recursive: true });
    writeFileSync(old, '<!-- agent-handover | layer1 | 2020-01-02 -->\nWorked.\n');
    declare(sandbox, '[handover]\npause_file = "~/pausing"\n');
    const globalFolder = join(sandbox.home, '.agent_handover');
    mkdirSync(globalFolder);
    mkdirSync(join(sandbox.project, '.agent-handover'));
    for (const path of [
      join(sandbox.project, '.agent-handover', 'PAUSE'),
      join(globalFolder, 'PAUSE'),
      join(sandbox.home, 'pausing'),
    ]) {
      writeFileSync(path, 'release day\n');
      for (const args of [['run', '--note', 'x'], ['auto'], ['push'], ['push', '.'], ['compact']]) {
        const { status, stderr } = await sandbox.run(args);
        expect(status, path).toBe(75);
        expect(stderr).toContain(`automation is paused by ${path}: release day`);
      }
      rmSync(path);
    }
    expect(existsSync(join(sandbox.project, 'HANDOFF.md'))).toBe(false);
    expect(readdirSync(join(sandbox.project, 'memory'), { recursive: true })).toHaveLength(3);
    expect(readdirSync(away)).toEqual([]);
    for (const args of [['auto'], ['push'], ['compact']]) await sandbox.ok(args);
    expect(existsSync(old)).toBe(false);
    expect(readdirSync(away)).toEqual(['project']);
  });

  it('stops auto between its two steps', async () => {
    const sandbox = makeSandbox();
    const away = publishToFolder(sandbox, '[handover]\npause_file = "HANDOFF.md"\n');
    expect((await sandbox.run(['auto'])).status).toBe(75);
    expect(existsSync(join(sandbox.project, 'HANDOFF.md'))).toBe(true);
    expect(readdirSync(away)).toEqual([]);
  });
});
