import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Custody } from '../../../src/exchange/remote/register.ts';
import { type Call, judgeHistory } from '../../support/custody-history.ts';

const TASK = '20260131-120000-k3fz';
const START = Date.UTC(2026, 0, 31, 12);
const GRACE_MS = 60_000;

function state(number: number, changes: Partial<Custody> = {}): Custody {
  const at = new Date(START + number * 1000).toISOString();
  const holder = { writer: 'a'.repeat(32), name: 'ada' };
  const first = { task: TASK, project: 'p-0123456789abcdef', number, state: 'offered' as const, holder };
  return { ...first, to: null, label: null, until: null, at, offered_at: at, ...changes };
}

function held(number: number, fromMs: number, changes: Partial<Custody> = {}): Custody {
  const until = new Date(fromMs + 600_000).toISOString();
  return state(number, { state: 'held', at: new Date(fromMs).toISOString(), until, ...changes });
}

type Between = [called: number, returned: number | null];

function append(
  custody: Custody,
  [called, returned]: Between,
  more: { worker?: string; outcome?: 'refused' } = {},
): Call {
  const { worker = 'w1', outcome = returned === null ? 'unknown' : 'appended' } = more;
  return { kind: 'append', task: TASK, worker, called, returned, custody, outcome };
}

function read(found: Custody | null, [called, returned]: Between): Call {
  return { kind: 'read', task: TASK, worker: 'w2', called, returned, found };
}

const judge = (...calls: Call[]): string => judgeHistory(calls, { graceMs: GRACE_MS }).join('; ');

describe('the judge of histories of custody accepts', () => {
  it('appends one after the other, with reads before, between and beside them', () => {
    const calls = [
      read(null, [1, 2]),
      append(state(1), [3, 6]),
      read(null, [4, 5]),
      read(state(1), [4, 5]),
      append(held(2, START), [7, 10]),
      read(state(1), [8, 9]),
      read(held(2, START), [11, 12]),
    ];
    expect(judge(...calls)).toBe('');
  });

  it('a call without an answer that had its effect, late or never', () => {
    expect(judge(append(state(1), [1, 2]), append(held(2, START), [3, null]), read(state(1), [4, 5]))).toBe('');
    const calls = [append(state(1), [1, 2]), append(held(2, START), [3, null]), read(held(2, START), [6, 7])];
    expect(judge(...calls, read(state(1), [4, 5]))).toBe('');
  });

  it('an append that was refused because another was faster', () => {
    const mine = held(2, START, { holder: { writer: 'b'.repeat(32), name: 'ben' } });
    expect(
      judge(append(state(1), [1, 2]), append(held(2, START), [3, 6]), append(mine, [4, 5], { outcome: 'refused' })),
    ).toBe('');
  });

  it('a take by another after the lease and its grace', () => {
    const other = held(3, START + 660_001);
    expect(
      judge(append(state(1), [1, 2]), append(held(2, START), [3, 4]), append(other, [5, 6], { worker: 'w9' })),
    ).toBe('');
  });
});

