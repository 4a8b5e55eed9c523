import { expect, test } from 'vitest';
import { Convergence, chooseSeed } from '../../support/convergence.ts';

test('stores that sync over a failing network end up equal, with nothing lost and nothing resurrected', async () => {
  const { counts: _, ...outcome } = await new Convergence(chooseSeed()).run(60);
  expect(outcome).toEqual({ differences: [], lost: [], resurrected: [] });
});
