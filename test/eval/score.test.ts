import { describe, expect, it } from 'vitest';
import { KnownText } from '../../eval/names/known-text.ts';
import { countTokens, takeFirstTokens, takeLastTokens } from '../../eval/score/budget.ts';
import { keepCredited } from '../../eval/score/credit.ts';
import type { Metric } from '../../eval/score/metrics.ts';
import { scoreBrief } from '../../eval/score/score.ts';
import { gatherTruth, type Truth } from '../../eval/truth/truth.ts';
import { cutAt, makeCompactedStory } from './compacted-story.ts';

const story = gatherTruth(cutAt(makeCompactedStory()));

function measure(metric: Metric, brief: string, changes: Partial<Truth> = {}): number | undefined {
  return scoreBrief(brief, { ...story, ...changes }).score.get(metric);
}

const names = (...wanted: string[]): Partial<Truth> => ({
  names: { ...story.names, futEnt: new Set(wanted) },
});

describe('the anti-gaming rules of the score', () => {
  it('give no credit for a bare list of names', () => {
    const wanted = names('retryLater', 'MAX_TRIES', 'sendOnce');
    expect(measure('futEnt', 'retryLater MAX_TRIES sendOnce', wanted)).toBe(0);
    expect(measure('futEnt', 'retryLater, MAX_TRIES, and also sendOnce', wanted)).toBe(0);
  });

  it.each([
    ['a file', '- src/upload.ts retryLater'],
    ['a label', '- open question: retryLater'],
    ['four other words', 'We still have to write retryLater'],
  ])('give credit on a line with %s', (_, line) => {
    expect(measure('futEnt', line, names('retryLater'))).toBe(1);
  });

  it('count at most eight names a line', () => {
    const ten = Array.from({ length: 10 }, (_, n) => `longName${String.fromCharCode(65 + n)}`);
    expect(measure('futEnt', `src/a.ts: ${ten.join(', ')}`, names(...ten))).toBe(0.8);
    expect(
      measure('futEnt', `src/a.ts: ${ten.slice(0, 5).join(', ')}\nsrc/b.ts: ${ten.slice(5).join(', ')}`, names(...ten)),
    ).toBe(1);
  });

  it('keep a ninth name that is a part of one of the eight', () => {
    const eight = Array.from({ length: 8 }, (_, n) => `longName${n}x.tail`).map((name) => `\`${name}\``);
    expect(keepCredited(`src/a.ts: ${eight.join(' ')} longName0x`)).toContain(' longName0x');
  });

  it('leave files, headings and prose alone', () => {
    const text = '## retryLater MAX_TRIES\nsrc/upload.ts src/retry.ts\nplain words';
    expect(keepCredited(text)).toBe(text);
  });

  it('cut what is beyond the budget, at a whole character', () => {
    expect(takeFirstTokens('abcdefgh', 2)).toBe('abcdefgh');
    expect(takeFirstTokens('abcdefghi', 2)).toBe('abcdefgh');
    expect(takeFirstTokens('abcdefg€', 2)).toBe('abcdefg');
    expect(takeLastTokens('€abcdefg', 2)).toBe('abcdefg');
    expect(countTokens('€€€')).toBe(3);
  });

  it('detect invented names', () => {
    const brief = 'src/upload.ts calls inventedName() now';
    expect(measure('ground', brief)).toBe(1 / 2);
    expect(scoreBrief(brief, story).misses.get('ground')).toEqual(['inventedName']);
    expect(measure('ground', brief, { known: new KnownText('upload.ts inventedName') })).toBe(1);
  });

  it('detect files that were not needed', () => {
    expect(measure('filePrec', 'src/upload.ts and src/retry.ts')).toBe(1);
    expect(measure('filePrec', 'src/upload.ts a.ts b.ts c.ts')).toBe(1 / 4);
    expect(measure('filePrec', 'no file')).toBeUndefined();
  });
});

