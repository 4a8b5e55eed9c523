import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { configure, readIn, writeIn } from '../../support/publishing.ts';
import { snapshotTree } from '../../support/tree.ts';

function makeFolderSandbox(): Sandbox & { drive: string } {
  const sandbox = makeSandbox();
  const drive = join(sandbox.folder, 'drive');
  mkdirSync(drive);
  writeIn(sandbox.project, 'HANDOFF.md', 'where things stand\n');
  configure(sandbox, `[publish]\nbackend = "folder"\nfolder.path = "${drive}"\n`);
  return { ...sandbox, drive };
}

describe('handover push', () => {
  it('previews what would be published without changes, then publishes it', async () => {
    const sandbox = makeFolderSandbox();
    writeIn(sandbox.project, 'memory/layer2/current-state.md', `token ghp_${'a1'.repeat(18)}\n`);
    const before = snapshotTree(sandbox.folder, (path) => path === sandbox.store);
    expect(await sandbox.ok(['push', '--dry-run', '--name', 'app'])).toBe(
      [
        `would publish to ${sandbox.drive}/app (folder)`,
        '  new     HANDOFF.md  19 bytes',
        '  new     memory/layer2/current-state.md  39 bytes',
        '  redacted: 1 github-token',
        '',
      ].join('\n'),
    );
    expect(snapshotTree(sandbox.folder, (path) => path === sandbox.store)).toEqual(before);
    expect(await sandbox.ok(['push', '--name', 'app'])).toMatch(/^published to /);
    expect(readIn(sandbox.drive, 'app/memory/layer2/current-state.md')).toMatch(
      /^token \[redacted:github-token:\w{8}\]\n$/,
    );
    expect(await sandbox.ok(['push', '--name', 'app'])).toMatch(/^nothing new for /);
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });

  it('prints one JSON document', async () => {
    const sandbox = makeFolderSandbox();
    expect(await sandbox.json(['push'])).toEqual({
      backend: 'folder',
      destination: join(sandbox.drive, 'project'),
      outcome: 'published',
      changes: [{ path: 'HANDOFF.md', change: 'new', bytes: 19 }],
      waiting: [],
      commit: null,
      redactions: [],
      left_out: [],
      notes: [],
    });
  });

  it('publishes the folder that is named', async () => {
    const sandbox = makeFolderSandbox();
    writeIn(sandbox.project, 'part/HANDOFF.md', 'of a part\n');
    await sandbox.ok(['push', 'part', '--name', 'part']);
    expect(readIn(sandbox.drive, 'part/HANDOFF.md')).toBe('of a part\n');
    expect((await sandbox.run(['push', 'nowhere'])).status).toBe(66);
  });

  it('exits with 78 when no backend is configured', async () => {
    const sandbox = makeSandbox();
    const ended = await sandbox.run(['push', '--json']);
    expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_PUBLISH_UNCONFIGURED']);
  });
});
