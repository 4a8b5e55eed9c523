import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { describeMachine } from '../../src/platform/machine.ts';
import { findDataFolder } from '../../src/platform/paths.ts';
import { makeFolder } from '../support/temp-store.ts';

const machineWith = (store: string) => describeMachine({ HANDOVER_HOME: store });

it('the data folder is accepted when another process creates it between two checks', async () => {
  const root = makeFolder();
  const count = 1000;
  const maker = new Worker(
    `const { mkdirSync } = require('node:fs');
     const { workerData: { root, count } } = require('node:worker_threads');
     for (let n = 0; n < count; n++) mkdirSync(root + '/' + n);`,
    { eval: true, workerData: { root, count } },
  );
  const ended = new Promise((resolve, reject) => maker.once('exit', resolve).once('error', reject));
  for (let n = 0; n < count; n++) {
    const folder = join(root, String(n));
    do expect(findDataFolder(machineWith(folder))).toBe(folder);
    while (!existsSync(folder));
  }
  await ended;
});

it('the data folder may be missing, but must not be a dangling link', () => {
  const root = makeFolder();
  symlinkSync(join(root, 'nothing'), join(root, 'link'));
  expect(() => findDataFolder(machineWith(join(root, 'link')))).toThrow('is not a folder');
  expect(findDataFolder(machineWith(join(root, 'later')))).toBe(join(root, 'later'));
  mkdirSync(join(root, 'later'));
  expect(findDataFolder(machineWith(join(root, 'later')))).toBe(join(root, 'later'));
});
