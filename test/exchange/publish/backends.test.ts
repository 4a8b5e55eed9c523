import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { codeOf, configure, publish, readIn, writeIn } from '../../support/publishing.ts';
import { BUCKET, openS3Server, S3_KEYS, type S3Server } from '../../support/s3-server.ts';
import { openVaultServer, TOKEN, type VaultServer } from '../../support/vault-server.ts';

function withEnv(sandbox: Sandbox, env: Record<string, string | undefined>): Sandbox {
  return { ...sandbox, machine: { ...sandbox.machine, env: { ...sandbox.machine.env, ...env } } };
}

const KEYS = { AWS_ACCESS_KEY_ID: S3_KEYS.id, AWS_SECRET_ACCESS_KEY: S3_KEYS.secret };

function makeS3Sandbox(server: S3Server, extra = ''): Sandbox {
  const sandbox = withEnv(makeSandbox(), KEYS);
  writeIn(sandbox.project, 'HANDOFF.md', 'where things stand\n');
  configure(
    sandbox,
    `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${server.url}"\nbucket = "${BUCKET}"\n${extra}`,
  );
  return sandbox;
}

describe('an S3-compatible store', () => {
  it('gets one list request when nothing is new, however many files there are', async () => {
    const server = await openS3Server();
    const sandbox = makeS3Sandbox(server);
    await publish(sandbox);
    server.requests.length = 0;
    expect((await publish(sandbox)).outcome).toBe('nothing new');
    expect(server.requests).toEqual([`GET /${BUCKET}/`]);
  });

  it('keeps what another writer put there in between', async () => {
    const server = await openS3Server();
    const sandbox = makeS3Sandbox(server);
    const key = 'agent-handover/app/HANDOFF.md';
    server.beforeWrite = () => server.objects.set(key, Buffer.from('theirs\n'));
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PUBLISH_CONFLICT');
    expect(server.objects.get(key)?.toString()).toBe('theirs\n');
    server.objects.delete(key);
    server.beforeWrite = () => undefined;
    await publish(sandbox);
    writeIn(sandbox.project, 'HANDOFF.md', 'ours\n');
    server.beforeWrite = () => server.objects.set(key, Buffer.from('theirs again\n'));
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PUBLISH_CONFLICT');
    expect(server.objects.get(key)?.toString()).toBe('theirs again\n');
  });

  it('accepts an equal write of another machine', async () => {
    const server = await openS3Server();
    const sandbox = makeS3Sandbox(server);
    server.beforeWrite = () => server.objects.set('agent-handover/app/HANDOFF.md', Buffer.from('where things stand\n'));
    expect((await publish(sandbox)).outcome).toBe('nothing new');
  });

  it('gets the other files when one is in conflict', async () => {
    const server = await openS3Server();
    const sandbox = makeS3Sandbox(server);
    writeIn(sandbox.project, 'SOUL.md', 'who\n');
    server.objects.set('agent-handover/app/HANDOFF.md', Buffer.from('theirs\n'));
    await expect(publish(sandbox)).rejects.toMatchObject({
      code: 'HANDOVER_PUBLISH_CONFLICT',
      message: expect.stringMatching(/^HANDOFF\.md was changed by somebody else in .* and was not overwritten$/),
    });
    expect(server.objects.get('agent-handover/app/SOUL.md')?.toString()).toBe('who\n');
  });

  it('supports names that need escaping, and lists of many pages', async () => {
    const server = await openS3Server();
    const sandbox = makeS3Sandbox(server);
    const names = ['a b', 'ü+ß', "it's (1)", 'x&y', '100%', 'plus+eq=', '😀'];
    for (const name of names) writeIn(sandbox.project, `memory/layer1/2026-11/${name}-2026-11-15.md`, name);
    expect((await publish(sandbox)).changes).toHaveLength(names.length + 1);
    expect((await publish(sandbox)).outcome).toBe('nothing new');
    expect(server.objects.get("agent-handover/app/memory/layer1/2026-11/it's (1)-2026-11-15.md")?.toString()).toBe(
      "it's (1)",
    );
  });

  it.each([
    [403, 'HANDOVER_REMOTE_REFUSED'],
    [429, 'HANDOVER_REMOTE_BUSY'],
    [500, 'HANDOVER_REMOTE_UNREACHABLE'],
    [503, 'HANDOVER_REMOTE_UNREACHABLE'],
    [301, 'HANDOVER_REMOTE_REFUSED'],
  ])('causes a coded error when it answers %i', async (status, code) => {
    const server = await openS3Server();
    server.failWith = status;
    expect(await codeOf(publish(makeS3Sandbox(server)))).toBe(code);
  });

  it('reports a wrong key, a missing bucket and a missing key', async () => {
    const server = await openS3Server();
    const sandbox = makeS3Sandbox(server);
    expect(await codeOf(publish(withEnv(sandbox, { AWS_SECRET_ACCESS_KEY: 'wrong' })))).toBe('HANDOVER_REMOTE_REFUSED');
    expect(await codeOf(publish(withEnv(sandbox, { AWS_SECRET_ACCESS_KEY: undefined })))).toBe(
      'HANDOVER_PUBLISH_UNCONFIGURED',
    );
    expect(await codeOf(publish(withEnv(sandbox, { AWS_SESSION_TOKEN: 'x' })))).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
    configure(sandbox, `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${server.url}"\nbucket = "nothing"\n`);
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });

  it('is accessed with keys from a private credentials file', async () => {
    const server = await openS3Server();
    const made = makeS3Sandbox(server, 'credentials_file = "~/keys"\nprofile = "memory"\n');
    const sandbox = withEnv(made, { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined });
    const keys = `aws_access_key_id = ${S3_KEYS.id}\naws_secret_access_key=${S3_KEYS.secret}\n`;
    writeIn(sandbox.home, 'keys', `[default]\naws_access_key_id = x\n[memory]\n${keys}`);
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PERMISSION');
    chmodSync(join(sandbox.home, 'keys'), 0o600);
    expect((await publish(sandbox)).outcome).toBe('published');
  });
});

