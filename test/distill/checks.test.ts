import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/model/fact.ts';
import {
  distillSession,
  done,
  edit,
  fail,
  ofKind,
  open,
  run,
  type Step,
  stateOf,
  user,
} from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');

function checksOf(...steps: Step[]): [string, string | undefined][] {
  return ofKind(distillSession(first, ...steps), 'check').map(({ text, status }) => [text, status]);
}

function outcomesOf(...steps: Step[]): [string, unknown][] {
  return ofKind(distillSession(first, ...steps), 'check').map(({ text, detail }) => [text, detail?.outcome]);
}

describe('a check that fails still', () => {
  const red = fail('npm test -- login', 'FAIL login\nError: boom');

  it.each([
    ['another part', 'npm test -- login', 'npm test -- cart'],
    ['a part of it', 'npm test', 'npm test -- cart'],
    ['another file', 'pytest tests/test_a.py', 'pytest tests/test_b.py'],
  ])('stays beside %s that passed since', (_, failed, passed) => {
    const steps = [fail(failed, 'FAIL login\nError: boom'), run(passed, 'Tests: 3 passed')];
    expect(checksOf(...steps)).toEqual([
      [passed, 'ok'],
      [failed, 'failed'],
    ]);
    expect(stateOf(first, ...steps).join()).toContain(`\`${failed}\` FAILED`);
  });

  it('is told however many others fail', () => {
    const steps = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) =>
      fail(`pytest tests/${name}.py`, `AssertionError: ${name}`),
    );
    const told = stateOf(first, ...steps).find((line) => line.startsWith('Checks: '));
    expect(told).toMatch(/f\.py` FAILED.*; 5 more FAILED: .*e\.py`, .*d\.py`, .*c\.py` and 2 more\.$/);
  });

  it('is told no more once the same has passed, or what it names was edited', () => {
    const cart = run('npm test -- cart', 'Tests: 3 passed');
    expect(checksOf(red, cart, run('npm test -- login', 'Tests: 1 passed'))).toEqual([
      ['npm test -- login', 'ok'],
      ['npm test -- cart', 'ok'],
    ]);
    const named = fail('npm test -- login', 'FAIL src/login.ts > signs in\nTypeError: boom is not a function');
    const mended = [named, edit('/home/ann/shop/src/login.ts', 'export {}'), cart];
    expect(checksOf(...mended)).toEqual([['npm test -- cart', 'ok']]);
  });

  const openErrors = (...steps: Step[]): Fact[] =>
    ofKind(distillSession(first, ...steps), 'error').filter(({ status }) => status === 'open');

  it('is told no more while it runs again, nor where it never ran', () => {
    const again = open({ kind: 'command', command: 'npm test -- login', background: false });
    expect(openErrors(red)).not.toEqual([]);
    expect(openErrors(red, again)).toEqual([]);
    expect(openErrors(fail('cd web && npm test', 'bash: cd: web: No such file or directory'))).toEqual([]);
  });

  it('is told no more of a line with several commands once the one that matters went well', () => {
    const chain = fail('npm run build && ./app --self-test one', 'it does not do that');
    expect(openErrors(chain)).not.toEqual([]);
    expect(openErrors(chain, run('cc -o app app.c && ./app --self-test one'))).toEqual([]);
  });

  it('is an open error, however short its output', () => {
    const errors = ofKind(distillSession(first, red), 'error').map(({ text, status }) => [text, status]);
    expect(errors).toEqual([
      ['FAIL login', 'open'],
      ['Error: boom', 'open'],
    ]);
  });
});

