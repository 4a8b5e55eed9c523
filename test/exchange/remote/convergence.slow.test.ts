import { expect, test } from 'vitest';
import { Convergence, chooseSeed } from '../../support/convergence.ts';

const ROUNDS = 1000;

test('over a thousand rounds of cuts, kills and old copies, all stores end up equal', {
  timeout: 1_800_000,
}, async () => {
  const { counts, ...outcome } = await new Convergence(chooseSeed()).run(ROUNDS);
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  expect(outcome).toEqual({ differences: [], lost: [], resurrected: [] });
});
