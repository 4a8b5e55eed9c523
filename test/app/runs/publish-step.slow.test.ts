import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitBackend } from '../../../src/exchange/publish/publish-project.ts';
import { configure, logOf, makeGitDesk, readRemote, writeIn } from '../../support/publishing.ts';

const STATE = 'memory/layer2/current-state.md';

describe('a run that publishes', () => {
  it('reports missing settings when a file of the original asks for git', async () => {
    const desk = makeGitDesk();
    configure(desk, '');
    writeFileSync(
      join(desk.project, 'handover.toml'),
      '[note]\nsession = "did a thing"\n[backend]\ntype = "git"\nrepo_dir = "."\nbranch = "main"\n',
    );
    const { status, stderr } = await desk.run(['run']);
    expect({ status, stderr }).toMatchObject({ status: 78, stderr: expect.stringContaining('[publish]') });
    expect(logOf(desk.project, 'HEAD')).toEqual(['First']);
    configure(desk, '[publish]\nbackend = "git"\n');
    expect(await desk.ok(['run', '--resume'])).toBe('handover steps executed: publish\n');
    expect(readRemote(desk.remote).get(STATE)).toContain('did a thing');
  });

  it.each([
    ['commits and pushes nothing', 'type = "git"\npush = false\n', 2],
    ['leaves git alone', 'type = "null"\n', 1],
  ])('%s where a file of the original says so', async (_, backend, commits) => {
    const desk = makeGitDesk();
    writeFileSync(
      join(desk.project, 'handover.toml'),
      `[[step]]\nkind = "note"\n[[step]]\nkind = "publish"\n[backend]\n${backend}`,
    );
    expect(await desk.ok(['run', '--note', 'x'])).toBe('handover steps executed: note, publish\n');
    expect(logOf(desk.project, 'HEAD')).toHaveLength(commits);
    expect(logOf(desk.remote, 'work')).toEqual(['First']);
  });

  it('reports a memory that is outside the published paths', async () => {
    const desk = makeGitDesk();
    writeFileSync(join(desk.project, 'handover.toml'), '[handover]\nmemory_dir = "notes"\n');
    for (const args of [['run', '--note', 'x'], ['push'], ['auto']]) {
      const { status, stderr } = await desk.run(args);
      expect({ status, stderr }, args[0]).toMatchObject({
        status: 78,
        stderr: expect.stringContaining('memory is in notes, which is not published'),
      });
    }
    configure(desk, '[publish]\nbackend = "git"\npaths = ["notes"]\n');
    await desk.ok(['run', '--resume']);
    expect([...readRemote(desk.remote).keys()]).toContain('notes/layer2/current-state.md');
  });
});

describe('the git backend of the library', () => {
  it('accepts a message and a path as the original did, and refuses invalid ones', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, STATE, 'Retries raised to 5\n');
    await new GitBackend('.', { paths: ['memory/'] }, desk.machine).publish('session sync');
    expect(logOf(desk.remote, 'work')[0]).toBe('session sync');
    expect(() => new GitBackend('.', { paths: ['../elsewhere'] })).toThrow('is not a path inside the project');
    expect(() => new GitBackend('.', { remote: '--upload-pack=x' })).toThrow('is no name of a remote');
  });
});
