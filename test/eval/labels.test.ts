import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Labels, readLabels } from '../../eval/labels/labels.ts';
import { isToldBy, parsePhrase } from '../../eval/labels/phrase.ts';
import { addScores, type Metric, type Tally } from '../../eval/score/metrics.ts';
import { type Scored, scoreBrief } from '../../eval/score/score.ts';
import { HandoverError } from '../../src/errors.ts';
import { makeFolder } from '../support/temp-store.ts';

/** Labels by hand: a phrase, or a list of them, for each kind. */
function label(phrases: Partial<Record<keyof Labels, readonly string[]>>): Labels {
  const of = (kind: keyof Labels) => (phrases[kind] ?? []).map(parsePhrase);
  return {
    goal: of('goal'),
    lastRequest: of('lastRequest'),
    openTasks: of('openTasks'),
    done: of('done'),
    decisions: of('decisions'),
    rejected: of('rejected'),
    constraints: of('constraints'),
    nextAction: of('nextAction'),
    testStatus: of('testStatus'),
    openErrors: of('openErrors'),
    running: of('running'),
    stale: of('stale'),
  };
}

function score(brief: string, labels: Labels): Scored {
  return scoreBrief(brief, { labels, truth: null });
}

function measure(metric: Metric, brief: string, labels: Labels): string | null {
  const tally = score(brief, labels).score.get(metric);
  return tally === undefined ? null : `${tally.sum} of ${tally.count}`;
}

const RETRY = '`upload` is `retried` after `429`';

function isTold(phrase: string, brief: string): boolean {
  return measure('told', brief, label({ done: [phrase] })) === '1 of 1';
}

describe('a label', () => {
  it('is told where 60 % of its key terms stand in one line', () => {
    expect(isTold(RETRY, 'The upload is now retried.')).toBe(true);
    expect(isTold(RETRY, 'The upload works.')).toBe(false);
    expect(isTold('`a1` `b2` `c3` `d4` `e5`', 'a1 b2 c3')).toBe(true);
    expect(isTold('`a1` `b2` `c3` `d4` `e5`', 'a1 b2')).toBe(false);
    expect(isTold('`a1` `b2`', 'a1')).toBe(false);
  });

  it('is told in any case, and by any of the alternatives of a term', () => {
    expect(isTold('`Upload|Sending` `retried|tried again`', 'UPLOAD, TRIED AGAIN')).toBe(true);
    expect(isTold('`Upload|Sending` `retried|tried again`', 'sending tried')).toBe(false);
    expect(isTold('`|upload|`', 'upload')).toBe(true);
    expect(isTold('`ok |pass`', 'it is ok')).toBe(false);
    expect(isTold('`ok |pass`', 'it is ok now')).toBe(true);
  });

  it('is told by consecutive lines of a section, up to 500 bytes', () => {
    expect(isTold(RETRY, '## Done\n> The upload\n\n> is retried')).toBe(true);
    const far = 'x'.repeat(500 - '> upload'.length - '> retried'.length - 2);
    expect(isTold(RETRY, `> upload\n${far}\n> retried`)).toBe(true);
    expect(isTold(RETRY, `> upload\nx${far}\n> retried`)).toBe(false);
    expect(isTold(RETRY, `> upload${far}${far}> retried`)).toBe(true);
  });

  it('is not told by two sections, nor by a heading', () => {
    expect(isTold(RETRY, '> upload\n## Next\n> retried')).toBe(false);
    expect(isTold(RETRY, '> upload\n3. Files and Code:\n> retried')).toBe(false);
    expect(isTold(RETRY, '## upload retried\n> more')).toBe(false);
  });

  it('is not told by a bag of names', () => {
    expect(isTold('`upload` `retried`', '> upload, `retried`, send(), more')).toBe(false);
    expect(isTold('`upload` `retried`', '> upload, retried, send')).toBe(true);
  });

  it('is told by a sentence with a list of names in it only as far as the rest goes', () => {
    const sentence = '> The upload of one, two, three, four is retried.';
    expect(isTold('`upload` `retried`', sentence)).toBe(true);
    expect(isTold('`two` `three`', sentence)).toBe(false);
  });

  it('is told in any script', () => {
    expect(isTold('`再試行` を `アップロード|送信` に', '> 送信が失敗したら再試行する')).toBe(true);
    expect(isTold('`再試行` を `アップロード|送信` に', '> 再試行する')).toBe(false);
    expect(isTold('`größe` `ÉTÉ`', 'GRÖSSE GRÖßE été')).toBe(true);
    // A list of names begins with ASCII letters, and may go on in any script.
    expect(isTold('`b語`', 'a語, b語, c語, d語')).toBe(false);
  });

  it('without a key term is never told', () => {
    expect(isToldBy(parsePhrase('upload'), 'upload')).toBe(false);
  });
});

