import { describe, expect, it } from 'vitest';
import { countTokens, takeFirstTokens, takeLastTokens } from '../../eval/score/budget.ts';
import { keepCredited } from '../../eval/score/credit.ts';
import type { Metric } from '../../eval/score/metrics.ts';
import { scoreBrief } from '../../eval/score/score.ts';
import { gatherTruth, type Truth } from '../../eval/truth/truth.ts';
import { cutAt, makeCompactedStory } from './compacted-story.ts';

const story = gatherTruth(cutAt(makeCompactedStory()));

function measure(metric: Metric, brief: string, changes: Partial<Truth> = {}): number | undefined {
  const tally = scoreBrief(brief, { labels: null, truth: { ...story, ...changes } }).score.get(metric);
  return tally === undefined ? undefined : tally.sum / tally.count;
}

describe('the rules for names of what was touched next', () => {
  const next = (...wanted: string[]): Partial<Truth> => ({ nextEdit: new Set(wanted) });

  it('give nothing for a bare list of names', () => {
    const wanted = next('retryLater', 'MAX_TRIES', 'sendOnce');
    expect(measure('nextEdit', 'retryLater MAX_TRIES sendOnce', wanted)).toBe(0);
    expect(measure('nextEdit', 'retryLater, MAX_TRIES, and also sendOnce', wanted)).toBe(0);
  });

  it.each([
    ['a file', '- src/upload.ts retryLater'],
    ['a label', '- open question: retryLater'],
    ['four other words', 'We still have to write retryLater'],
  ])('give credit on a line with %s', (_, line) => {
    expect(measure('nextEdit', line, next('retryLater'))).toBe(1);
  });

  it('count at most eight names a line', () => {
    const ten = Array.from({ length: 10 }, (_, n) => `longName${String.fromCharCode(65 + n)}`);
    expect(measure('nextEdit', `src/a.ts: ${ten.join(', ')}`, next(...ten))).toBe(0.8);
    const two = `src/a.ts: ${ten.slice(0, 5).join(', ')}\nsrc/b.ts: ${ten.slice(5).join(', ')}`;
    expect(measure('nextEdit', two, next(...ten))).toBe(1);
  });

  it('keep a ninth name that is a part of one of the eight', () => {
    const eight = Array.from({ length: 8 }, (_, n) => `longName${n}x.tail`).map((name) => `\`${name}\``);
    expect(keepCredited(`src/a.ts: ${eight.join(' ')} longName0x`)).toContain(' longName0x');
  });

  it('leave files, headings and prose alone', () => {
    const text = '## retryLater MAX_TRIES\nsrc/upload.ts src/retry.ts\nplain words';
    expect(keepCredited(text)).toBe(text);
  });
});

describe('the budget', () => {
  it('cuts what is beyond it, at a whole character', () => {
    expect(takeFirstTokens('abcdefgh', 2)).toBe('abcdefgh');
    expect(takeFirstTokens('abcdefghi', 2)).toBe('abcdefgh');
    expect(takeFirstTokens('abcdefg€', 2)).toBe('abcdefg');
    expect(takeLastTokens('€abcdefg', 2)).toBe('abcdefg');
    expect(countTokens('€€€')).toBe(3);
  });
});

describe('what was needed next', () => {
  it('is the share of its files and commands', () => {
    const brief = '- src/retry.ts\n- ok: npm test';
    expect([measure('nextEdit', brief), measure('nextRead', brief), measure('nextCmd', brief)]).toEqual([1, 0, 1]);
    expect(measure('nextCmd', brief, { nextCmd: new Set() })).toBeUndefined();
  });

  it('has commands between other words and between back-ticks', () => {
    const cargo = { nextCmd: new Set(['cargo build']) };
    expect(measure('nextCmd', 'run `cargo --locked build` then', cargo)).toBe(1);
    expect(measure('nextCmd', 'cargo was built', cargo)).toBe(0);
  });
});

describe('what is worth its bytes', () => {
  it('are lines with a name that mattered, a command, a human’s words or what is to do', () => {
    const useful = ['src/upload.ts', 'npm test', 'keep the delay below', 'test the retry on a busy server'];
    for (const line of useful) expect([line, measure('useful', line)]).toEqual([line, 1]);
    expect(measure('useful', '# heading\n\nsrc/upload.ts\nLet me see now.')).toBeCloseTo(13 / (13 + 15), 9);
    const { misses } = scoreBrief('src/upload.ts\nLet me see now.', { labels: null, truth: story });
    expect(misses.get('useful')).toEqual(['Let me see now.']);
    expect(measure('useful', '# only a heading')).toBeUndefined();
  });
});

describe('lists of names', () => {
  it('are measured by their bytes, and by how many of their names were used later', () => {
    const list = 'brandNewName, `someOther`, third.part(), TypeError';
    const brief = `In it: ${list}.`;
    // The full stop could be part of a name.
    expect(measure('names', brief)).toBeCloseTo((list.length + 1) / brief.length, 9);
    expect(measure('namesUsed', 'x: brandNewName, `someOther`, third.part(), retry')).toBe(1 / 2);
    expect(measure('namesUsed', brief, { later: null })).toBeUndefined();
  });

  it('have four names at least, and nothing else', () => {
    expect(measure('names', 'one, two, three')).toBe(0);
    expect(measure('names', 'one of it, two of it, three of it, four of it')).toBe(0);
    expect(measure('names', 'no names at all')).toBe(0);
    expect(measure('namesUsed', 'no names at all')).toBeUndefined();
  });
});

describe('a brief', () => {
  it('without a word scores nothing', () => {
    const { score } = scoreBrief('', { labels: null, truth: story });
    expect([...score]).toEqual([
      ['tokens', { sum: 0, count: 1 }],
      ['names', { sum: 0, count: 1 }],
      ['nextEdit', { sum: 0, count: 1 }],
      ['nextRead', { sum: 0, count: 1 }],
      ['nextCmd', { sum: 0, count: 1 }],
    ]);
  });

  it('of a transcript that cannot be read is measured without what came after', () => {
    const { score } = scoreBrief('a, b, c, d', { labels: null, truth: null });
    expect([...score.keys()]).toEqual(['tokens', 'names']);
  });
});
