import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, runGit } from '../../support/cli.ts';
import { openGitHttpServer } from '../../support/git-http-server.ts';
import { logOf, makeGitSandbox, readRemote, writeIn } from '../../support/publishing.ts';

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';
const SLOW = { timeoutMs: 60_000 };

describe('publishing to git over HTTP', () => {
  it('pushes the memory, and rebases where the remote has moved', async () => {
    const sandbox = makeGitSandbox();
    const server = await openGitHttpServer(sandbox.folder);
    runGit(sandbox.project, 'remote', 'set-url', 'origin', `${server.url}/remote.git`);
    writeIn(sandbox.project, NOTE, 'one\n');
    expect(await sandbox.ok(['push'], SLOW)).toContain(`published to ${server.url}/remote.git refs/heads/work`);
    const other = makeGitSandbox('', sandbox.remote);
    writeIn(other.project, 'memory/layer2/current-state.md', 'theirs\n');
    await other.ok(['push'], SLOW);
    writeIn(sandbox.project, NOTE, 'one\ntwo\n');
    await sandbox.ok(['push'], SLOW);
    expect(readRemote(sandbox.remote).get(NOTE)).toBe('one\ntwo\n');
    expect(logOf(sandbox.remote, 'work')).toHaveLength(4);
    expect(await sandbox.ok(['push'], SLOW)).toContain('nothing new');
  });

  it('exits with 77 without asking when a password is needed, and pushes once it is configured', async () => {
    const sandbox = makeGitSandbox();
    const server = await openGitHttpServer(sandbox.folder);
    server.login = 'ada:lovelace';
    const asked = join(sandbox.folder, 'asked');
    const ask = join(sandbox.folder, 'ask.sh');
    writeFileSync(ask, `#!/bin/sh\ntouch ${asked}\nsleep 60\n`);
    chmodSync(ask, 0o755);
    runGit(sandbox.project, 'remote', 'set-url', 'origin', `${server.url}/remote.git`);
    runGit(sandbox.project, 'config', 'core.askPass', ask);
    writeIn(sandbox.project, NOTE, 'one\n');
    const env = { GIT_ASKPASS: ask, SSH_ASKPASS: ask, DISPLAY: ':0' };
    const refused = await sandbox.run(['push', '--json'], { ...SLOW, env, input: null });
    expect([refused.status, errorCode(refused)]).toEqual([77, 'HANDOVER_REMOTE_REFUSED']);
    expect(existsSync(asked)).toBe(false);
    writeIn(sandbox.home, '.git-credentials', server.url.replace('//', '//ada:lovelace@'));
    runGit(sandbox.project, 'config', 'credential.helper', 'store');
    expect(await sandbox.ok(['push'], SLOW)).toContain('published');
    expect(logOf(sandbox.remote, 'work')).toHaveLength(2);
  });
});
