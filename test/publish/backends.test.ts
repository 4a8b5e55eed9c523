import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, makeDesk } from '../support/cli.ts';
import { codeOf, configure, publish, readIn, writeIn } from '../support/publishing.ts';
import { BUCKET, openS3Server, S3_KEYS, type S3Server } from '../support/s3-server.ts';
import { openVaultServer, TOKEN, type VaultServer } from '../support/vault-server.ts';

function withEnv(desk: Desk, env: Record<string, string | undefined>): Desk {
  return { ...desk, machine: { ...desk.machine, env: { ...desk.machine.env, ...env } } };
}

const KEYS = { AWS_ACCESS_KEY_ID: S3_KEYS.id, AWS_SECRET_ACCESS_KEY: S3_KEYS.secret };

function makeS3Desk(server: S3Server, extra = ''): Desk {
  const desk = withEnv(makeDesk(), KEYS);
  writeIn(desk.project, 'HANDOFF.md', 'where things stand\n');
  configure(
    desk,
    `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${server.url}"\nbucket = "${BUCKET}"\n${extra}`,
  );
  return desk;
}

describe('an S3-compatible store', () => {
  it('is asked for one list when nothing is new, however many files there are', async () => {
    const server = await openS3Server();
    const desk = makeS3Desk(server);
    await publish(desk);
    server.requests.length = 0;
    expect((await publish(desk)).outcome).toBe('nothing new');
    expect(server.requests).toEqual([`GET /${BUCKET}/`]);
  });

  it('keeps what another writer put there between looking and writing', async () => {
    const server = await openS3Server();
    const desk = makeS3Desk(server);
    const key = 'agent-handover/app/HANDOFF.md';
    server.beforeWrite = () => server.objects.set(key, Buffer.from('theirs\n'));
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PUBLISH_CONFLICT');
    expect(server.objects.get(key)?.toString()).toBe('theirs\n');
    server.objects.delete(key);
    server.beforeWrite = () => undefined;
    await publish(desk);
    writeIn(desk.project, 'HANDOFF.md', 'ours\n');
    server.beforeWrite = () => server.objects.set(key, Buffer.from('theirs again\n'));
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PUBLISH_CONFLICT');
    expect(server.objects.get(key)?.toString()).toBe('theirs again\n');
  });

  it('takes an equal write of another machine for its own', async () => {
    const server = await openS3Server();
    const desk = makeS3Desk(server);
    server.beforeWrite = () => server.objects.set('agent-handover/app/HANDOFF.md', Buffer.from('where things stand\n'));
    expect((await publish(desk)).outcome).toBe('nothing new');
  });

  it('publishes the others when one is in conflict', async () => {
    const server = await openS3Server();
    const desk = makeS3Desk(server);
    writeIn(desk.project, 'SOUL.md', 'who\n');
    server.objects.set('agent-handover/app/HANDOFF.md', Buffer.from('theirs\n'));
    await expect(publish(desk)).rejects.toMatchObject({
      code: 'HANDOVER_PUBLISH_CONFLICT',
      message: expect.stringMatching(/^HANDOFF\.md was changed by somebody else in .* and was not overwritten$/),
    });
    expect(server.objects.get('agent-handover/app/SOUL.md')?.toString()).toBe('who\n');
  });

  it('takes names that need escaping, and lists of many pages', async () => {
    const server = await openS3Server();
    const desk = makeS3Desk(server);
    const names = ['a b', 'ü+ß', "it's (1)", 'x&y', '100%', 'plus+eq=', '😀'];
    for (const name of names) writeIn(desk.project, `memory/layer1/2026-11/${name}-2026-11-15.md`, name);
    expect((await publish(desk)).changes).toHaveLength(names.length + 1);
    expect((await publish(desk)).outcome).toBe('nothing new');
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
  ])('ends in a coded error when it answers %i', async (status, code) => {
    const server = await openS3Server();
    server.failWith = status;
    expect(await codeOf(publish(makeS3Desk(server)))).toBe(code);
  });

  it('refuses a wrong key, and says when there is no bucket and no key', async () => {
    const server = await openS3Server();
    const desk = makeS3Desk(server);
    expect(await codeOf(publish(withEnv(desk, { AWS_SECRET_ACCESS_KEY: 'wrong' })))).toBe('HANDOVER_REMOTE_REFUSED');
    expect(await codeOf(publish(withEnv(desk, { AWS_SECRET_ACCESS_KEY: undefined })))).toBe(
      'HANDOVER_PUBLISH_UNCONFIGURED',
    );
    expect(await codeOf(publish(withEnv(desk, { AWS_SESSION_TOKEN: 'x' })))).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
    configure(desk, `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${server.url}"\nbucket = "nothing"\n`);
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });

  it('takes the keys from a file of the usual form, if others cannot read it', async () => {
    const server = await openS3Server();
    const made = makeS3Desk(server, 'credentials_file = "~/keys"\nprofile = "memory"\n');
    const desk = withEnv(made, { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined });
    const keys = `aws_access_key_id = ${S3_KEYS.id}\naws_secret_access_key=${S3_KEYS.secret}\n`;
    writeIn(desk.home, 'keys', `[default]\naws_access_key_id = x\n[memory]\n${keys}`);
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PERMISSION');
    chmodSync(join(desk.home, 'keys'), 0o600);
    expect((await publish(desk)).outcome).toBe('published');
  });
});

