import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/model/fact.ts';
import { distillSession, edit, fail, ofKind, run, type Step, user } from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');

function checksOf(...steps: Step[]): [string, string | undefined][] {
  return ofKind(distillSession(first, ...steps), 'check').map(({ text, status }) => [text, status]);
}

function outcomesOf(...steps: Step[]): [string, unknown][] {
  return ofKind(distillSession(first, ...steps), 'check').map(({ text, detail }) => [text, detail?.outcome]);
}

describe('a chain of commands that failed', () => {
  const chain = 'npm run build && npm run lint && npm test';

  it('is blamed on the command whose kind of failure the output shows', () => {
    expect(checksOf(fail(chain, 'Tests: 1 failed, 4 passed'))).toEqual([
      ['npm run build', 'ok'],
      ['npm run lint', 'ok'],
      ['npm test', 'failed'],
    ]);
    expect(checksOf(fail(chain, '✖ 3 problems (3 errors, 0 warnings)'))).toEqual([
      ['npm run build', 'ok'],
      ['npm run lint', 'failed'],
      ['npm test', 'unknown'],
    ]);
    expect(checksOf(fail(chain, 'src/a.ts(1,2): error TS2304: Cannot find name'))).toEqual([
      ['npm run build', 'failed'],
      ['npm run lint', 'unknown'],
      ['npm test', 'unknown'],
    ]);
  });

  it('is blamed on its last check where the output does not tell', () => {
    expect(checksOf(fail('npm run lint && npm test && git push', 'it went wrong'))).toEqual([
      ['npm run lint', 'ok'],
      ['npm test', 'failed'],
    ]);
  });

  it('says nothing of a check that did not run', () => {
    expect(checksOf(fail('cargo test', 'bash: cargo: command not found'))).toEqual([['cargo test', 'unknown']]);
  });

  it('says nothing of a command that runs only after a failure', () => {
    expect(checksOf(run('npm test || npm run lint', '5 passed'))).toEqual([
      ['npm test', 'ok'],
      ['npm run lint', 'unknown'],
    ]);
  });
});

describe('a failure behind a status of success', () => {
  it.each([
    ['a pipe', 'npm test 2>&1 | tail -5', 'Tests: 1 failed, 4 passed'],
    ['an echo of the status', 'npm test; echo EXIT: $?', 'something is wrong\nEXIT: 1'],
    ['an echo with another mark', 'npm test > out.log; echo "exit=$?"', 'EXIT=2'],
    ['a fallback', 'cargo build || true', 'error[E0308]: mismatched types'],
  ])('is seen though %s hides it', (_, command, output) => {
    expect(checksOf(run(command, output))[0]?.[1]).toBe('failed');
  });

  it('is not seen where the reported status is 0', () => {
    expect(checksOf(run('npm test; echo EXIT: $?', 'all fine\nEXIT: 0'))).toEqual([['npm test', 'ok']]);
  });

  it('is not read into the output of a command that checks nothing', () => {
    const facts = distillSession(first, run('curl localhost', '2 failed\nEXIT: 1'));
    expect(ofKind(facts, 'command').map(({ status }) => status)).toEqual(['ok']);
    expect(ofKind(facts, 'error')).toEqual([]);
  });
});

describe('the totals of a check', () => {
  it('are its own where it is alone', () => {
    expect(outcomesOf(run('npm run lint', '0 problems found'))).toEqual([['npm run lint', '0 problems found']]);
  });

  it('of tests belong to the tests of a chain, not to the other commands of it', () => {
    expect(outcomesOf(run('npm run build && npm run lint && npm test', 'Tests: 5 passed, 5 total'))).toEqual([
      ['npm run build', undefined],
      ['npm run lint', undefined],
      ['npm test', 'Tests: 5 passed, 5 total'],
    ]);
  });

  it('are the failure where it failed', () => {
    expect(outcomesOf(fail('npm test', 'TypeError: retry is not a function'))).toEqual([
      ['npm test', 'TypeError: retry is not a function'],
    ]);
  });
});

describe('a check', () => {
  it('is known by its last run', () => {
    expect(checksOf(fail('npm test', 'Tests: 1 failed'), run('npm test', 'Tests: 5 passed'))).toEqual([
      ['npm test', 'ok'],
    ]);
  });

  it('says whether a file was edited since', () => {
    const edited = ([check]: Fact[]): unknown => check?.detail?.edited;
    const passed = run('npm test', '5 passed');
    expect(edited(ofKind(distillSession(first, passed, edit('src/a.ts', 'a();')), 'check'))).toBe(true);
    expect(edited(ofKind(distillSession(first, edit('src/a.ts', 'a();'), passed), 'check'))).toBe(false);
  });
});