describe('what is told', () => {
  const labels = label({ goal: [RETRY], done: ['`one` thing', '`two` things', '`three` things'], running: ['`dev`'] });

  it('is counted by kind and in all, with what is missing', () => {
    const brief = '> one\n> two\n> dev';
    expect(measure('told.goal', brief, labels)).toBe('0 of 1');
    expect(measure('told.done', brief, labels)).toBe('2 of 3');
    expect(measure('told', brief, labels)).toBe('2 of 4');
    expect(measure('told.openErrors', brief, labels)).toBeNull();
    const { misses } = score(brief, labels);
    expect([misses.get('told.goal'), misses.get('told.done')]).toEqual([[RETRY], ['`three` things']]);
  });

  it('counts each label the same, however many a cut has', () => {
    const total = addScores([score('> one', labels).score, score('> upload retried', label({ goal: [RETRY] })).score]);
    const figure = (metric: Metric): Tally | undefined => total.get(metric);
    expect([figure('told'), figure('told.goal'), figure('told.done')]).toEqual([
      { sum: 2, count: 5 },
      { sum: 1, count: 2 },
      { sum: 1, count: 3 },
    ]);
  });
});

describe('a claim', () => {
  const labels = label({
    openTasks: ['`test` the `retry`'],
    openErrors: ['`E1` in `upload`'],
    running: ['`npm run dev`'],
    testStatus: ['`2 failed`'],
    decisions: ['`delay` below `2000`'],
    rejected: ['`axios`'],
    constraints: ['never on `404`'],
    nextAction: ['run `npm test`'],
  });

  it.each([
    ['openTasks', '## Next and open\n> [pending] test the retry\n> [in_progress] lint\n> [completed] other', '1 of 2'],
    ['openTasks', '- [ ] test the retry\n- [x] lint', '1 of 1'],
    ['openErrors', '## Open errors\n> E1 in upload\n> E2\nnot quoted', '1 of 2'],
    ['openErrors', '## Errors still open\n> E2', '0 of 1'],
    ['running', '## Running in the background\n> `npm run dev` (started 3 calls before the end)', '1 of 1'],
    ['running', '## Still running\n> npm run build', '0 of 1'],
    ['testStatus', '## Where it stands\n> Turn 3.\n> Checks: `npm test` FAILED: 2 failed', '1 of 1'],
    ['testStatus', '## Where it stands\n> Checks: `npm test` passed', '0 of 1'],
    ['decisions', '## What was settled\n> The user chose: a delay below 2000\n> no axios\n> blue', '2 of 3'],
    ['decisions', '## Decisions\n> blue', '0 of 1'],
    ['rejected', '## Stated on purpose\n> - (by the agent, unverified) rejected: axios\n> - rejected: got', '1 of 2'],
    ['constraints', '## Rules\n> never on 404', '1 of 1'],
    ['nextAction', '## Next and open\n> Next: go on, and run npm test\n> [open] x', '1 of 1'],
    ['nextAction', '## Next\n> lint', '0 of 1'],
  ] as const)('of the kind %s is judged by the labels of its kind: %j', (kind, brief, right) => {
    expect(measure(`claims.${kind}`, brief, labels)).toBe(right);
  });

  it('is counted once, and in all', () => {
    const brief = '## Open errors\n> E2\n> E2\n## Next\n> Next: run npm test\n> [open] paint it';
    expect(measure('claims.openErrors', brief, labels)).toBe('0 of 1');
    expect(measure('claims.nextAction', brief, labels)).toBe('1 of 2');
    expect(measure('claims', brief, labels)).toBe('1 of 4');
    expect(score(brief, labels).misses.get('claims.openErrors')).toEqual(['> E2']);
  });

  it('is a line: what stands around it does not make it right', () => {
    expect(measure('claims.openErrors', '## Open errors\n> E1\n> upload', labels)).toBe('0 of 2');
  });

  it('where nothing of its kind is labelled is wrong', () => {
    expect(measure('claims.openErrors', '## Open errors\n> E1 in upload', label({}))).toBe('0 of 1');
  });

  it('is not every line of a brief', () => {
    expect(measure('claims', '## Done\n> test the retry', labels)).toBeNull();
  });
});

