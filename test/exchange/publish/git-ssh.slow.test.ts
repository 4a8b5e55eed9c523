import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorCode, runGit } from '../../support/cli.ts';
import { logOf, makeGitSandbox, readRemote, writeIn } from '../../support/publishing.ts';
import { findSshTrouble, makeSshServer } from '../../support/ssh-server.ts';

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';
const SLOW = { timeoutMs: 60_000 };
const trouble = findSshTrouble();

function makeSshSandbox() {
  const sandbox = makeGitSandbox();
  const ssh = makeSshServer(sandbox.folder);
  runGit(sandbox.project, 'remote', 'set-url', 'origin', ssh.urlOf(sandbox.remote));
  runGit(sandbox.project, 'config', 'core.sshCommand', ssh.command);
  writeIn(sandbox.project, NOTE, 'one\n');
  return { sandbox, ssh };
}

describe.skipIf(trouble !== null)(`over ssh${trouble === null ? '' : ` (${trouble})`}`, () => {
  it('pushes the memory, and rebases where the remote has moved', async () => {
    const { sandbox } = makeSshSandbox();
    expect(await sandbox.ok(['push'], SLOW)).toContain('published to ssh://');
    const other = makeGitSandbox('', sandbox.remote);
    writeIn(other.project, 'memory/layer2/current-state.md', 'theirs\n');
    await other.ok(['push'], SLOW);
    writeIn(sandbox.project, NOTE, 'one\ntwo\n');
    await sandbox.ok(['push'], SLOW);
    expect(readRemote(sandbox.remote).get(NOTE)).toBe('one\ntwo\n');
    expect(logOf(sandbox.remote, 'work')).toHaveLength(4);
  });

  it.each([
    ['an unknown server', 'knownHosts'],
    ['a server that does not accept our key', 'authorizedKeys'],
  ] as const)('exits with 77 without asking for %s, and pushes once that is configured', async (_, file) => {
    const { sandbox, ssh } = makeSshSandbox();
    const before = readFileSync(ssh[file]);
    writeFileSync(ssh[file], '');
    const refused = await sandbox.run(['push', '--json'], SLOW);
    expect([refused.status, errorCode(refused)]).toEqual([77, 'HANDOVER_REMOTE_REFUSED']);
    writeFileSync(ssh[file], before);
    expect(await sandbox.ok(['push'], SLOW)).toContain('published');
    expect(logOf(sandbox.remote, 'work')).toHaveLength(2);
  });
});