function makeVaultDesk(server: VaultServer): Desk {
  const desk = withEnv(makeDesk(), { MEMORYVAULT_API_KEY: TOKEN });
  writeIn(desk.project, 'HANDOFF.md', 'where things stand\n');
  configure(
    desk,
    `[publish]\nbackend = "memoryvault"\n[publish.memoryvault]\nurl = "${server.url}/api/"\ntimeout = 1\n`,
  );
  return desk;
}

describe('a MemoryVault', () => {
  it.each([
    [401, 'HANDOVER_REMOTE_REFUSED'],
    [403, 'HANDOVER_REMOTE_REFUSED'],
    [429, 'HANDOVER_REMOTE_BUSY'],
    [500, 'HANDOVER_REMOTE_UNREACHABLE'],
    [302, 'HANDOVER_REMOTE_REFUSED'],
    [400, 'HANDOVER_REMOTE_REFUSED'],
  ])('that answers %i ends in a coded error, and the next try arrives', async (status, code) => {
    const server = await openVaultServer();
    const desk = makeVaultDesk(server);
    server.failWith = status;
    expect(await codeOf(publish(desk))).toBe(code);
    server.failWith = null;
    expect((await publish(desk)).outcome).toBe('published');
  });

  it('that never answers is given up after the time that was set', async () => {
    const server = await openVaultServer();
    const desk = makeVaultDesk(server);
    server.stalls = true;
    expect(await codeOf(publish(desk))).toBe('HANDOVER_REMOTE_UNREACHABLE');
  });

  it('needs an address, and a key that can be one', async () => {
    const server = await openVaultServer();
    const desk = makeVaultDesk(server);
    expect(await codeOf(publish(withEnv(desk, { MEMORYVAULT_API_KEY: 'two\nlines' })))).toBe(
      'HANDOVER_PUBLISH_UNCONFIGURED',
    );
    configure(desk, '');
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PUBLISH_UNCONFIGURED');
  });

  it('gets nothing when there is no HANDOFF.md, and says so', async () => {
    const server = await openVaultServer();
    const desk = makeVaultDesk(server);
    rmSync(join(desk.project, 'HANDOFF.md'));
    expect(await publish(desk)).toMatchObject({
      outcome: 'nothing new',
      notes: ['there is no HANDOFF.md to send'],
    });
    expect(server.posts).toEqual([]);
  });
});

describe('a folder', () => {
  const makeFolderDesk = (): Desk & { drive: string } => {
    const desk = makeDesk();
    const drive = join(desk.home, 'drive');
    mkdirSync(drive);
    writeIn(desk.project, 'HANDOFF.md', 'where things stand\n');
    configure(desk, '[publish]\nbackend = "folder"\n[publish.folder]\npath = "~/drive"\n');
    return { ...desk, drive };
  };

  it('has each file whole and nothing else', async () => {
    const desk = makeFolderDesk();
    await publish(desk);
    writeIn(desk.project, 'HANDOFF.md', 'further on\n');
    await publish(desk);
    expect(readdirSync(join(desk.drive, 'app'))).toEqual(['HANDOFF.md']);
    expect(readIn(desk.drive, 'app/HANDOFF.md')).toBe('further on\n');
  });

  it('is never made: a drive that is not mounted would be filled from below', async () => {
    const desk = makeFolderDesk();
    rmSync(desk.drive, { recursive: true });
    expect(await codeOf(publish(desk))).toBe('HANDOVER_REMOTE_UNREACHABLE');
    expect(existsSync(desk.drive)).toBe(false);
  });

  it('tells of conflict copies that the program which carries it has made', async () => {
    const desk = makeFolderDesk();
    await publish(desk);
    const copy = join(desk.drive, 'app', 'HANDOFF.sync-conflict-20261115-120000-ABCDEFG.md');
    writeFileSync(copy, 'of another machine\n');
    const { outcome, notes } = await publish(desk);
    expect(outcome).toBe('nothing new');
    expect(notes).toEqual([`${copy} is a conflict copy: check whether it has something that HANDOFF.md lacks`]);
  });

  it('is not left through a link in it', async () => {
    const desk = makeFolderDesk();
    const elsewhere = join(desk.folder, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(desk.drive, 'app'));
    expect(await codeOf(publish(desk))).toBe('HANDOVER_PATH_UNSAFE');
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
