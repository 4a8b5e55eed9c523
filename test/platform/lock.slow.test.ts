import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { withLock } from '../../src/platform/lock.ts';
import { systemClock } from '../../src/platform/machine.ts';
import { prepareLockWorkers, waitForEnd } from './lock-workers.ts';
import { explore } from './workers/lock-model.ts';

const workers = prepareLockWorkers();
let place = '';
let folder = '';

beforeEach(() => {
  place = mkdtempSync(join(workers.root, 'case-'));
  folder = join(place, 'locks');
});

describe.each([
  ['with hard links', undefined],
  ['without hard links', 'without-hard-links.mjs'],
])('many processes %s', (_, preload) => {
  const links = preload === undefined ? {} : { preload };

  it('increment a number 16 x 50 times and lose none', { timeout: 180_000 }, async () => {
    const counter = join(place, 'counter');
    writeFileSync(counter, '0');
    const started = Array.from({ length: 16 }, () =>
      workers.start('count.mjs', { ...links, args: [folder, counter, 50] }),
    );
    expect(await Promise.all(started.map(waitForEnd))).toEqual(started.map(() => 0));
    expect(readFileSync(counter, 'utf8')).toBe('800');
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('never hold the lock together, while some are killed', { timeout: 180_000 }, async () => {
    const started = Array.from({ length: 12 }, (_unused, index) => {
      const dieAt = index % 4 === 0 ? 2 + index : 0;
      return workers.start('enter-and-die.mjs', { ...links, args: [folder, place, 25, dieAt] });
    });
    const found = join(place, 'found-dead');
    await expect.poll(() => existsSync(found)).toBe(true);
    for (const victim of started.filter((_unused, index) => index % 4 === 1)) {
      victim.kill('SIGKILL');
      await setTimeout(20);
    }
    const outcomes = await Promise.all(started.map(waitForEnd));
    expect(outcomes.filter((_unused, index) => index % 4 === 0)).toEqual(Array(3).fill('SIGKILL'));
    expect(outcomes.filter((_unused, index) => index % 4 > 1)).toEqual(Array(6).fill(0));
    expect(existsSync(join(place, 'violations'))).toBe(false);
    expect(
      withLock({ folder, name: 'arena', waitMs: 5000, clock: systemClock }, () => readdirSync(folder)),
    ).toHaveLength(1);
  });
});

it('a model of the lock, in every order of its steps, never lets two inside: 4 and 4 rounds, 1 crash', () => {
  const { violations, ends } = explore({ rounds: [4, 4], crashes: 1, rule: 'meet no live claim' });
  expect(violations).toBe(0);
  expect(ends).toBeGreaterThan(0);
});
