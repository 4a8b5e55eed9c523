import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, HANDOVER, makeSandbox, runGit } from '../support/cli.ts';
import { configure, logOf, makeGitSandbox, readRemote, writeIn } from '../support/publishing.ts';
import { canTrace, traceCommand } from '../support/strace.ts';
import { openVaultServer, TOKEN } from '../support/vault-server.ts';

/* Weaknesses of two older tools in what they published, one test each. */

const NOTE = 'memory/layer1/2026-11/work-2026-11-15.md';
const SLOW = { timeoutMs: 60_000 };

describe('publishing, where agent-handover failed', () => {
  it('AH-7: without an identity nothing is committed, and the message says how to set one', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.home, '.gitconfig', '');
    writeIn(sandbox.project, NOTE, 'a note\n');
    const ended = await sandbox.run(['push', '--json'], SLOW);
    expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_GIT_IDENTITY_MISSING']);
    expect(ended.stderr).toContain('git config --global user.name');
    expect(logOf(sandbox.project, 'HEAD')).toEqual(['First']);
    const identity = { NAME: 'Bo', EMAIL: 'bo@example.invalid' };
    const env = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => Object.entries(identity).map(([k, v]) => [`GIT_${who}_${k}`, v])),
    );
    await sandbox.ok(['push'], { ...SLOW, env });
    expect(runGit(sandbox.remote, 'log', '-1', '--format=%cn', 'work')).toBe('Bo\n');
  });

  it('AH-8: what the user has staged is not committed, and stays staged', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    writeIn(sandbox.project, 'mine.txt', 'mine\n');
    runGit(sandbox.project, 'add', 'mine.txt');
    await sandbox.ok(['push'], SLOW);
    expect(readRemote(sandbox.remote).has('mine.txt')).toBe(false);
    expect(runGit(sandbox.project, 'status', '--porcelain')).toBe('A  mine.txt\n');
  });

  it('AH-9: with nothing new in memory a dirty tree is no failure, in any language', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    await sandbox.ok(['push'], SLOW);
    writeIn(sandbox.project, 'code.txt', 'edited\n');
    writeIn(sandbox.project, 'untracked.txt', 'untracked\n');
    const env = { LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8', LANGUAGE: 'de' };
    expect(await sandbox.ok(['push'], { ...SLOW, env })).toContain('nothing new');
    expect(logOf(sandbox.remote, 'work')).toHaveLength(2);
  });

  it('AH-10: a commit that could not be pushed is pushed by the next try', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    renameSync(sandbox.remote, `${sandbox.remote}.away`);
    const failed = await sandbox.run(['push', '--json'], SLOW);
    expect([failed.status, errorCode(failed)]).toEqual([69, 'HANDOVER_REMOTE_UNREACHABLE']);
    expect(logOf(sandbox.project, 'HEAD')).toHaveLength(2);
    renameSync(`${sandbox.remote}.away`, sandbox.remote);
    expect(await sandbox.ok(['push', '--dry-run'], SLOW)).toContain('waiting ');
    expect(await sandbox.ok(['push'], SLOW)).toContain('published');
    expect(logOf(sandbox.remote, 'work')).toEqual(['handover: memory of remote', 'First']);
    expect(await sandbox.ok(['push'], SLOW)).toContain('nothing new');
  });

  it('AH-11: the current branch goes to its upstream, whatever that is called', async () => {
    const sandbox = makeGitSandbox();
    runGit(sandbox.project, 'branch', 'main');
    runGit(sandbox.project, 'push', '--quiet', 'origin', 'main');
    runGit(sandbox.project, 'push', '--quiet', 'origin', 'work:other/name');
    runGit(sandbox.project, 'branch', '--set-upstream-to', 'origin/other/name');
    writeIn(sandbox.project, NOTE, 'a note\n');
    await sandbox.ok(['push'], SLOW);
    expect(['main', 'work', 'other/name'].map((ref) => logOf(sandbox.remote, ref).length)).toEqual([1, 1, 2]);
  });

  it('AH-13: without git, publishing ends in a coded error', async () => {
    const sandbox = makeGitSandbox();
    writeIn(sandbox.project, NOTE, 'a note\n');
    for (const PATH of ['/nonexistent', '']) {
      const ended = await sandbox.run(['push', '--json'], { env: { PATH } });
      expect([ended.status, errorCode(ended)]).toEqual([69, 'HANDOVER_PROGRAM_MISSING']);
    }
  });

  it.runIf(canTrace)('AH-13: commit, index and branch are flushed to the disk', async () => {
    const sandbox = makeGitSandbox('git.push = false\n');
    writeIn(sandbox.project, NOTE, 'a note\n');
    const { calls, status } = await traceCommand([process.execPath, HANDOVER, 'push'], 'fsync,fdatasync', {
      cwd: sandbox.project,
      env: sandbox.env,
      timeoutMs: 60_000,
    });
    expect(status).toBe(0);
    for (const place of [/\.git\/objects\/[^>]+>/, /\.git\/refs\/heads\/work\.lock>/, /user-index>/])
      expect(
        calls.some((line) => place.test(line)),
        String(place),
      ).toBe(true);
  });
});

