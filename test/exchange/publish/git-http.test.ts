import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, runGit } from '../../support/cli.ts';
import { openGitHttpServer } from '../../support/git-http-server.ts';
import { logOf, makeGitDesk, readRemote, writeIn } from '../../support/publishing.ts';

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';
const SLOW = { timeoutMs: 60_000 };

describe('publishing to git over HTTP', () => {
  it('pushes the memory, and rebases where the remote has moved', async () => {
    const desk = makeGitDesk();
    const server = await openGitHttpServer(desk.folder);
    runGit(desk.project, 'remote', 'set-url', 'origin', `${server.url}/remote.git`);
    writeIn(desk.project, NOTE, 'one\n');
    expect(await desk.ok(['push'], SLOW)).toContain(`published to ${server.url}/remote.git refs/heads/work`);
    const other = makeGitDesk('', desk.remote);
    writeIn(other.project, 'memory/layer2/current-state.md', 'theirs\n');
    await other.ok(['push'], SLOW);
    writeIn(desk.project, NOTE, 'one\ntwo\n');
    await desk.ok(['push'], SLOW);
    expect(readRemote(desk.remote).get(NOTE)).toBe('one\ntwo\n');
    expect(logOf(desk.remote, 'work')).toHaveLength(4);
    expect(await desk.ok(['push'], SLOW)).toContain('nothing new');
  });

  it('exits with 77 without asking when a password is needed, and pushes once it is configured', async () => {
    const desk = makeGitDesk();
    const server = await openGitHttpServer(desk.folder);
    server.login = 'ada:lovelace';
    const asked = join(desk.folder, 'asked');
    const ask = join(desk.folder, 'ask.sh');
    writeFileSync(ask, `#!/bin/sh\ntouch ${asked}\nsleep 60\n`);
    chmodSync(ask, 0o755);
    runGit(desk.project, 'remote', 'set-url', 'origin', `${server.url}/remote.git`);
    runGit(desk.project, 'config', 'core.askPass', ask);
    writeIn(desk.project, NOTE, 'one\n');
    const env = { GIT_ASKPASS: ask, SSH_ASKPASS: ask, DISPLAY: ':0' };
    const refused = await desk.run(['push', '--json'], { ...SLOW, env, input: null });
    expect([refused.status, errorCode(refused)]).toEqual([77, 'HANDOVER_REMOTE_REFUSED']);
    expect(existsSync(asked)).toBe(false);
    writeIn(desk.home, '.git-credentials', server.url.replace('//', '//ada:lovelace@'));
    runGit(desk.project, 'config', 'credential.helper', 'store');
    expect(await desk.ok(['push'], SLOW)).toContain('published');
    expect(logOf(desk.remote, 'work')).toHaveLength(2);
  });
});
