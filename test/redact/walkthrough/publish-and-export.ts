import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { formatSessionHandoffBundle } from '../../../src/exchange/legacy/session-handoff-bundle.ts';
import { configure, writeIn } from '../../support/publishing.ts';
import { BUCKET, openS3Server, S3_KEYS } from '../../support/s3-server.ts';
import { listFiles } from '../../support/tree.ts';
import { openVaultServer, TOKEN } from '../../support/vault-server.ts';
import type { Walk } from './walkthrough.ts';

export async function publish(walk: Walk): Promise<void> {
  const { sandbox } = walk;
  const [vault, s3] = [await openVaultServer(), await openS3Server()];
  writeIn(sandbox.project, 'memory/layer2/current-state.md', walk.plant(10).join('\n\n'));
  await walk.run(['push', '--dry-run', '--json']);
  await walk.run(['push']);
  configure(sandbox, `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${s3.url}"\nbucket = "${BUCKET}"\n`);
  await walk.run(['push', '--json'], {
    env: { AWS_ACCESS_KEY_ID: S3_KEYS.id, AWS_SECRET_ACCESS_KEY: S3_KEYS.secret },
  });
  const folder = join(sandbox.folder, 'published');
  mkdirSync(folder);
  configure(sandbox, `[publish]\nbackend = "folder"\n[publish.folder]\npath = "${folder}"\n`);
  await walk.run(['push']);
  writeIn(sandbox.project, 'HANDOFF.md', walk.plant(10).join('\n\n'));
  configure(sandbox, '');
  await walk.run(['push', '--name', 'shop'], {
    env: { MEMORYVAULT_API_KEY: TOKEN, MEMORYVAULT_URL: `${vault.url}/api` },
  });
  expect([vault.posts, [...s3.objects], listFiles(folder)].every(({ length }) => length > 0)).toBe(true);
  walk.early.push(...walk.watch.findInFiles(folder));
  walk.outputs.push(...vault.posts, ...[...s3.objects].map(([key, bytes]) => `${key}: ${bytes.toString('latin1')}`));
}

/** Bundles are looked at as they are, and a locked one as it is where it was imported. */
export async function exchange(walk: Walk): Promise<void> {
  const { sandbox } = walk;
  await walk.run(['keys', 'generate', '--name', 'alice']);
  await walk.run(['keys', 'list']);
  const [, key = ''] = /keys trust (\S+) /.exec(await walk.run(['keys', 'export'])) ?? [];
  await walk.run(['import', '--input', '-', '--trust', key], {
    input: walk.plantOne(),
    at: walk.receiver,
    status: 65,
  });
  for (const format of ['bundle', 'markdown', 'json', 'session-handoff', 'v2']) {
    await walk.run(['export', '--format', format, '--id', 'latest']);
    await walk.run(['export', '--format', format, '--output', join(walk.temp, `one.${format}`)]);
  }
  writeIn(sandbox.folder, 'passphrase', 'correct horse battery\n');
  const locked = join(walk.temp, 'all.handover');
  const pass = ['--passphrase-file', join(sandbox.folder, 'passphrase')];
  await walk.run(['export', '--all', '--sign', '--output', locked, ...pass]);
  await walk.run(['import', '--input', locked, '--trust', key, ...pass], { at: walk.receiver });
  await receiveFromOthers(walk);
  await share(walk);
  await walk.run(['list', '--json', '--limit', '0'], { at: walk.receiver });
  await walk.run(['show', '--json'], { at: walk.receiver });
}

/** A remote, and a task on it. */
async function share(walk: Walk): Promise<void> {
  const shared = join(walk.temp, 'shared');
  mkdirSync(shared);
  await walk.run(['remote', 'add', 'team', shared]);
  await walk.run(['sync', '--dry-run']);
  await walk.run(['sync', '--yes']);
  await walk.run(['offer', 'latest', '--label', walk.plantOne()], { status: 64 });
  await walk.run(['offer', 'latest', '--to', walk.plantOne()], { status: 64 });
  await walk.run(['offer', 'latest', '--label', 'nightly']);
  await walk.run(['take', '--next', 'codex', '--print', '--goal', walk.plantOne()]);
  await walk.run(['who']);
  await walk.run(['status']);
  await walk.run(['release', '--done', '--json']);
  await walk.run(['remote', 'remove', 'team']);
}

/** Bundles of session-handoff, which takes no secrets out. */
async function receiveFromOthers(walk: Walk): Promise<void> {
  const [title = '', summary = '', next = '', project = ''] = walk.plant(4);
  const [file = ''] = walk.plantNames(1);
  const record = {
    id: '20260131-110000',
    created_at: '2026-01-31T11:00:00Z',
    tool: 'codex',
    project: `/home/ann/${project}`,
    title,
    summary,
    next: [next],
    changed: [`src/${file}.ts`],
  };
  const input = formatSessionHandoffBundle(record, null);
  const take = ['import', '--input', '-', '--allow-unsigned'];
  await walk.run([...take, '--dry-run'], { input, at: walk.receiver });
  await walk.run([...take, '--json'], { input, at: walk.receiver });
  await walk.run(take, {
    input: input.replace('"version": 2', `"version": ${JSON.stringify(walk.plantOne())}`),
    at: walk.receiver,
    status: 65,
  });
}
