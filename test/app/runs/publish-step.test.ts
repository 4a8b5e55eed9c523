import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitBackend } from '../../../src/exchange/publish/publish-project.ts';
import { MemoryStore } from '../../../src/memory/memory-store.ts';
import { runGit } from '../../support/cli.ts';
import { logOf, makeGitSandbox, readRemote, writeIn } from '../../support/publishing.ts';

const STATE = 'memory/layer2/current-state.md';

describe('a run that publishes', () => {
  it('publishes the memory to the configured backend, as its last step', async () => {
    const sandbox = makeGitSandbox();
    expect(await sandbox.ok(['run', '--note', 'Retries raised to 5'])).toBe(
      'handover steps executed: session_note, current_state, publish\n',
    );
    expect(readRemote(sandbox.remote).get(STATE)).toContain('Retries raised to 5');
  });

  it('fails while the remote is unreachable, and continues from there', async () => {
    const sandbox = makeGitSandbox();
    renameSync(sandbox.remote, `${sandbox.remote}.away`);
    const { status, stderr } = await sandbox.run(['run', '--note', 'Retries raised to 5']);
    expect({ status, stderr }).toMatchObject({
      status: 69,
      stderr: expect.stringContaining('step "publish" failed'),
    });
    expect((await sandbox.run(['check'])).status).toBe(1);
    renameSync(`${sandbox.remote}.away`, sandbox.remote);
    expect(await sandbox.ok(['run', '--resume'])).toBe('handover steps executed: publish\n');
    expect((await sandbox.run(['check'])).status).toBe(2);
    expect(readRemote(sandbox.remote).get(STATE)).toContain('Retries raised to 5');
  });

  it('publishes nothing with --no-push', async () => {
    const sandbox = makeGitSandbox();
    await sandbox.ok(['run', '--no-push', '--note', 'Retries raised to 5']);
    expect(readRemote(sandbox.remote).has(STATE)).toBe(false);
    expect(logOf(sandbox.project, 'work')).toHaveLength(2);
  });
});

describe('handover auto', () => {
  it('publishes what it wrote where a backend is configured', async () => {
    const sandbox = makeGitSandbox();
    expect(await sandbox.ok(['auto', '--name', 'shop'])).toBe('');
    expect(readRemote(sandbox.remote).get('HANDOFF.md')).toContain('HANDOFF');
    const log = logOf(sandbox.remote, 'work');
    expect(await sandbox.ok(['auto', '--name', 'shop'])).toBe('');
    expect(logOf(sandbox.remote, 'work')).toEqual(log);
  });
});

describe('the git backend of the library', () => {
  it('publishes exactly the memory, and reports when there is nothing new', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, 'code.txt', 'not yet\n');
    runGit(sandbox.project, 'add', 'code.txt');
    new MemoryStore(join(sandbox.project, 'memory'), sandbox.machine).write(2, 'Retries raised to 5');
    const backend = new GitBackend(sandbox.project, { paths: ['memory'] }, sandbox.machine);
    expect((await backend.publish()).outcome).toBe('published');
    expect(readRemote(sandbox.remote).get('code.txt')).toBe('first\n');
    expect((await backend.publish()).outcome).toBe('nothing new');
    expect(logOf(sandbox.remote, 'work')[0]).toBe('handover: memory of project');
  });
});
