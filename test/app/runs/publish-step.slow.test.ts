import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitBackend } from '../../../src/exchange/publish/publish-project.ts';
import { configure, logOf, makeGitSandbox, readRemote, writeIn } from '../../support/publishing.ts';

const STATE = 'memory/layer2/current-state.md';

describe('a run that publishes', () => {
  it('reports missing settings when a file of the original asks for git', async () => {
    const sandbox = makeGitSandbox();
    configure(sandbox, '');
    writeFileSync(
      join(sandbox.project, 'handover.toml'),
      '[note]\nsession = "did a thing"\n[backend]\ntype = "git"\nrepo_dir = "."\nbranch = "main"\n',
    );
    const { status, stderr } = await sandbox.run(['run']);
    expect({ status, stderr }).toMatchObject({ status: 78, stderr: expect.stringContaining('[publish]') });
    expect(logOf(sandbox.project, 'HEAD')).toEqual(['First']);
    configure(sandbox, '[publish]\nbackend = "git"\n');
    expect(await sandbox.ok(['run', '--resume'])).toBe('handover steps executed: publish\n');
    expect(readRemote(sandbox.remote).get(STATE)).toContain('did a thing');
  });

  it.each([
    ['commits and pushes nothing', 'type = "git"\npush = false\n', 2],
    ['leaves git alone', 'type = "null"\n', 1],
  ])('%s where a file of the original says so', async (_, backend, commits) => {
    const sandbox = makeGitSandbox();
    writeFileSync(
      join(sandbox.project, 'handover.toml'),
      `[[step]]\nkind = "note"\n[[step]]\nkind = "publish"\n[backend]\n${backend}`,
    );
    expect(await sandbox.ok(['run', '--note', 'x'])).toBe('handover steps executed: note, publish\n');
    expect(logOf(sandbox.project, 'HEAD')).toHaveLength(commits);
    expect(logOf(sandbox.remote, 'work')).toEqual(['First']);
  });

  it('reports a memory that is outside the published paths', async () => {
    const sandbox = makeGitSandbox();
    writeFileSync(join(sandbox.project, 'handover.toml'), '[handover]\nmemory_dir = "notes"\n');
    for (const args of [['run', '--note', 'x'], ['push'], ['auto']]) {
      const { status, stderr } = await sandbox.run(args);
      expect({ status, stderr }, args[0]).toMatchObject({
        status: 78,
        stderr: expect.stringContaining('memory is in notes, which is not published'),
      });
    }
    configure(sandbox, '[publish]\nbackend = "git"\npaths = ["notes"]\n');
    await sandbox.ok(['run', '--resume']);
    expect([...readRemote(sandbox.remote).keys()]).toContain('notes/layer2/current-state.md');
  });
});

describe('the git backend of the library', () => {
  it('accepts a message and a path as the original did, and refuses invalid ones', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, STATE, 'Retries raised to 5\n');
    await new GitBackend('.', { paths: ['memory/'] }, sandbox.machine).publish('session sync');
    expect(logOf(sandbox.remote, 'work')[0]).toBe('session sync');
    expect(() => new GitBackend('.', { paths: ['../elsewhere'] })).toThrow('is not a path inside the project');
    expect(() => new GitBackend('.', { remote: '--upload-pack=x' })).toThrow('is not the name of a remote');
  });
});
