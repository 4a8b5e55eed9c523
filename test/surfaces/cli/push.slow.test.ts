import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, errorCode, makeDesk } from '../../support/cli.ts';
import { configure, writeIn } from '../../support/publishing.ts';

function makeFolderDesk(): Desk & { drive: string } {
  const desk = makeDesk();
  const drive = join(desk.folder, 'drive');
  mkdirSync(drive);
  writeIn(desk.project, 'HANDOFF.md', 'where things stand\n');
  configure(desk, `[publish]\nbackend = "folder"\nfolder.path = "${drive}"\n`);
  return { ...desk, drive };
}

describe('handover push', () => {
  it.each(['', '../up', 'a/b', '.hidden', '-x y', 'a\nb'])('refuses the name %j', async (name) => {
    const desk = makeFolderDesk();
    const ended = await desk.run(['push', '--name', name, '--json']);
    expect(ended.status).toBe(64);
  });

  it('can be disabled by a project, which can configure nothing else', async () => {
    const desk = makeFolderDesk();
    writeIn(desk.project, '.agent-handover/config.toml', '[publish]\nenabled = false\n');
    expect(await desk.ok(['push'])).toBe('publishing is switched off: nowhere (none)\n');
    for (const line of ['backend = "folder"', 'folder.path = "/tmp"', 'git.remote = "evil"', 'paths = ["."]']) {
      writeIn(desk.project, '.agent-handover/config.toml', `[publish]\n${line}\n`);
      const ended = await desk.run(['push', '--json']);
      expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_CONFIG_INVALID']);
    }
    writeIn(desk.home, '.config/agent-handover/config.toml', '[publish]\nenabled = false\n');
    writeIn(desk.project, '.agent-handover/config.toml', '[publish]\nenabled = true\n');
    expect(await desk.ok(['push'])).toContain('switched off');
  });

  it.each(['../x', '/etc', '.ssh', 'a/../b', 'a//b', '-x', ':(top)', 'a\\b', ''])(
    'refuses to publish the path %j',
    async (path) => {
      const desk = makeFolderDesk();
      configure(
        desk,
        `[publish]\nbackend = "folder"\npaths = [${JSON.stringify(path)}]\nfolder.path = "${desk.drive}"\n`,
      );
      const ended = await desk.run(['push', '--json']);
      expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_CONFIG_INVALID']);
    },
  );
});
