import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorCode, runGit } from '../../support/cli.ts';
import { logOf, makeGitDesk, readRemote, writeIn } from '../../support/publishing.ts';
import { findSshTrouble, makeSshServer } from '../../support/ssh-server.ts';

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';
const SLOW = { timeoutMs: 60_000 };
const trouble = findSshTrouble();

function makeSshDesk() {
  const desk = makeGitDesk();
  const ssh = makeSshServer(desk.folder);
  runGit(desk.project, 'remote', 'set-url', 'origin', ssh.urlOf(desk.remote));
  runGit(desk.project, 'config', 'core.sshCommand', ssh.command);
  writeIn(desk.project, NOTE, 'one\n');
  return { desk, ssh };
}

describe.skipIf(trouble !== null)(`over ssh${trouble === null ? '' : ` (${trouble})`}`, () => {
  it('pushes the memory, and rebases where the remote has moved', async () => {
    const { desk } = makeSshDesk();
    expect(await desk.ok(['push'], SLOW)).toContain('published to ssh://');
    const other = makeGitDesk('', desk.remote);
    writeIn(other.project, 'memory/layer2/current-state.md', 'theirs\n');
    await other.ok(['push'], SLOW);
    writeIn(desk.project, NOTE, 'one\ntwo\n');
    await desk.ok(['push'], SLOW);
    expect(readRemote(desk.remote).get(NOTE)).toBe('one\ntwo\n');
    expect(logOf(desk.remote, 'work')).toHaveLength(4);
  });

  it.each([
    ['an unknown server', 'knownHosts'],
    ['a server that does not accept our key', 'authorizedKeys'],
  ] as const)('exits with 77 without asking for %s, and pushes once that is configured', async (_, file) => {
    const { desk, ssh } = makeSshDesk();
    const before = readFileSync(ssh[file]);
    writeFileSync(ssh[file], '');
    const refused = await desk.run(['push', '--json'], SLOW);
    expect([refused.status, errorCode(refused)]).toEqual([77, 'HANDOVER_REMOTE_REFUSED']);
    writeFileSync(ssh[file], before);
    expect(await desk.ok(['push'], SLOW)).toContain('published');
    expect(logOf(desk.remote, 'work')).toHaveLength(2);
  });
});
