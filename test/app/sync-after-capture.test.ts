import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { syncAfterCapture } from '../../src/app/sync.ts';
import { openStore } from '../../src/store/store.ts';
import { makeSandbox } from '../support/cli.ts';

test('a capture is followed by a sync only if the user said so, and with a remote that was synced before', async () => {
  const sandbox = makeSandbox();
  const store = openStore(sandbox.machine);
  const [first, second] = [join(sandbox.folder, 'first'), join(sandbox.folder, 'second')];
  for (const folder of [first, second]) mkdirSync(folder);
  await sandbox.ok(['keys', 'generate', '--name', 'ada']);
  await sandbox.ok(['remote', 'add', 'first', first]);
  await sandbox.ok(['sync', '--yes']);
  await sandbox.ok(['remote', 'add', 'second', second]);
  await sandbox.save('Retries done');
  await syncAfterCapture(store);
  expect(existsSync(join(first, 'pages'))).toBe(false);
  writeFileSync(join(sandbox.home, '.config', 'agent-handover', 'config.toml'), '[sync]\nauto = true\n');
  await syncAfterCapture(store);
  expect([first, second].map((folder) => existsSync(join(folder, 'pages')))).toEqual([true, false]);
});

test('a remote that cannot be used does not keep the others from being synced, and is said', async () => {
  const sandbox = makeSandbox();
  const store = openStore(sandbox.machine);
  const [first, second] = [join(sandbox.folder, 'first'), join(sandbox.folder, 'second')];
  await sandbox.ok(['keys', 'generate', '--name', 'ada']);
  for (const folder of [first, second]) {
    mkdirSync(folder);
    await sandbox.ok(['remote', 'add', folder === first ? 'first' : 'second', folder]);
  }
  await sandbox.ok(['sync', '--yes']);
  await sandbox.save('Retries done');
  writeFileSync(join(sandbox.home, '.config', 'agent-handover', 'config.toml'), '[sync]\nauto = true\n');
  writeFileSync(join(first, 'bodies'), 'in the place of a folder');
  await expect(syncAfterCapture(store)).rejects.toThrow();
  expect(existsSync(join(second, 'pages'))).toBe(true);
});
