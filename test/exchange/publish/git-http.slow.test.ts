import { createServer } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { errorCode, runGit } from '../../support/cli.ts';
import { configure, logOf, makeGitSandbox, writeIn } from '../../support/publishing.ts';

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';
const SLOW = { timeoutMs: 60_000 };

describe('publishing to a git remote that does not answer', () => {
  const silent = createServer(() => undefined);
  afterAll(() => silent.close());

  it('exits with 69 at the timeout, and keeps the commit', async () => {
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const sandbox = makeGitSandbox();
    configure(sandbox, '[publish]\nbackend = "git"\ngit.timeout = 2\n');
    runGit(sandbox.project, 'remote', 'set-url', 'origin', `http://127.0.0.1:${port}/remote.git`);
    writeIn(sandbox.project, NOTE, 'one\n');
    const ended = await sandbox.run(['push', '--json'], { timeoutMs: 30_000 });
    expect([ended.status, errorCode(ended)]).toEqual([69, 'HANDOVER_REMOTE_UNREACHABLE']);
    expect(logOf(sandbox.project, 'HEAD')).toHaveLength(2);
    runGit(sandbox.project, 'remote', 'set-url', 'origin', `file://${sandbox.remote}`);
    expect(await sandbox.ok(['push'], SLOW)).toContain('published');
  });
});
