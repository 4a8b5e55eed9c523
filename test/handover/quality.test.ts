import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateQuality } from '../../src/handover/quality.ts';
import type { Fact } from '../../src/model/fact.ts';
import type { Quality } from '../../src/model/handover.ts';
import { DECLARED, HUMAN, makeDraft, makeFact, OBSERVED } from '../support/facts.ts';

const CREATED = '2026-01-31T12:00:00.000Z';

function rate(facts: Fact[], parts: { summary?: string; last_at?: string } = {}): Quality {
  const { summary = '', last_at } = parts;
  const { session } = makeDraft([]);
  const timed = last_at === undefined ? session : { ...session, last_at };
  return rateQuality({ facts, summary, session: timed, created_at: CREATED });
}

const GOAL = makeFact('goal', 'Make the upload retry when busy', HUMAN);
const EDITED = makeFact('file', 'src/upload.ts', { ...OBSERVED, status: 'edited' });
const FAILED = makeFact('check', 'npm test', { ...OBSERVED, status: 'failed', detail: { stem: 'npm test' } });
const ERROR = makeFact('error', 'TypeError: no', { ...OBSERVED, detail: { command: 'npm test' } });

describe('the quality of a handover', () => {
  it('is zero without facts', () => {
    expect(rate([])).toEqual({ score: 0, rating: 'Needs Improvement', axes: { goal: 0 } });
  });

  it('is full where all that applies is known', () => {
    const asked = rate([GOAL], { last_at: CREATED });
    expect(asked).toEqual({
      score: 1,
      rating: 'Excellent',
      axes: { goal: 1, evidence: 1, blockers: 1, freshness: 1, verified: 1 },
    });
    const worked = rate([
      GOAL,
      EDITED,
      makeFact('constraint', 'Never retry on 404', HUMAN),
      makeFact('task', 'Test it', { ...OBSERVED, origin: 'agent', status: 'pending' }),
      makeFact('check', 'npm test', { ...OBSERVED, status: 'ok' }),
    ]);
    expect([worked.score, worked.axes.tasks, worked.axes.decisions]).toEqual([1, 1, 1]);
  });

  it('is not excellent where the last event is a month old', () => {
    expect(rate([GOAL], { last_at: '2025-12-01T00:00:00.000Z' })).toMatchObject({ score: 0.89, rating: 'Good' });
  });

  it('is not excellent where code was changed and no check of it was seen to end', () => {
    const said = ['one', 'two', 'three'].map((text) => makeFact('decision', text, HUMAN));
    const edited = [EDITED, makeFact('file', 'docs/upload.md', { ...OBSERVED, status: 'edited' })];
    const tested = makeFact('check', 'npm test', { ...OBSERVED, status: 'ok' });
    expect(rate([GOAL, ...said, ...edited])).toMatchObject({ score: 0.89, rating: 'Good', axes: { verified: 0.83 } });
    expect(rate([GOAL, ...said, ...edited, tested])).toMatchObject({ rating: 'Excellent', axes: { verified: 1 } });
    expect(rate([GOAL, ...said, ...edited.slice(1)])).toMatchObject({ rating: 'Excellent' });
  });

  it('weighs the axes 30, 25, 20, 15 and 10', () => {
    const { score, axes } = rate(
      [
        makeFact('goal', 'From the agent alone', { trust: 'declared' }),
        makeFact('task', 'a', { ...OBSERVED, status: 'pending' }),
        makeFact('task', 'b', OBSERVED),
        EDITED,
        makeFact('decision', 'We use backoff'),
        FAILED,
      ],
      { last_at: '2026-01-16T00:00:00.000Z' },
    );
    expect(axes).toEqual({
      goal: 0.5,
      tasks: 0.5,
      evidence: 1,
      decisions: 0.5,
      blockers: 0,
      freshness: 0.5,
      verified: 0.67,
    });
    expect(score).toBe(Math.round((0.3 * 0.5 + 0.25 + 0.2 * 0.5 + 0 + 0.1 * ((0.5 + 0.67) / 2)) * 100) / 100);
  });

  it.each([
    [[GOAL], '', 1, 'Excellent'],
    [[GOAL, FAILED, ERROR], '', 0.91, 'Excellent'],
    [[GOAL, EDITED, makeFact('decision', 'We use backoff')], '', 0.83, 'Good'],
    [[makeFact('note', 'x', DECLARED)], 'told', 0.73, 'Good'],
    [[EDITED], 'told', 0.55, 'Acceptable'],
    [[EDITED], '', 0.4, 'Needs Improvement'],
    [[makeFact('note', 'x', DECLARED)], '', 0.45, 'Needs Improvement'],
  ] as const)('rates case %# as expected', (facts, summary, score, rating) => {
    expect(rate([...facts], { summary })).toMatchObject({ score, rating });
  });

  it('recognises a goal in any script', () => {
    const goalOf = (text: string, parts = HUMAN): number | undefined => rate([makeFact('goal', text, parts)]).axes.goal;
    expect(goalOf('Fix the parser')).toBe(1);
    expect(goalOf('修复上传时的重试')).toBe(1);
    expect(goalOf('go on')).toBe(0.5);
    expect(goalOf('continue')).toBe(0.5);
    expect(goalOf('Fix the parser', {})).toBe(0.5);
    expect(rate([EDITED], { summary: 'Retries raised to 5' }).axes.goal).toBe(0.5);
  });

  it('gives inferred decisions at most half, and expects no more decisions than the work needed', () => {
    const talk = (count: number): Fact[] =>
      Array.from({ length: count }, (_, at) => makeFact('decision', `We will use ${at}`));
    expect(rate([EDITED, ...talk(1)]).axes.decisions).toBe(0.5);
    expect(rate([EDITED, ...talk(50)]).axes.decisions).toBe(0.5);
    expect(rate([EDITED, makeFact('rejected', 'A queue', DECLARED)]).axes.decisions).toBe(1);
    expect(rate([EDITED]).axes.decisions).toBe(0);
    expect(rate([GOAL]).axes.decisions).toBeUndefined();
  });

  it('does not count what an agent said in passing in an earlier session', () => {
    const sources = [{ session: 's-0', line: 3 }];
    const old = makeFact('decision', 'We use a queue', { sources });
    expect(rate([GOAL, EDITED, old])).toEqual(rate([GOAL, EDITED]));
    const rule = makeFact('constraint', 'Never retry on 404', { ...HUMAN, sources });
    expect(rate([GOAL, EDITED, rule]).axes.decisions).toBe(1);
  });

  it('scores failures: half when recorded, zero when not, full when there are none', () => {
    expect(rate([GOAL]).axes.blockers).toBe(1);
    expect(rate([GOAL, FAILED]).axes.blockers).toBe(0);
    expect(rate([GOAL, FAILED, ERROR]).axes.blockers).toBe(0.5);
    expect(rate([GOAL, makeFact('blocker', 'No key for the API', DECLARED)]).axes.blockers).toBe(0.5);
    expect(rate([GOAL, makeFact('blocker', 'The call is blocked by CORS')]).axes.blockers).toBe(1);
  });

  it('V2-9: a goal with "plan" in one of its words is no blocker', () => {
    const goal = makeFact('goal', 'Write an explanation of the airplane module', HUMAN);
    expect(rate([goal]).axes.blockers).toBe(1);
  });

  it('V2-3: a check that came back is not taken for one that is pending', () => {
    const check = (status: string): Fact => makeFact('check', 'npm test', { ...OBSERVED, status });
    expect(rate([check('ok')]).axes.evidence).toBe(1);
    expect(rate([check('running')]).axes.evidence).toBe(0);
  });

  it('falls with the age of the facts', () => {
    const freshness = (last_at: string): number | undefined => rate([GOAL], { last_at }).axes.freshness;
    expect(freshness('2026-01-31T11:59:00.000Z')).toBe(1);
    expect(freshness('2026-02-28T00:00:00.000Z')).toBe(1);
    expect(freshness('2026-01-16T00:00:00.000Z')).toBe(0.5);
    expect(freshness('2025-06-01T00:00:00.000Z')).toBe(0);
    expect(rate([GOAL]).axes.freshness).toBeUndefined();
  });

  it('is not changed by noise', () => {
    const noise = fc.array(
      fc.oneof(
        fc.string({ minLength: 1 }).map((text) => makeFact('note', text)),
        fc.string({ minLength: 1 }).map((text) => makeFact('reference', text)),
        fc.string({ minLength: 1 }).map((text) => makeFact('command', text, { ...OBSERVED, status: 'ok' })),
        fc.string({ minLength: 1 }).map((text) => makeFact('file', text, { ...OBSERVED, status: 'read' })),
        fc.string({ minLength: 1 }).map((text) => makeFact('error', text, OBSERVED)),
        fc.string({ minLength: 1 }).map((text) => makeFact('question', text)),
      ),
    );
    const told = fc.subarray([GOAL, EDITED, FAILED, ERROR, makeFact('decision', 'We use backoff')]);
    fc.assert(
      fc.property(told, noise, (facts, more) => {
        expect(rate([...facts, ...more])).toEqual(rate(facts));
      }),
    );
  });
});
