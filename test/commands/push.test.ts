import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, errorCode, makeDesk, runGit } from '../support/cli.ts';
import { configure, makeGitDesk, readIn, writeIn } from '../support/publishing.ts';
import { snapshotTree } from '../support/tree.ts';

function makeFolderDesk(): Desk & { drive: string } {
  const desk = makeDesk();
  const drive = join(desk.folder, 'drive');
  mkdirSync(drive);
  writeIn(desk.project, 'HANDOFF.md', 'where things stand\n');
  configure(desk, `[publish]\nbackend = "folder"\nfolder.path = "${drive}"\n`);
  return { ...desk, drive };
}

describe('push', () => {
  it('shows what would leave, changes nothing, and then does it', async () => {
    const desk = makeFolderDesk();
    writeIn(desk.project, 'memory/layer2/current-state.md', `token ghp_${'a1'.repeat(18)}\n`);
    const before = snapshotTree(desk.folder, (path) => path === desk.store);
    expect(await desk.ok(['push', '--dry-run', '--name', 'app'])).toBe(
      [
        `would publish to ${desk.drive}/app (folder)`,
        '  new     HANDOFF.md  19 bytes',
        '  new     memory/layer2/current-state.md  39 bytes',
        '  redacted: 1 github-token',
        '',
      ].join('\n'),
    );
    expect(snapshotTree(desk.folder, (path) => path === desk.store)).toEqual(before);
    expect(await desk.ok(['push', '--name', 'app'])).toMatch(/^published to /);
    expect(readIn(desk.drive, 'app/memory/layer2/current-state.md')).toMatch(
      /^token \[redacted:github-token:\w{8}\]\n$/,
    );
    expect(await desk.ok(['push', '--name', 'app'])).toMatch(/^nothing new for /);
    expect(await desk.ok(['doctor'])).toContain('all is well');
  });

  it('prints one JSON document', async () => {
    const desk = makeFolderDesk();
    expect(await desk.json(['push'])).toEqual({
      backend: 'folder',
      destination: join(desk.drive, 'project'),
      outcome: 'published',
      changes: [{ path: 'HANDOFF.md', change: 'new', bytes: 19 }],
      waiting: [],
      commit: null,
      redactions: [],
      left_out: [],
      notes: [],
    });
  });

  it('takes the folder that is named', async () => {
    const desk = makeFolderDesk();
    writeIn(desk.project, 'part/HANDOFF.md', 'of a part\n');
    await desk.ok(['push', 'part', '--name', 'part']);
    expect(readIn(desk.drive, 'part/HANDOFF.md')).toBe('of a part\n');
    expect((await desk.run(['push', 'nowhere'])).status).toBe(66);
  });

  it.each(['', '../up', 'a/b', '.hidden', '-x y', 'a\nb'])('refuses the name %j', async (name) => {
    const desk = makeFolderDesk();
    const ended = await desk.run(['push', '--name', name, '--json']);
    expect(ended.status).toBe(64);
  });

  it('ends in 78 when nothing says where to', async () => {
    const desk = makeDesk();
    const ended = await desk.run(['push', '--json']);
    expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_PUBLISH_UNCONFIGURED']);
  });

  it('is switched off by a project, which can say nothing else', async () => {
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

  it.each(['../x', '/etc', '.ssh', 'a/../b', 'a//b', '-x', ':(top)', 'a\\b', ''])('takes no path %j', async (path) => {
    const desk = makeFolderDesk();
    configure(
      desk,
      `[publish]\nbackend = "folder"\npaths = [${JSON.stringify(path)}]\nfolder.path = "${desk.drive}"\n`,
    );
    const ended = await desk.run(['push', '--json']);
    expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_CONFIG_INVALID']);
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
    const desk = makeGitDesk('git.timeout = 5\n');
    writeIn(desk.project, 'HANDOFF.md', 'where things stand\n');
    runGit(desk.project, 'remote', 'set-url', 'origin', url);
    await desk.ok(['save', '--summary', 'saved']);
    for (const args of [
      ['push', '--dry-run'],
      ['push', '--dry-run', '--json'],
      ['push'],
      ['push', '--json'],
      ['show'],
      ['export', '--format', 'json', '--output', '-'],
    ]) {
      const { stdout, stderr } = await desk.run(args);
      expect(`${stdout}${stderr}`).not.toMatch(/S3CRET|@ss|p@|ss\//);
    }
  });
});