describe('publishing, where agent-handoff failed', () => {
  it('AF-3: the key is never taken from the command line, but from the environment or a private file', async () => {
    const server = await openVaultServer();
    const sandbox = makeSandbox();
    writeIn(sandbox.project, 'HANDOFF.md', 'where things stand\n');
    for (const command of ['push', 'auto']) {
      const refused = await sandbox.run([command, '--api-key', TOKEN]);
      expect(refused.status, command).toBe(64);
      expect(refused.stderr).toContain('MEMORYVAULT_API_KEY');
      expect(refused.stderr).not.toContain(TOKEN);
    }
    expect(server.posts).toEqual([]);
    const env = { MEMORYVAULT_API_KEY: TOKEN, MEMORYVAULT_URL: `${server.url}/api` };
    await sandbox.ok(['push', '--name', 'shop'], { env });
    expect([...server.values]).toEqual([['handoff/shop/latest', 'where things stand\n']]);
    writeIn(sandbox.home, 'vault.key', `${TOKEN}\n`);
    configure(
      sandbox,
      `[publish]\nbackend = "memoryvault"\n[publish.memoryvault]\nurl = "${server.url}/api"\ntoken_file = "~/vault.key"\n`,
    );
    writeIn(sandbox.project, 'HANDOFF.md', 'further on\n');
    const open = await sandbox.run(['push', '--name', 'shop', '--json']);
    expect([open.status, errorCode(open)]).toEqual([77, 'HANDOVER_PERMISSION']);
    const { chmodSync } = await import('node:fs');
    chmodSync(join(sandbox.home, 'vault.key'), 0o600);
    await sandbox.ok(['push', '--name', 'shop']);
    expect(server.values.get('handoff/shop/latest')).toBe('further on\n');
  });

  it('AF-4: content is previewed, without secrets, and never sent unencrypted', async () => {
    const server = await openVaultServer();
    const sandbox = makeSandbox();
    const secret = `ghp_${'a1'.repeat(18)}`;
    writeIn(sandbox.project, 'HANDOFF.md', `use ${secret}\n`);
    const env = { MEMORYVAULT_API_KEY: TOKEN, MEMORYVAULT_URL: `${server.url}/api` };
    expect(await sandbox.ok(['push', '--dry-run'], { env })).toContain('redacted: 1 github-token');
    expect(server.posts).toEqual([]);
    await sandbox.ok(['push'], { env });
    expect(server.posts).toHaveLength(1);
    expect(server.posts.join()).not.toContain(secret);
    expect(server.posts.join()).toContain('"public":false');
    const clear = { ...env, MEMORYVAULT_URL: 'http://vault.example.invalid' };
    const ended = await sandbox.run(['push', '--json'], { env: clear });
    expect([ended.status, errorCode(ended)]).toEqual([78, 'HANDOVER_PUBLISH_UNCONFIGURED']);
    expect(existsSync(join(sandbox.store, 'published'))).toBe(true);
  });
});