describe('a command that formats', () => {
  it.each([
    ['npm run format', false],
    ['cargo fmt', false],
    ['black .', false],
    ['npm run format:check', true],
    ['cargo fmt -- --check', true],
    ['gofmt -l .', true],
  ])('`%s` is a check: %s', (command, isCheck) => {
    expect(ofKind(distillSession(first, run(command)), 'check').length > 0).toBe(isCheck);
  });
});

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

  it('failed as a whole where the output does not tell which command of it did', () => {
    const [lint, test] = ofKind(distillSession(first, fail('npm run lint && npm test', 'it went wrong')), 'check');
    expect([test?.text, test?.status]).toEqual(['npm run lint && npm test', 'failed']);
    expect(lint?.status).toBe('unknown');
  });

  it('failed as a whole where the output tells a kind that two commands of it are of', () => {
    const chain = fail('mise run vet && mise run lint', 'a.go:3:1: unused (unused)\n1 issues');
    const failed = ofKind(distillSession(first, chain), 'check').filter(({ status }) => status === 'failed');
    expect(failed.map(({ text }) => text)).toEqual(['mise run vet && mise run lint']);
  });

  it('is blamed on the only command that is not there to prepare', () => {
    expect(checksOf(fail('cd app && npm test', 'it went wrong'))).toEqual([['npm test', 'failed']]);
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
    [
      'the end of a listing',
      'go build ./... 2>&1 | head -5',
      './shop.go:27:6: cannot use cart as Cart value in return',
    ],
  ])('is seen though %s hides it', (_, command, output) => {
    expect(checksOf(run(command, output))[0]?.[1]).toBe('failed');
  });

  it('is not seen where the reported status is 0', () => {
    expect(checksOf(run('npm test; echo EXIT: $?', 'all fine\nEXIT: 0'))).toEqual([['npm test', 'ok']]);
  });

  it.each([
    ['mise run lint 2>&1 | head -30', '0 issues.', 'ok'],
    ['mise run lint 2>&1 | tail -5', '3 issues:\n* wrapcheck: 3\n[lint] ERROR task failed', 'failed'],
    ['bun run lint 2>&1 | tail -5', 'Checked 278 files in 112ms. No fixes applied.', 'ok'],
    ['go build ./... 2>&1 | head -5', '', 'ok'],
    ['go build ./... | head -5', '', 'unknown'],
  ])('of `%s` is told by what it prints: %j', (command, output, status) => {
    expect(checksOf(run(command, output)).map(([, own]) => own)).toEqual([status]);
  });

  it('is not looked for while the work is stashed, nor in what git checks', () => {
    expect(checksOf(run('git stash && npm test | tail -3; git stash pop', '1 failed'))).toEqual([]);
    expect(checksOf(run('git check-ignore dist'), run('git verify-pack -v a.idx'))).toEqual([]);
  });

  it('is not seen where a compiler has only remarks', () => {
    const remark = 'shop.c:27:6: warning: unused variable';
    expect(checksOf(run('make build 2>&1 | tail -5', remark))).toEqual([['make build', 'unknown']]);
  });

  it('is not seen where the end of the output counts none', () => {
    const sum = ' 12 pass\n 0 fail\n 31 expect() calls\nRan 12 tests across 2 files. [7.00ms]';
    expect(checksOf(run('bun test 2>&1 | tail -5', sum))).toEqual([['bun test', 'ok']]);
    expect(checksOf(run('bun test 2>&1 | tail -5', sum.replace(' 0 fail', ' 1 fail')))).toEqual([
      ['bun test', 'failed'],
    ]);
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

  it('of something else is another one, until a run of at least as much', () => {
    const one = run('cargo test -p one', 'test result: ok. 3 passed; 0 failed');
    const two = fail('cargo test -p two', 'test result: FAILED. 2 passed; 1 failed');
    expect(checksOf(one, two)).toEqual([
      ['cargo test -p two', 'failed'],
      ['cargo test -p one', 'ok'],
    ]);
    const ids = ofKind(distillSession(first, one, two), 'check').map(({ id }) => id);
    expect(ofKind(distillSession(first, two, one), 'check').map(({ id }) => id)[0]).toBe(ids[0]);
    const parts = ['a', 'b'].map((name) => run(`pytest tests/test_${name}.py`, '3 passed in 1s'));
    expect(checksOf(...parts)).toHaveLength(2);
    expect(checksOf(...parts, run('pytest', '9 passed in 1s'))).toEqual([['pytest', 'ok']]);
  });

  it('in another folder is another one', () => {
    expect(checksOf(run('cd a && npm test', '1 passed'), fail('cd b && npm test', '1 failed'))).toEqual([
      ['npm test', 'failed'],
      ['cd a && npm test', 'ok'],
    ]);
  });

  it('tells of several sums the last that counts something', () => {
    const output =
      'test result: ok. 7 passed; 0 failed; finished in 0.02s\n   Doc-tests shop\ntest result: ok. 0 passed; 0 failed; finished in 0.00s';
    const [check] = ofKind(distillSession(first, run('cargo test', output)), 'check');
    expect(check?.detail?.outcome).toContain('7 passed');
  });

  it('says whether a file was edited since', () => {
    const edited = ([check]: Fact[]): unknown => check?.detail?.edited;
    const passed = run('npm test', '5 passed');
    expect(edited(ofKind(distillSession(first, passed, edit('src/a.ts', 'a();')), 'check'))).toBe(true);
    expect(edited(ofKind(distillSession(first, edit('src/a.ts', 'a();'), passed), 'check'))).toBe(false);
  });
});

describe('an installation', () => {
  it('does not take the place of another one', () => {
    const steps = [
      run('npm install zod'),
      run('npm install ms'),
      run('npm install zod'),
      fail('npm install nope', 'E404'),
    ];
    expect(ofKind(distillSession(first, ...steps), 'command').map(({ text, status }) => [text, status])).toEqual([
      ['npm install nope', 'failed'],
      ['npm install zod', 'ok'],
      ['npm install ms', 'ok'],
    ]);
  });

  it('of a tool that checks is no check', () => {
    const facts = distillSession(first, run('uv add ruff'), run('uv add --dev pytest'), run('uv run ruff check'));
    expect(ofKind(facts, 'check').map(({ text }) => text)).toEqual(['uv run ruff check']);
    expect(ofKind(facts, 'command').map(({ text }) => text)).toEqual(['uv add --dev pytest', 'uv add ruff']);
  });
});

describe('a command that is no check', () => {
  const commands = (...steps: Step[]): [string, string | undefined][] =>
    ofKind(distillSession(first, ...steps), 'command').map(({ text, status }) => [text, status]);

  it('went well only where its status is that of the line', () => {
    expect(commands(run('git push'))).toEqual([['git push', 'ok']]);
    for (const command of ['git push | head -3', 'git push || echo no', 'git push; echo done', 'cargo run & wait'])
      expect(commands(run(command))[0]?.[1], command).toBe('unknown');
  });

  it('names the folder where that is not of the work', () => {
    const away = 'cd /home/ann/other && git reflog show main 2>/dev/null | head -10 || echo none';
    expect(commands(run(away))).toEqual([['cd …/other && git reflog show main', 'unknown']]);
    expect(commands(run('cd src && git push'), run('cd /home/ann && docker info'))).toEqual([
      ['docker info', 'ok'],
      ['git push', 'ok'],
    ]);
    const elsewhere = { kind: 'command', command: 'git push', background: false, folder: '/home/ann/other' } as const;
    expect(commands(done(elsewhere))).toEqual([['cd …/other && git push', 'ok']]);
  });
});
