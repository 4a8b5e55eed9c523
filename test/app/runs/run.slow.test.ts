import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, makeDesk } from '../../support/cli.ts';
import { configure } from '../../support/publishing.ts';

function declare(desk: Desk, toml: string): void {
  writeFileSync(join(desk.project, 'handover.toml'), toml);
}

describe('a run configuration in the project', () => {
  it('is refused with unknown content', async () => {
    const desk = makeDesk();
    for (const toml of [
      '[[step]]\nkind = "mail"\n',
      '[handover]\ntag = "a:b"\n',
      '[backend]\ntype = "ftp"\n',
      '[handover]\nmemory = "x"\n',
      '[[steps]]\nkind = "note"\n',
      '[[step]]\nkind = "note"\n[[step]]\nkind = "note"\n',
      'not toml',
    ]) {
      declare(desk, toml);
      expect((await desk.run(['run', '--note', 'x'])).status, toml).toBe(78);
    }
    rmSync(join(desk.project, 'handover.toml'));
    configure(desk, '[handover]\ntag = "own"\n[publish]\nbackend = "none"\n');
    await desk.ok(['run', '--note', 'x', '--config', join(desk.home, '.config/agent-handover/config.toml')]);
  });
});

/** The folder that memory is then published to. */
function publishToFolder(desk: Desk, more = ''): string {
  const away = join(desk.folder, 'away');
  mkdirSync(away);
  configure(desk, `${more}[publish]\nbackend = "folder"\n[publish.folder]\npath = "${away}"\n`);
  return away;
}

describe('a PAUSE file', () => {
  it('stops all automatic writes with exit status 75, in any location, and its reason is shown', async () => {
    const desk = makeDesk();
    const away = publishToFolder(desk);
    const old = join(desk.project, 'memory', 'layer1', '2020-01', 'api-2020-01-02.md');
    mkdirSync(join(old, '..'), { recursive: true });
    writeFileSync(old, '<!-- agent-handover | layer1 | 2020-01-02 -->\nWorked.\n');
    declare(desk, '[handover]\npause_file = "~/brake"\n');
    const globalFolder = join(desk.home, '.agent_handover');
    mkdirSync(globalFolder);
    mkdirSync(join(desk.project, '.agent-handover'));
    for (const path of [
      join(desk.project, '.agent-handover', 'PAUSE'),
      join(globalFolder, 'PAUSE'),
      join(desk.home, 'brake'),
    ]) {
      writeFileSync(path, 'release day\n');
      for (const args of [['run', '--note', 'x'], ['auto'], ['push'], ['push', '.'], ['compact']]) {
        const { status, stderr } = await desk.run(args);
        expect(status, path).toBe(75);
        expect(stderr).toContain(`automation is paused by ${path}: release day`);
      }
      rmSync(path);
    }
    expect(existsSync(join(desk.project, 'HANDOFF.md'))).toBe(false);
    expect(readdirSync(join(desk.project, 'memory'), { recursive: true })).toHaveLength(3);
    expect(readdirSync(away)).toEqual([]);
    for (const args of [['auto'], ['push'], ['compact']]) await desk.ok(args);
    expect(existsSync(old)).toBe(false);
    expect(readdirSync(away)).toEqual(['project']);
  });
});