describe('the judge of histories of custody rejects', () => {
  const ben = { holder: { writer: 'b'.repeat(32), name: 'ben' } };

  it.each<[string, Call[], string]>([
    ['one number for two', [append(state(1), [1, 4]), append(state(1, ben), [2, 3])], 'was appended 2 times'],
    ['a gap', [append(state(1), [1, 2]), append(state(3), [3, 4])], 'number 2 was never appended'],
    ['a read from nowhere', [append(state(1), [1, 2]), read(state(2), [3, 4])], 'number 2 was never appended'],
    ['a read from the future', [read(state(1), [1, 2]), append(state(1), [3, 4])], 'append of 1 began after read of 1'],
    ['a stale read', [append(state(1), [1, 2]), read(null, [3, 4])], 'read of 0 began after append of 1'],
    [
      'a read that goes back',
      [append(state(1), [1, 2]), append(state(2), [3, 9]), read(state(2), [4, 5]), read(state(1), [6, 7])],
      'read of 1 began after read of 2',
    ],
    [
      'numbers against time',
      [append(state(2), [1, 2]), append(state(1), [3, 4])],
      'append of 1 began after append of 2',
    ],
    ['other content', [append(state(1), [1, 2]), read(state(1, ben), [3, 4])], 'other content'],
    ['a lost append', [append(state(1), [1, 2]), append(state(2), [3, 4]), read(state(1), [5, 6])], 'read of 1 began'],
    [
      'a refusal without a reason',
      [append(state(1), [1, 2]), append(state(2), [3, 4], { outcome: 'refused' })],
      'nobody else had appended it',
    ],
    [
      'a refusal before the reason',
      [
        append(state(1), [1, 2]),
        append(state(2), [3, 5], { outcome: 'refused' }),
        read(state(1), [6, 7]),
        append(state(2), [4, 9]),
      ],
      'read of 1 began after refused append of 2',
    ],
    [
      'a take before the lease and its grace are over',
      [
        append(state(1), [1, 2]),
        append(held(2, START), [3, 4]),
        append(held(3, START + 660_000), [5, 6], { worker: 'w9' }),
      ],
      'while w1 held it',
    ],
    [
      'an end by one who does not hold it',
      [append(state(1), [1, 2]), append(state(2, { state: 'released' }), [3, 4])],
      'who did not hold it',
    ],
    [
      'an end of another’s hold, after its lease',
      [
        append(held(1, START), [1, 2]),
        append(state(2, { state: 'done', at: new Date(START + 9_000_000).toISOString() }), [3, 4], { worker: 'w9' }),
      ],
      'who did not hold it',
    ],
    [
      'done twice',
      [
        append(held(1, START), [1, 2]),
        append(state(2, { state: 'done' }), [3, 4]),
        append(state(3, { state: 'done' }), [5, 6]),
      ],
      'came after it was done',
    ],
  ])('%s', (_, calls, message) => {
    expect(judge(...calls)).toContain(message);
  });
});

/** Every order that does not run against real time, tried on a register that is only a number. */
function isLinearizable(calls: readonly Call[], newest = 0): boolean {
  const left = calls.filter(({ returned }) => returned !== null);
  const firstEnd = Math.min(...left.map(({ returned }) => returned ?? Number.POSITIVE_INFINITY));
  return (
    calls.length === 0 ||
    calls.some((call) => {
      const rest = calls.filter((other) => other !== call);
      if (call.called > firstEnd) return false;
      if (call.kind === 'read') return (call.found?.number ?? 0) === newest && isLinearizable(rest, newest);
      const isNext = call.custody.number === newest + 1;
      if (call.outcome === 'refused') return !isNext && isLinearizable(rest, newest);
      return isNext && isLinearizable(rest, newest + 1);
    })
  );
}

describe('the judge of histories of custody', () => {
  it('agrees with trying every order, on random histories', () => {
    const one = fc.record({
      kind: fc.constantFrom('read', 'append', 'append', 'refused'),
      number: fc.integer({ min: 0, max: 3 }),
      span: fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 12 })),
    });
    let [good, bad] = [0, 0];
    const check = fc.property(fc.array(one, { minLength: 1, maxLength: 6 }), (drawn) => {
      const calls = drawn.map(({ kind, number, span: [from, length] }, index): Call => {
        // Different times for all, so that nobody has to say what happens at the same one.
        const between: Between = [from + index / 100, from + length + 0.5 + index / 100];
        const custody = state(Math.max(1, number));
        if (kind === 'read') return read(number === 0 ? null : custody, between);
        return append(custody, between, kind === 'refused' ? { outcome: 'refused' } : {});
      });
      const isGood = isLinearizable(calls);
      if (isGood) good++;
      else bad++;
      expect({ calls, isGood: judge(...calls) === '' }).toEqual({ calls, isGood });
    });
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stdout.write(`histories of custody: seed ${seed}\n`);
    fc.assert(check, { seed, numRuns: 20_000 });
    expect(good).toBeGreaterThan(100);
    expect(bad).toBeGreaterThan(100);
  });
});
