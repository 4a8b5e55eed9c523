import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, prepareLines, SEPARATOR_BYTES } from '../../../src/handover/brief/choose-lines.ts';
import { countUtf8Bytes } from '../../../src/model/text.ts';

const line = (text: string, more: Partial<Candidate> = {}): Candidate => ({
  text,
  isFirst: false,
  lead: '',
  message: 0,
  weight: 1,
  ...more,
});
const choose = (candidates: readonly Candidate[], bytes: number): string[] => [
  ...prepareLines(candidates)({ bytes, longest: 300 }).values(),
];
const anyCandidate = fc.record({
  text: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 120 }), fc.lorem({ maxCount: 20 })),
  isFirst: fc.boolean(),
  lead: fc.constantFrom('', 'Open points', 'Rejected'),
  message: fc.nat({ max: 3 }),
  weight: fc.double({ min: 0.01, max: 5, noNaN: true }),
});

describe('choosing lines', () => {
  it('takes no more bytes than it is given, and keeps the order', () => {
    fc.assert(
      fc.property(fc.array(anyCandidate, { maxLength: 30 }), fc.nat({ max: 1500 }), (candidates, bytes) => {
        const chosen = prepareLines(candidates)({ bytes, longest: 100 });
        const used = [...chosen.values()].reduce((sum, text) => sum + countUtf8Bytes(text) + SEPARATOR_BYTES, 0);
        expect(used).toBeLessThanOrEqual(bytes);
        expect([...chosen.keys()]).toEqual([...chosen.keys()].sort((a, b) => a - b));
      }),
    );
  });

  it('chooses the same whatever it was asked before', () => {
    const anyLimits = fc.record({ bytes: fc.nat({ max: 1500 }), longest: fc.constantFrom(40, 60, 100) });
    fc.assert(
      fc.property(fc.array(anyCandidate, { maxLength: 30 }), fc.array(anyLimits), (candidates, asked) => {
        const choose = prepareLines(candidates);
        for (const limits of asked) expect(choose(limits)).toEqual(prepareLines(candidates)(limits));
      }),
    );
  });

  it('counts a heading that goes before the first of several lines, though a later line begins with it', () => {
    const under = { lead: 'Rejected', weight: 0.1 };
    const lines = [
      line('a timer in CRON_TAB', under),
      line('Rejected: a queue in REDIS_URL', { ...under, isFirst: true, weight: 2 }),
      line('a lock in SQLITE_FILE', { ...under, weight: 1 }),
    ];
    const bytes = lines.reduce((sum, { text }) => sum + text.length + SEPARATOR_BYTES, 0);
    expect(choose(lines, bytes)).toEqual(['Rejected: a queue in REDIS_URL', 'a lock in SQLITE_FILE']);
    expect(choose(lines, bytes + 'Rejected: '.length)[0]).toBe('Rejected: a timer in CRON_TAB');
  });

  it('takes all lines where all fit', () => {
    fc.assert(
      fc.property(fc.array(anyCandidate, { maxLength: 30 }), (candidates) => {
        expect(prepareLines(candidates)({ bytes: 1e6, longest: 1000 }).size).toBe(candidates.length);
      }),
    );
  });

  it('prefers what names more', () => {
    const lines = [
      line('I had a look at all of these things again.'),
      line('`RetryPolicy` waits 250 ms in upload.ts.'),
    ];
    expect(choose(lines, 60)).toEqual(['`RetryPolicy` waits 250 ms in upload.ts.']);
  });

  it('tells a thing once before it tells it twice, in the line with more weight', () => {
    const lines = [
      line('The delay is MAX_DELAY, one second.', { message: 0 }),
      line('The cache is in SESSION_CACHE, by user.', { message: 0 }),
      line('The delay is MAX_DELAY, two seconds.', { message: 1, weight: 2 }),
    ];
    expect(choose(lines, 90)).toEqual([
      'The cache is in SESSION_CACHE, by user.',
      'The delay is MAX_DELAY, two seconds.',
    ]);
  });

  it('works where words have no spaces between them', () => {
    const lines = [
      line('重试间隔改为两秒。'),
      line('重试间隔改为两秒。', { message: 1, weight: 1.1 }),
      line('缓存按用户保存。'),
    ];
    expect(choose(lines, 70)).toEqual(['重试间隔改为两秒。', '缓存按用户保存。']);
  });

  it('puts the heading of an item before it, unless a line above it has the same', () => {
    const under = { lead: 'Rejected' };
    const lines = [
      line('Rejected: a queue in Redis', { ...under, isFirst: true, weight: 0.1 }),
      line('a lock in SQLITE_FILE', under),
      line('a timer in CRON_TAB', under),
    ];
    expect(choose(lines, 62)).toEqual(['Rejected: a lock in SQLITE_FILE', 'a timer in CRON_TAB']);
    expect(choose(lines, 200)).toEqual(['Rejected: a queue in Redis', 'a lock in SQLITE_FILE', 'a timer in CRON_TAB']);
  });
});