function makeVaultSandbox(server: VaultServer, timeout = 30): Sandbox {
  const sandbox = withEnv(makeSandbox(), { MEMORYVAULT_API_KEY: TOKEN });
  writeIn(sandbox.project, 'HANDOFF.md', 'where things stand\n');
  configure(
    sandbox,
    `[publish]\nbackend = "memoryvault"\n[publish.memoryvault]\nurl = "${server.url}/api/"\ntimeout = ${timeout}\n`,
  );
  return sandbox;
}

describe('a MemoryVault server', () => {
  it.each([
    [401, 'HANDOVER_REMOTE_REFUSED'],
    [403, 'HANDOVER_REMOTE_REFUSED'],
    [429, 'HANDOVER_REMOTE_BUSY'],
    [500, 'HANDOVER_REMOTE_UNREACHABLE'],
    [302, 'HANDOVER_REMOTE_REFUSED'],
    [400, 'HANDOVER_REMOTE_REFUSED'],
  ])('that answers %i causes a coded error, and the next try succeeds', async (status, code) => {
    const server = await openVaultServer();
    const sandbox = makeVaultSandbox(server);
    server.failWith = status;
    expect(await codeOf(publish(sandbox))).toBe(code);
    server.failWith = null;
    expect((await publish(sandbox)).outcome).toBe('published');
  });

  it('that never answers is abandoned at the configured timeout', async () => {
    const server = await openVaultServer();
    const sandbox = makeVaultSandbox(server, 1);
    server.stalls = true;
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_REMOTE_UNREACHABLE');
  });

  it('needs an address and a valid key', async () => {
    const server = await openVaultServer();
    const sandbox = makeVaultSandbox(server);
    expect(await codeOf(publish(withEnv(sandbox, { MEMORYVAULT_API_KEY: 'two\nlines' })))).toBe(
      'HANDOVER_PUBLISH_UNCONFIGURED',
    );
    configure(sandbox, '');
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });

  it('gets nothing when there is no HANDOFF.md, which is reported', async () => {
    const server = await openVaultServer();
    const sandbox = makeVaultSandbox(server);
    rmSync(join(sandbox.project, 'HANDOFF.md'));
    expect(await publish(sandbox)).toMatchObject({
      outcome: 'nothing new',
      notes: ['there is no HANDOFF.md to send'],
    });
    expect(server.posts).toEqual([]);
  });
});

describe('a folder to publish to', () => {
  const makeFolderSandbox = (): Sandbox & { drive: string } => {
    const sandbox = makeSandbox();
    const drive = join(sandbox.home, 'drive');
    mkdirSync(drive);
    writeIn(sandbox.project, 'HANDOFF.md', 'where things stand\n');
    configure(sandbox, '[publish]\nbackend = "folder"\n[publish.folder]\npath = "~/drive"\n');
    return { ...sandbox, drive };
  };

  it('has each complete file and nothing else', async () => {
    const sandbox = makeFolderSandbox();
    await publish(sandbox);
    writeIn(sandbox.project, 'HANDOFF.md', 'further on\n');
    await publish(sandbox);
    expect(readdirSync(join(sandbox.drive, 'app'))).toEqual(['HANDOFF.md']);
    expect(readIn(sandbox.drive, 'app/HANDOFF.md')).toBe('further on\n');
  });

  it('is never created, since the drive may not be mounted', async () => {
    const sandbox = makeFolderSandbox();
    rmSync(sandbox.drive, { recursive: true });
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_REMOTE_UNREACHABLE');
    expect(existsSync(sandbox.drive)).toBe(false);
  });

  it('is checked for conflict copies of a sync program', async () => {
    const sandbox = makeFolderSandbox();
    await publish(sandbox);
    const copy = join(sandbox.drive, 'app', 'HANDOFF.sync-conflict-20261115-120000-ABCDEFG.md');
    writeFileSync(copy, 'of another machine\n');
    const { outcome, notes } = await publish(sandbox);
    expect(outcome).toBe('nothing new');
    expect(notes).toEqual([`${copy} is a conflict copy: check whether it has something that HANDOFF.md lacks`]);
  });

  it('is not left through a link inside it', async () => {
    const sandbox = makeFolderSandbox();
    const elsewhere = join(sandbox.folder, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(sandbox.drive, 'app'));
    expect(await codeOf(publish(sandbox))).toBe('HANDOVER_PATH_UNSAFE');
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
