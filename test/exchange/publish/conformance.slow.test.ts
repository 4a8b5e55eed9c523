import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';
import { testPublisher } from '../../support/conformance/publisher.ts';
import {
  configure,
  type GitSandbox,
  makeGitSandbox,
  publish,
  readIn,
  readRemote,
  writeIn,
} from '../../support/publishing.ts';
import { BUCKET, openS3Server, S3_KEYS } from '../../support/s3-server.ts';
import { listFiles } from '../../support/tree.ts';
import { openVaultServer, TOKEN } from '../../support/vault-server.ts';

function cutBy(path: string): { cutOff(): Promise<void>; reconnect(): Promise<void> } {
  return {
    cutOff: async () => renameSync(path, `${path}.away`),
    reconnect: async () => renameSync(`${path}.away`, path),
  };
}

function openGitCase(sandbox: GitSandbox, branch: string): Parameters<typeof testPublisher>[1] {
  return async () => ({
    sandbox,
    read: async () => {
      const known = runGit(sandbox.remote, 'for-each-ref', '--format=%(refname)').includes(`refs/heads/${branch}\n`);
      const all = known ? readRemote(sandbox.remote, branch) : new Map<string, string>();
      return new Map([...all].filter(([path]) => path !== 'code.txt'));
    },
    writeAsOther: async (path, text) => {
      const other = makeGitSandbox('', sandbox.remote);
      if (branch !== 'work') runGit(other.project, 'switch', '--quiet', branch);
      writeIn(other.project, path, text);
      runGit(other.project, 'commit', '--quiet', '--all', '--message', 'Theirs');
      runGit(other.project, 'push', '--quiet');
    },
    ...cutBy(sandbox.remote),
  });
}

testPublisher('the current branch', async () => await openGitCase(makeGitSandbox(), 'work')());

testPublisher(
  'a branch of its own',
  async () => await openGitCase(makeGitSandbox('git.ref = "refs/heads/notes/memory"\n'), 'notes/memory')(),
);

testPublisher('a folder', async () => {
  const sandbox = makeSandbox();
  const folder = join(sandbox.folder, 'drive');
  mkdirSync(folder);
  configure(sandbox, `[publish]\nbackend = "folder"\nfolder.path = ${JSON.stringify(folder)}\n`);
  const top = join(folder, 'app');
  return {
    sandbox,
    read: async () =>
      new Map((existsSync(top) ? listFiles(top) : []).map((path) => [path.slice(top.length + 1), readIn('', path)])),
    writeAsOther: async (path, text) => writeIn(top, path, text),
    ...cutBy(folder),
  };
});

function addToEnv(sandbox: Sandbox, env: Record<string, string>): Sandbox {
  return { ...sandbox, machine: { ...sandbox.machine, env: { ...sandbox.machine.env, ...env } } };
}

testPublisher('an S3-compatible store', async () => {
  const server = await openS3Server();
  const sandbox = addToEnv(makeSandbox(), { AWS_ACCESS_KEY_ID: S3_KEYS.id, AWS_SECRET_ACCESS_KEY: S3_KEYS.secret });
  configure(sandbox, `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${server.url}"\nbucket = "${BUCKET}"\n`);
  const prefix = 'agent-handover/app/';
  return {
    sandbox,
    read: async () =>
      new Map([...server.objects].map(([key, bytes]) => [key.slice(prefix.length), bytes.toString('utf8')])),
    writeAsOther: async (path, text) => void server.objects.set(prefix + path, Buffer.from(text)),
    cutOff: server.close,
    reconnect: server.reopen,
  };
});

testPublisher(
  'MemoryVault',
  async () => {
    const server = await openVaultServer();
    const sandbox = addToEnv(makeSandbox(), { MEMORYVAULT_API_KEY: TOKEN, MEMORYVAULT_URL: `${server.url}/api` });
    return {
      sandbox,
      read: async () =>
        new Map([...server.values].map(([key, value]) => [key.replace('handoff/app/latest', 'HANDOFF.md'), value])),
      writeAsOther: async (path, text) => void server.values.set(path, text),
      cutOff: server.close,
      reconnect: server.reopen,
    };
  },
  { takesHandoffOnly: true, lastWriterWins: true },
);

describe('publishing with the backend none', () => {
  it('is disabled, and is no failure', async () => {
    const sandbox = makeSandbox();
    writeIn(sandbox.project, 'HANDOFF.md', 'x\n');
    configure(sandbox, '[publish]\nbackend = "none"\n');
    expect(await publish(sandbox)).toMatchObject({ backend: 'none', outcome: 'off', changes: [] });
  });
});
