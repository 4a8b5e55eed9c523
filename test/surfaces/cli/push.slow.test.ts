import { describe, expect, it } from 'vitest';
import { errorCode } from '../../support/cli.ts';
import { configure, makeFolderSandbox, writeIn } from '../../support/publishing.ts';

describe('handover push', () => {
  it.each(['', '../up', 'a/b', '.hidden', '-x y', 'a\nb'])('refuses the name %j', async (name) => {
    const sandbox = makeFolderSandbox();
    const ended = await sandbox.run(['push', '--name', name, '--json']);
    expect(ended.status).toBe(64);
  });

  it('can be disabled by a project, which can configure nothing else', async () => {
    const sandbox = makeFolderSandbox();
    writeIn(sandbox.project, '.agent-handover/config.toml', '[publish]\nenabled = false\n');
    expect(await sandbox.ok(['push'])).toBe('publishing is switched off: nowhere (none)\n');
    for (const line of ['backend = "folder"', 'folder.path = "/tmp"', 'git.remote = "evil"', 'paths = ["."]']) {
      writeIn(sandbox.project, '.agent-handover/config.toml', `[publish]\n${line}\n`);
      const ended = await sandbox.run(['push', '--json']);
      expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_CONFIG_INVALID']);
    }
    writeIn(sandbox.home, '.config/agent-handover/config.toml', '[publish]\nenabled = false\n');
    writeIn(sandbox.project, '.agent-handover/config.toml', '[publish]\nenabled = true\n');
    expect(await sandbox.ok(['push'])).toContain('switched off');
  });

  it.each(['../x', '/etc', '.ssh', 'a/../b', 'a//b', '-x', ':(top)', 'a\\b', ''])(
    'refuses to publish the path %j',
    async (path) => {
      const sandbox = makeFolderSandbox();
      configure(
        sandbox,
        `[publish]\nbackend = "folder"\npaths = [${JSON.stringify(path)}]\nfolder.path = "${sandbox.drive}"\n`,
      );
      const ended = await sandbox.run(['push', '--json']);
      expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_CONFIG_INVALID']);
    },
  );
});