describe('the score for what was needed next', () => {
  it('is the mean of files, commands and names, as far as there are any', () => {
    const brief = '- src/retry.ts\n- ok: npm test';
    expect(measure('nextEdit', brief)).toBe(1);
    expect(measure('nextRead', brief)).toBe(0);
    expect(measure('nextCmd', brief)).toBe(1);
    expect(measure('futEnt', brief)).toBe(0);
    expect(measure('FUT', brief)).toBe(1 / 2);
    expect(measure('FUT', brief, { commands: { ...story.commands, nextCmd: new Set() } })).toBe(1 / 3);
  });

  it('counts commands between other words and in back-ticks', () => {
    const cargo = { commands: { ...story.commands, nextCmd: new Set(['cargo build']) } };
    expect(measure('nextCmd', 'run `cargo --locked build` then', cargo)).toBe(1);
    expect(measure('nextCmd', 'cargo was built', cargo)).toBe(0);
  });
});

describe('the score for what the summary has', () => {
  it('is the mean over its kinds of names', () => {
    const brief = 'TypeError: retry is not a function, in src/upload.ts';
    expect(measure('sum.file', brief)).toBe(1 / 2);
    expect(measure('sum.error', brief)).toBe(1);
    expect(measure('sum.ident', brief)).toBe(1);
    expect(measure('sum.cmd', brief)).toBe(0);
    expect(measure('sum.ref', brief)).toBeUndefined();
    expect(measure('SUM', brief)).toBe(2.5 / 4);
  });

  it('is, of a section, the share of its words', () => {
    expect(measure('secPending', 'a busy server')).toBe(1 / 2);
    expect(measure('secPending', 'x', { prose: { ...story.prose, secPending: new Set(['few']) } })).toBeUndefined();
  });
});

describe('the score for what the user said', () => {
  const messages = ['Never retry on 404, and keep the delay below 2000 ms', 'Make it quick'];

  it('counts when most of a message is there', () => {
    expect(measure('userMsg', '> never retry on 404, and keep the delay low', { messages })).toBe(1 / 2);
    expect(measure('userMsg', '> never retry at all', { messages })).toBe(0);
  });

  it('counts, of the first and the last message, by how much of it is there', () => {
    expect(measure('lastUser', '> Never retry on 404, and keep')).toBe(3 / 8);
    expect(measure('lastUser', 'x', { lastMessage: '' })).toBeUndefined();
    expect(measure('firstUser', story.firstMessage)).toBe(1);
  });

  it('counts, of tasks, rules and open errors, by how many are there', () => {
    expect(measure('todo', '> [pending] Test the retry')).toBe(1);
    expect(measure('todo', '> [pending] Test something')).toBe(0);
    expect(measure('todo', 'x', { openTasks: [] })).toBeUndefined();
    expect(measure('rules', 'Never retry on 404, and keep the delay below 2000 ms')).toBe(1);
    const openErrors = new Set(['lint failed: 3 problems', 'cannot find value `at` in this scope']);
    expect(measure('openErr', '- fails: lint failed: 3 problems', { openErrors })).toBe(1 / 2);
  });
});

describe('lines that are worth their bytes', () => {
  it('have a name that mattered, a command, words of the user or an open task', () => {
    const useful = ['src/upload.ts', 'npm test', 'keep the delay below', 'test the retry on a busy server'];
    for (const line of useful) expect([line, measure('useful', line)]).toEqual([line, 1]);
    expect(measure('useful', '# heading\n\nsrc/upload.ts\nLet me see now.')).toBeCloseTo(13 / (13 + 15), 9);
    expect(scoreBrief('src/upload.ts\nLet me see now.', story).misses.get('useful')).toEqual(['Let me see now.']);
    expect(measure('useful', '# only a heading')).toBeUndefined();
  });
});

describe('stale content', () => {
  const past = { doneTasks: ['Add a retry to the upload'], removedFiles: new Set(['old.ts']) };

  it('is a task shown as open that is done, and a file that is gone', () => {
    const brief = '> [pending] Add a retry to the upload\n> [pending] Test the retry\nsrc/old.ts\nsrc/retry.ts';
    expect(measure('stale', brief, { past })).toBe(1 / 2);
    expect(measure('stale', '> [completed] Add a retry to the upload\nremoved: src/old.ts', { past })).toBe(0);
    expect(measure('stale', 'nothing of the kind', { past })).toBeUndefined();
  });
});

describe('an empty brief', () => {
  it('without text scores zero', () => {
    const { score } = scoreBrief('', story);
    expect([score.get('FUT'), score.get('SUM'), score.get('tokens')]).toEqual([0, 0, 0]);
    expect(score.has('ground')).toBe(false);
  });
});
