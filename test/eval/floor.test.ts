import { describe, expect, it } from 'vitest';
import { openCorpus } from '../../eval/corpus/corpus.ts';
import { aggregate } from '../../eval/report/aggregate.ts';
import type { Metric } from '../../eval/score/metrics.ts';
import { evaluateTogether } from '../../eval/together.ts';
import { makeTempFolder } from '../support/cli.ts';

const CORPUS = 'test/fixtures/sessions';

/**
 * What the briefs of the invented sessions reach at least, about .02 below what they reached when this was written. A change
 * that goes below is to be understood before the floor is lowered; one that goes well above may raise it.
 */
const FLOORS: ReadonlyMap<number, readonly (readonly [Metric, number])[]> = new Map([
  [
    1000,
    [
      ['FUT', 0.74],
      ['SUM', 0.78],
      ['nextCmd', 0.89],
      ['filePrec', 0.77],
      ['userMsg', 0.77],
      ['lastUser', 0.98],
      ['todo', 1],
      ['editedAll', 1],
      ['ground', 0.99],
      ['useful', 0.79],
    ],
  ],
  [
    2000,
    [
      ['FUT', 0.79],
      ['SUM', 0.85],
      ['nextCmd', 0.9],
      ['filePrec', 0.73],
      ['userMsg', 0.94],
      ['lastUser', 0.98],
      ['todo', 1],
      ['editedAll', 1],
      ['ground', 0.99],
      ['useful', 0.75],
    ],
  ],
]);

const sessions = openCorpus(CORPUS);
const results = await evaluateTogether(
  sessions,
  { corpus: CORPUS, budgets: [...FLOORS.keys()], arms: ['handover', 'sections'], folder: makeTempFolder() },
  1,
);
const standings = aggregate(results);

function findStanding(arm: string, budget: number): (typeof standings)[number] {
  const standing = standings.find((one) => one.arm === arm && one.budget === budget);
  if (standing === undefined) throw new Error(`${CORPUS} has no session that can be cut`);
  return standing;
}

describe.each([...FLOORS])('briefs of the invented sessions at %d tokens', (budget, floors) => {
  const { mean, failures } = findStanding('handover', budget);

  it('exist for every cut', () => {
    expect(failures).toEqual([]);
  });

  it.each(floors)('reach in %s at least %d', (metric, floor) => {
    expect(mean.get(metric)).toBeGreaterThanOrEqual(floor);
  });

  it('stay within the budget', () => {
    expect(mean.get('tokens')).toBeLessThanOrEqual(budget);
  });

  it('score higher than plain lists of files and commands', () => {
    const plain = findStanding('sections', budget).mean;
    for (const metric of ['FUT', 'SUM'] as const)
      expect(mean.get(metric)).toBeGreaterThan((plain.get(metric) ?? 1) + 0.1);
  });
});
