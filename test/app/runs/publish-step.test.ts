import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitBackend } from '../../../src/exchange/publish/publish-project.ts';
import { MemoryStore } from '../../../src/memory/memory-store.ts';
import { runGit } from '../../support/cli.ts';
import { logOf, makeGitDesk, readRemote, writeIn } from '../../support/publishing.ts';

const STATE = 'memory/layer2/current-state.md';

describe('a run that publishes', () => {
  it('publishes the memory to the configured backend, as its last step', async () => {
    const desk = makeGitDesk();
    expect(await desk.ok(['run', '--note', 'Retries raised to 5'])).toBe(
      'handover steps executed: session_note, current_state, publish\n',
    );
    expect(readRemote(desk.remote).get(STATE)).toContain('Retries raised to 5');
  });

  it('fails while the remote is unreachable, and continues from there', async () => {
    const desk = makeGitDesk();
    renameSync(desk.remote, `${desk.remote}.away`);
    const { status, stderr } = await desk.run(['run', '--note', 'Retries raised to 5']);
    expect({ status, stderr }).toMatchObject({
      status: 69,
      stderr: expect.stringContaining('step "publish" failed'),
    });
    expect((await desk.run(['check'])).status).toBe(1);
    renameSync(`${desk.remote}.away`, desk.remote);
    expect(await desk.ok(['run', '--resume'])).toBe('handover steps executed: publish\n');
    expect((await desk.run(['check'])).status).toBe(2);
    expect(readRemote(desk.remote).get(STATE)).toContain('Retries raised to 5');
  });

  it('publishes nothing with --no-push', async () => {
    const desk = makeGitDesk();
    await desk.ok(['run', '--no-push', '--note', 'Retries raised to 5']);
    expect(readRemote(desk.remote).has(STATE)).toBe(false);
    expect(logOf(desk.project, 'work')).toHaveLength(2);
  });
});

describe('handover auto', () => {
  it('publishes what it wrote where a backend is configured', async () => {
    const desk = makeGitDesk();
    expect(await desk.ok(['auto', '--name', 'shop'])).toBe('');
    expect(readRemote(desk.remote).get('HANDOFF.md')).toContain('HANDOFF');
    const log = logOf(desk.remote, 'work');
    expect(await desk.ok(['auto', '--name', 'shop'])).toBe('');
    expect(logOf(desk.remote, 'work')).toEqual(log);
  });
});

describe('the git backend of the library', () => {
  it('publishes exactly the memory, and reports when there is nothing new', async () => {
    const desk = makeGitDesk();
    writeIn(desk.project, 'code.txt', 'not yet\n');
    runGit(desk.project, 'add', 'code.txt');
    new MemoryStore(join(desk.project, 'memory'), desk.machine).write(2, 'Retries raised to 5');
    const backend = new GitBackend(desk.project, { paths: ['memory'] }, desk.machine);
    expect((await backend.publish()).outcome).toBe('published');
    expect(readRemote(desk.remote).get('code.txt')).toBe('first\n');
    expect((await backend.publish()).outcome).toBe('nothing new');
    expect(logOf(desk.remote, 'work')[0]).toBe('handover: memory of project');
  });
});
