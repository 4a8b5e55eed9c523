import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, errorCode, makeDesk } from '../../support/cli.ts';
import { configure, readIn, writeIn } from '../../support/publishing.ts';
import { snapshotTree } from '../../support/tree.ts';

function makeFolderDesk(): Desk & { drive: string } {
  const desk = makeDesk();
  const drive = join(desk.folder, 'drive');
  mkdirSync(drive);
  writeIn(desk.project, 'HANDOFF.md', 'where things stand\n');
  configure(desk, `[publish]\nbackend = "folder"\nfolder.path = "${drive}"\n`);
  return { ...desk, drive };
}

describe('handover push', () => {
  it('previews what would be published without changes, then publishes it', async () => {
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

  it('publishes the folder that is named', async () => {
    const desk = makeFolderDesk();
    writeIn(desk.project, 'part/HANDOFF.md', 'of a part\n');
    await desk.ok(['push', 'part', '--name', 'part']);
    expect(readIn(desk.drive, 'part/HANDOFF.md')).toBe('of a part\n');
    expect((await desk.run(['push', 'nowhere'])).status).toBe(66);
  });

  it('exits with 78 when no backend is configured', async () => {
    const desk = makeDesk();
    const ended = await desk.run(['push', '--json']);
    expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_PUBLISH_UNCONFIGURED']);
  });
});