describe('what is stale', () => {
  it('is counted where it is told as if it still held', () => {
    const labels = label({ stale: ['`windows` is `red`', '`E0` in `upload`'] });
    const brief = '> windows is red\n## Done\n> E0 is gone';
    expect(measure('stale', brief, labels)).toBe('1 of 2');
    expect(score(brief, labels).misses.get('stale')).toEqual(['`windows` is `red`']);
    expect(measure('stale', '', labels)).toBe('0 of 2');
    expect(measure('stale', brief, label({}))).toBeNull();
  });
});

describe('a file of labels', () => {
  function read(content: unknown): ReturnType<typeof readLabels> {
    const path = join(makeFolder(), 'labels.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return readLabels(path);
  }

  it('says what is so at the cuts of sessions; what is left out is empty', () => {
    const [one, ...others] = read([
      { file: 'a.jsonl', cut: 12, goal: 'Get `this` done', done: ['`x|Y`'], testStatus: '' },
    ]);
    expect(others).toEqual([]);
    expect(one).toMatchObject({ file: 'a.jsonl', cut: 12 });
    expect(one?.labels).toMatchObject({
      goal: [{ text: 'Get `this` done', terms: [['this']] }],
      done: [{ text: '`x|Y`', terms: [['x', 'y']] }],
      testStatus: [],
      stale: [],
    });
  });

  it('is written as the example in the documentation, which says what briefs tell of it', () => {
    const [, example = ''] = /```json\n(\[.*?)```/s.exec(readFileSync('docs/evaluation.md', 'utf8')) ?? [];
    const [one] = read(example);
    if (one === undefined) throw new Error('there is no example');
    const { labels } = one;
    expect(measure('told.openTasks', '> [pending] Test the retry on a busy server', labels)).toBe('1 of 1');
    expect(measure('claims.openTasks', '> [pending] Test the retry on a busy server', labels)).toBe('1 of 1');
    expect(measure('told', 'upload, retry, busy, test', labels)).toBe('0 of 10');
    expect(measure('stale', '> lint failed', labels)).toBe('1 of 1');
  });

  const entry = { file: 'a.jsonl', cut: 12 };
  it.each([
    ['no JSON', '[', 'is not valid JSON'],
    ['no list', {}, 'Expected Array'],
    ['an empty list', [], 'has no entry'],
    ['no cut', [entry, { file: 'b.jsonl' }], 'entry 2, field cut: '],
    ['a cut of nothing', [{ ...entry, cut: 0 }], 'entry 1, field cut: '],
    ['a field of another name', [{ ...entry, decision: [] }], 'entry 1, field decision: '],
    ['a list for a phrase', [{ ...entry, goal: ['`x`'] }], 'entry 1, field goal: '],
    ['a phrase for a list', [{ ...entry, done: '`x`' }], 'entry 1, field done: '],
    ['no key term', [{ ...entry, done: ['`x`', 'plain'] }], 'entry 1, field done, item 2: "plain" has no key term'],
    ['an empty key term', [{ ...entry, goal: 'a `|` b' }], 'entry 1, field goal: "a `|` b" has an empty key term'],
    [
      'an open back-tick',
      [{ ...entry, goal: 'a `b` c` d' }],
      'entry 1, field goal: a back-tick of "a `b` c` d" is not',
    ],
    ['an empty phrase in a list', [{ ...entry, done: [''] }], 'entry 1, field done, item 1: is empty'],
    ['a cut twice', [entry, entry], 'entry 2, field cut: 12 of a.jsonl is labelled twice'],
  ])('with %s is refused with the place', (_, content, message) => {
    expect(() => read(content)).toThrow(HandoverError);
    expect(() => read(content)).toThrow(message);
  });
});
