import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, makeSandbox, runGit } from '../../support/cli.ts';
import { makeFolderSandbox, makeGitSandbox, readIn, writeIn } from '../../support/publishing.ts';
import { snapshotTree } from '../../support/tree.ts';

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

  it('says in a preview too that the folder to publish to is not there', async () => {
    const sandbox = makeFolderSandbox();
    rmSync(sandbox.drive, { recursive: true });
    for (const args of [['push', '--dry-run'], ['push']]) {
      const { status, stdout, stderr } = await sandbox.run(args);
      expect([status, stdout, stderr]).toEqual([69, '', expect.stringContaining(`${sandbox.drive} is not there`)]);
    }
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

describe('the credentials in the address of a remote', () => {
  it.each([
    'https://user:p@S3CRET@127.0.0.1:9/x.git',
    'https://user:p/S3CRET@127.0.0.1:9/x.git',
    'https://user:p@ss/S3CRET@127.0.0.1:9/x.git',
    'http://127.0.0.1:9/x.git?access_token=S3CRET',
    'user:S3CRETpw@host.invalid:x',
  ])('are neither shown nor saved: %s', async (url) => {
    const sandbox = makeGitSandbox('git.timeout = 5\n');
    writeIn(sandbox.project, 'HANDOFF.md', 'where things stand\n');
    runGit(sandbox.project, 'remote', 'set-url', 'origin', url);
    await sandbox.ok(['save', '--summary', 'saved']);
    for (const args of [
      ['push', '--dry-run'],
      ['push', '--dry-run', '--json'],
      ['push'],
      ['push', '--json'],
      ['show'],
      ['export', '--format', 'json', '--output', '-'],
    ]) {
      const { stdout, stderr } = await sandbox.run(args);
      // The name of the folder has letters by chance.
      expect(`${stdout}${stderr}`.replaceAll(sandbox.folder, '')).not.toMatch(/S3CRET|@ss|p@|ss\//);
    }
  });
});
