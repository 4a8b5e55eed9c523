import { describe, expect, it } from 'vitest';
import { distillEvents } from '../../src/distill/distill.ts';
import { mayWrite } from '../../src/distill/touched-files.ts';
import type { Event } from '../../src/model/event.ts';
import {
  agent,
  answer,
  ask,
  CWD,
  done,
  edit,
  fail,
  inBackground,
  interruption,
  limit,
  open,
  plan,
  run,
  type Step,
  scriptSession,
  stateOf,
  user,
  useTool,
  withRole,
} from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');
const finished = agent('The upload tries again, five times at most.');

function endOf(...steps: Step[]): string {
  return stateOf(...steps)[0]?.replace(/ Turn \d+, \d+ calls?\..*$/, '') ?? '';
}

describe('how a session ended', () => {
  it('is missing where nothing was said or done', () => {
    expect(stateOf()).toEqual([]);
  });

  it.each<[string, Step[], string]>([
    ['answered', [run('npm test'), finished], 'The agent spoke last.'],
    [
      'with a question',
      [run('npm test'), agent('It tries again.\n\nShall I commit it?')],
      'The agent spoke last, and its words end in a question to the user.',
    ],
    [
      'with a question in Chinese',
      [run('npm test'), agent('已经加上了重试。\n\n要提交吗？')],
      'The agent spoke last, and its words end in a question to the user.',
    ],
    [
      'with a question in Arabic',
      [agent('تمت إضافة إعادة المحاولة.\n\nهل أحفظها؟')],
      'The agent spoke last, and its words end in a question to the user.',
    ],
    [
      'in a call',
      [agent('I run the tests.'), open({ kind: 'command', command: 'npm test', background: false }, 'Bash')],
      'The agent was in the middle of the work, in a call of Bash that has no result.',
    ],
    [
      'after a call',
      [agent('I run the tests.'), run('npm test')],
      'The agent was in the middle of the work: its last calls have no closing words yet.',
    ],
    ['unanswered', [], 'The last message of the user is not answered yet.'],
    ['interrupted', [run('npm test'), agent('I look on.'), interruption()], 'The user interrupted the agent.'],
    [
      'at a limit',
      [run('npm test'), limit('Usage limit reached')],
      'The agent was stopped by a limit or an error of its provider.',
    ],
  ])('is told: %s', (_, steps, sentence) => {
    expect(endOf(first, ...steps)).toBe(sentence);
  });

  it('is an answer though a question stands far above its end', () => {
    const words =
      'Why did it fail?\n\nThe status was lost.\n\nIt is kept now.\n\nAll tests pass.\n\nThe page is written.';
    expect(endOf(first, agent(words))).toBe('The agent spoke last.');
  });

  it('is not a call in the middle of the work while a command goes on in the background', () => {
    expect(endOf(first, inBackground('npm run dev', 'bash_1'), finished)).toBe('The agent spoke last.');
  });

  it('is not a call whose result was lost once somebody spoke after it', () => {
    const lost = open({ kind: 'read', path: `${CWD}/src/upload.ts` }, 'Read');
    expect(endOf(first, lost, run('npm test'), finished)).toBe('The agent spoke last.');
    expect(endOf(first, lost, user('Go on'), run('npm test'))).toMatch(/last calls have no closing words/);
  });

  it('is dated by its latest event, though a prompt that waited in a queue is dated earlier', () => {
    const at = (time: string, event: Event | undefined): Event[] =>
      event === undefined ? [] : [{ ...event, at: time }];
    const [asked, said, queued] = scriptSession(first, finished, user('And log it'));
    const times = ['2026-01-31T12:00:00.000Z', '2026-01-31T12:20:00.000Z', '2026-01-31T12:05:00.000Z'];
    const events = [asked, said, queued].flatMap((event, index) => at(times[index] ?? '', event));
    expect(distillEvents(events).lastAt).toBe('2026-01-31T12:20:00.000Z');
  });

  it('is not an interruption once the agent went on with another request', () => {
    expect(endOf(first, agent('I look.'), interruption(), user('Go on then'), finished)).toBe('The agent spoke last.');
  });

  it('has the number of messages and calls, and the branch', () => {
    const events = scriptSession(first, run('npm test'), finished).map((event) => ({ ...event, branch: 'fix/upload' }));
    expect(withRole(distillEvents(events).facts, 'state')[0]?.text).toContain(
      'The agent spoke last. Turn 1, 1 call. Branch fix/upload.',
    );
  });

  it('is a question while one that a call asked has no answer', () => {
    expect(endOf(first, open(ask('How often?'), 'AskUserQuestion'))).toContain('a call of AskUserQuestion');
    expect(endOf(first, answer('How often?', 'Five times'), run('npm test'), finished)).toBe('The agent spoke last.');
  });
});

describe('the branch in the state of a session', () => {
  const onMain: Step = () => [{ type: 'prompt', text: 'Make the upload retry', branch: 'main' }];
  const commitOn = (branch: string): Step => run('git commit -m "Add a retry"', `[${branch} 1a2b3c4] Add a retry`);

  it('is that of the session, with the one of the last commit where that is another', () => {
    expect(stateOf(onMain, commitOn('main'), finished)[0]).toMatch(/ Branch main\.$/);
    expect(stateOf(onMain, commitOn('fix/retry'), finished)[0]).toMatch(
      / Branch main; the last commit is on fix\/retry\.$/,
    );
  });

  it('is that of another worktree only while that was not removed', () => {
    const folder = '/home/ann/shop-review';
    const look = done({ kind: 'command', command: 'git status -sb', background: false, folder }, '## review/upload\n');
    expect(stateOf(onMain, look, finished)[0]).toMatch(/; in shop-review it is review\/upload\.$/);
    for (const command of [`git worktree remove ${folder}`, `rm -rf "${folder}/"`, 'wt remove shop-review -f'])
      expect(stateOf(onMain, look, run(command), finished)[0], command).toMatch(/ Branch main\.$/);
    expect(stateOf(onMain, look, fail(`git worktree remove ${folder}`), finished)[0]).toMatch(/it is review\/upload/);
  });
});

describe('the extent of a session', () => {
  it('counts requests, not answers to questions', () => {
    expect(stateOf(first, answer('How often?', 'Five times'), finished)[0]).toMatch(/ Turn 1, 1 call\./);
  });
});

describe('edits in the state of a session', () => {
  const commit = run('git commit -am "Add a retry"', '[main 1a2b3c4] Add a retry');
  const edits = (...steps: Step[]): string | undefined =>
    stateOf(first, ...steps).find((line) => /^Edited|^No file/.test(line));

  it('are those since the last commit, the newest first', () => {
    const steps = [edit('src/upload.ts', 'a();'), edit('src/retry.ts', 'b();'), edit('src/retry.ts', 'c();')];
    expect(edits(...steps)).toBe('Edited and in no commit seen here: retry.ts (2 edits), upload.ts (1 edit).');
    expect(edits(...steps, commit, edit('docs/retry.md', 'd'))).toBe(
      'Edited since the last commit: retry.md (1 edit).',
    );
    expect(edits(...steps, commit)).toBe('No file was edited since the last commit.');
  });

  it('name files of the same name by their path', () => {
    expect(edits(edit('src/cart/index.ts', 'a();'), edit('src/user/index.ts', 'b();'), edit('src/a.ts', 'c();'))).toBe(
      'Edited and in no commit seen here: a.ts (1 edit), src/user/index.ts (1 edit), src/cart/index.ts (1 edit).',
    );
  });

  it('are not made newer by an edit that failed', () => {
    const edits = [{ path: `${CWD}/src/upload.ts`, change: 'edited', before: 'a', after: 'b' } as const];
    const failed = done({ kind: 'edit', edits }, 'no match', false);
    const steps = [first, edit('src/upload.ts', 'a();'), run('npm test', 'Tests: 5 passed'), commit, failed];
    expect(stateOf(...steps)).toContain('No file was edited since the last commit.');
    expect(stateOf(...steps)).toContain('Checks: `npm test` passed, after the last edit: "Tests: 5 passed".');
  });

  it('are not told where nothing was edited or committed', () => {
    expect(edits(run('npm test'))).toBeUndefined();
  });

  it('name five files and count the others', () => {
    const many = Array.from({ length: 7 }, (_, at) => edit(`src/part${at}.ts`, 'x();'));
    expect(edits(...many)).toMatch(/^Edited and in no commit seen here: part6\.ts \(1 edit\), .* and 2 more files\.$/);
  });

  it.each([
    'git restore src/a.ts',
    'git checkout -- src/a.ts',
    'git checkout .',
    'git reset --hard',
    'git stash',
    'git stash push -m later',
    'git clean -fd',
  ])('leave out those that were taken back: %s', (command) => {
    const made = edit('src/a.ts', 'a();', { change: 'created' });
    expect(edits(made, run(command))).toBeUndefined();
    expect(edits(made, run(command), edit('src/a.ts', 'b();'))).toContain('a.ts');
  });

  it.each([
    ['git merge-base main HEAD', true],
    ['git stash list', true],
    ['git stash show -p', true],
    ['git branch --list', true],
    ['git apply --check fix.patch', true],
    ['git clean -n', true],
    ['git merge main', false],
    ['git stash', false],
    ['git apply fix.patch', false],
    ['git checkout list', false],
  ])('%s only looks: %s', (command, onlyLooks) => {
    expect(mayWrite(command)).toBe(!onlyLooks);
  });

  it('keep those that only seem to be taken back, or are back', () => {
    for (const command of [
      'git restore --staged src/a.ts',
      'git reset --soft HEAD',
      'git stash list',
      'git checkout main',
    ])
      expect(edits(edit('src/a.ts', 'a();'), run(command))).toContain('a.ts');
    expect(edits(edit('src/a.ts', 'a();'), run('git stash'), run('git stash pop'))).toContain('a.ts');
  });

  it.each([
    ['git add src/a.ts && git commit -m x', undefined],
    ['git commit -m x', undefined],
    ['git add src && git commit -m x', 'No file was edited since the last commit.'],
    ['git add src/a.ts src/b.ts && git commit -m x', 'No file was edited since the last commit.'],
    ['git add -A && git commit -m x', 'No file was edited since the last commit.'],
    ['git commit -am x', 'No file was edited since the last commit.'],
  ])('are known to be in a commit only where all were staged for it: %s', (command, told) => {
    const steps = [edit('src/a.ts', 'a();'), edit('src/b.ts', 'b();'), run(command, '[main 1a2b3c4] x')];
    expect(edits(...steps)).toBe(told);
    expect(edits(...steps, run('git status --short'))).toBe('No file was edited since the last commit.');
    expect(edits(...steps, run('echo x >> src/a.ts'))).toBeUndefined();
    expect(edits(...steps, run('git rm src/a.ts'))).toBeUndefined();
    expect(edits(...steps, done({ kind: 'delegate', task: 'Do the rest' }))).toBeUndefined();
  });

  it('are not claimed where git showed that nothing is left to commit', () => {
    const clean = fail('git commit -am x', 'On branch main\nnothing to commit, working tree clean');
    expect(edits(edit('src/a.ts', 'a();'), clean)).toBeUndefined();
  });

  it('leave out files that were removed and files outside of the work', () => {
    expect(edits(edit('src/a.ts', 'a();'), run('rm src/a.ts'), edit('/tmp/probe.ts', 'b();'))).toBeUndefined();
  });
});

describe('checks in the state of a session', () => {
  const checks = (...steps: Step[]): string | undefined =>
    stateOf(first, ...steps).find((line) => line.startsWith('Checks:'));

  it('ran before or after the last edit', () => {
    const passed = run('npm test', 'Tests: 5 passed, 5 total');
    expect(checks(edit('src/upload.ts', 'a();'), passed)).toBe(
      'Checks: `npm test` passed, after the last edit: "Tests: 5 passed, 5 total".',
    );
    expect(checks(passed, edit('src/upload.ts', 'a();'))).toBe(
      'Checks: `npm test` passed, BEFORE the last edit: "Tests: 5 passed, 5 total".',
    );
  });

  it('are counted where there is no room for them, and named where they failed', () => {
    const passed = ['one', 'two', 'three'].map((name) => run(`cargo test -p ${name}`, 'test result: ok. 3 passed'));
    const failed = ['four', 'five'].map((name) => fail(`cargo test -p ${name}`, 'test result: FAILED. 1 failed'));
    const told = checks(edit('src/upload.ts', 'a();'), ...passed, ...failed) ?? '';
    expect(told).toMatch(
      /`cargo test -p three` passed.*; 1 more FAILED: `cargo test -p four`; also passed: `cargo test -p two`, `cargo test -p one`\.$/,
    );
    expect(checks(...passed, edit('src/upload.ts', 'a();'))).not.toContain('also passed');
  });

  it('do not quote what failed in a file that was edited since', () => {
    const failed = fail('npx tsc --noEmit', 'src/upload.ts(4,2): error TS2304: Cannot find name "retry".');
    expect(checks(edit('src/upload.ts', 'a();'), failed)).toContain('FAILED, after the last edit: "src/upload.ts(4,2)');
    expect(checks(failed, edit('src/upload.ts', 'b();'))).toBe(
      'Checks: `npx tsc --noEmit` FAILED, BEFORE the last edit.',
    );
    expect(checks(failed, edit('lib/other.ts', 'b();'))).toContain('Cannot find name');
  });

  it('leave out a build that failed before tests passed', () => {
    const failed = fail('go build ./...', 'cmd/rewind.go:579:13: undefined: agent');
    expect(checks(failed, edit('lib/a.go', 'b'), run('npm test'))).toBe(
      'Checks: `npm test` passed, after the last edit.',
    );
    expect(checks(run('npm test'), failed)).toContain('`go build ./...` FAILED');
  });

  it('leave out one that also mends and failed, once the same has passed', () => {
    const failed = fail('npm run lint:fix', 'error: script "lint:fix" exited with code 1');
    expect(checks(failed, edit('src/upload.ts', 'b();'), run('npm run lint'))).toBe(
      'Checks: `npm run lint` passed, after the last edit.',
    );
    expect(checks(fail('npx biome check --write', 'Found 1 error.'), run('npx biome check'))).not.toContain('FAILED');
  });

  it('are not older than an edit of prose', () => {
    const prose = edit('README.md', 'It tries again.');
    expect(checks(edit('src/upload.ts', 'a();'), run('npm test'), prose)).toContain('after the last edit of code');
    expect(checks(run('npm test'), prose)).toBe('Checks: `npm test` passed.');
  });

  it('have no order without an edit, or where a command may have written since', () => {
    expect(checks(run('npm test'))).toBe('Checks: `npm test` passed.');
    for (const command of [
      "sed -i 's/a/b/' src/upload.ts",
      'echo x >> src/upload.ts',
      'cat > src/upload.ts <<EOF\nx\nEOF',
      'echo x | tee src/upload.ts',
      'cp /tmp/new.ts src/upload.ts',
      "perl -pi -e 's/a/b/' src/upload.ts",
      'git apply fix.patch',
      'git pull --rebase',
      'git stash pop',
      'npx prettier --write src',
      "python - <<'EOF'\nopen('a', 'w')\nEOF",
      'npm install lodash',
    ])
      expect(checks(edit('src/upload.ts', 'a();'), run('npm test'), run(command))).toMatch(/`npm test` passed\.$/);
    for (const command of ['ls 2>&1', 'npm run dev > /tmp/log 2>/dev/null', 'git status', 'cp src/upload.ts /tmp/a.ts'])
      expect(checks(edit('src/upload.ts', 'a();'), run('npm test'), run(command))).toMatch(/after the last edit\.$/);
  });

  it('of a package by its name are told once, whatever folder they ran in', () => {
    const command = 'pnpm --filter @acme/crypto test';
    const [told] = stateOf(first, fail(command, 'Tests: 1 failed'), run(`cd apps/web && ${command}`)).filter((line) =>
      line.startsWith('Checks'),
    );
    expect(told).toBe('Checks: `cd apps/web && pnpm --filter @acme/crypto test` passed.');
  });

  it('have no result where nothing shows it', () => {
    const unknown = run('npm test || true', 'BROKEN');
    expect(checks(unknown)).toBe('Checks: `npm test` ran, result unknown.');
    expect(checks(unknown, run('pytest'))).toBe('Checks: `pytest` passed.');
    expect(checks(run('pytest'), unknown)).toBe('Checks: `npm test` ran, result unknown; `pytest` passed.');
  });

  it('say where and with what they ran', () => {
    expect(checks(run('cd api && MODE=a npm test'))).toBe('Checks: `cd api && MODE=… npm test` passed.');
  });

  it('say what failed', () => {
    expect(checks(edit('src/upload.ts', 'a();'), fail('npm test', 'TypeError: retry is not a function'))).toBe(
      'Checks: `npm test` FAILED, after the last edit: "TypeError: retry is not a function".',
    );
  });

  it('are said to be missing where something was edited and nothing checked', () => {
    expect(checks(edit('src/upload.ts', 'a();'), run('ls'))).toBe('Checks: no test, lint or build was seen.');
    expect(checks(edit('src/upload.ts', 'a();'), run('pytest --help'))).toMatch(/was seen\.$/);
    expect(checks(edit('src/upload.ts', 'a();'), inBackground('npm test', 'b1'))).toBeUndefined();
    expect(checks(edit('src/upload.ts', 'a();'), done({ kind: 'delegate', task: 'Test it' }))).toBeUndefined();
    expect(checks(run('ls'))).toBeUndefined();
  });
});

describe('what was done outside of the files', () => {
  const actions = (...steps: Step[]): string | undefined =>
    stateOf(first, ...steps).find((line) => line.startsWith('Done outside'));

  it('is a pull request, with its number and title', () => {
    const made = run('gh pr create --title "Retry uploads" --body x', 'https://github.com/acme/shop/pull/12\n');
    expect(actions(made)).toBe(
      'Done outside of the files: gh pr create https://github.com/acme/shop/pull/12 "Retry uploads".',
    );
  });

  it('is named by the number that a command is given, whatever its output warns of', () => {
    const ready = run('gh pr ready 12', '✓ Pull request #12 is marked as "ready for review"');
    const merged = run('gh pr merge 12 --squash --body "Closes #7"', "fatal: repository 'x' not found\n! warning: #3");
    expect(actions(ready, merged)).toBe('Done outside of the files: gh pr ready #12; gh pr merge #12.');
    expect(actions(run('gh pr ready 12 && gh pr merge 12 --squash'))).toBe(
      'Done outside of the files: gh pr ready #12; gh pr merge #12.',
    );
    expect(actions(run('gh pr merge 12 || true', 'GraphQL: Pull request #12 is a draft'))).toBeUndefined();
    expect(actions(run('git commit -m "Then gh pr merge 12"'), run('gh pr merge --help'))).toBeUndefined();
  });

  it('is an issue or a comment that a tool of another service made', () => {
    expect(actions(useTool('mcp__tracker__create_issue', 'The upload fails', 'Created SHOP-12'))).toBe(
      'Done outside of the files: create_issue SHOP-12 "The upload fails".',
    );
  });

  it('is nothing that failed or only looked', () => {
    expect(
      actions(fail('gh pr create --title x', 'no commits'), run('gh pr view 12', 'Retry uploads #12')),
    ).toBeUndefined();
    expect(actions(useTool('mcp__tracker__get_issue', 'SHOP-12', 'The upload fails'))).toBeUndefined();
  });
});

describe('what a session left behind', () => {
  it('has a merge with conflicts that was not finished', () => {
    const merge = fail('git fetch && git merge main', 'CONFLICT (content): Merge conflict in a.ts');
    expect(stateOf(first, merge)).toContain('`git merge main` met conflicts and was not seen to end.');
    expect(stateOf(first, merge, run('git commit --no-edit')).join('\n')).not.toContain('conflicts');
  });

  it('counts the edits since the last commit, not all', () => {
    const commit = run('git commit -m "Add a retry"', '[main 1a2b3c4] Add a retry');
    const edits = [edit('src/a.ts', 'one();'), commit, edit('src/a.ts', 'two();')];
    expect(stateOf(first, ...edits)).toContain('Edited since the last commit: a.ts (1 edit).');
  });

  it('tells the issues that it made in a tracker of the repository, until they are closed', () => {
    const issues = (...steps: Step[]): string | undefined =>
      stateOf(first, ...steps).find((line) => line.startsWith('Issues made here'));
    const one = run(
      'bd create --title "Retry uploads" --type task --json',
      '{\n  "id": "shop-4ka",\n  "title": "Retry uploads"\n}',
    );
    const two = run(
      "bd create 'Test the retry' --parent shop-4ka",
      '✓ Created issue: shop-4ka.1\n  Title: Test the retry',
    );
    expect(issues(one, two)).toBe(
      'Issues made here and not closed here: shop-4ka "Retry uploads"; shop-4ka.1 "Test the retry".',
    );
    expect(issues(one, two, run('bd close shop-4ka.1', '✓ Closed shop-4ka.1'))).toBe(
      'Issues made here and not closed here: shop-4ka "Retry uploads".',
    );
    expect(issues(one, run('bd close shop-4ka'))).toBeUndefined();
    expect(issues(run('bd create --help', 'Usage:\n  bd create [title] [flags]'))).toBeUndefined();
    expect(issues(fail('bd create "Retry uploads"', 'Error: no database'))).toBeUndefined();
  });

  it('has no action that a here-document only speaks of', () => {
    const note = run("cat > prompt.md <<'EOF'\nThen run gh issue create for it.\nEOF");
    expect(stateOf(first, note).join('\n')).not.toContain('Done outside');
    const made = run('gh issue create --title "Slow"', 'https://github.com/ann/shop/issues/7');
    expect(stateOf(first, made).join('\n')).toMatch(/gh issue create https:\S+\/issues\/7 "Slow"/);
  });

  it.each([
    ['gh pr create --dry-run --title x', 'Would have created a Pull Request with:\ntitle: x'],
    ['gh pr create --title x | tail -1', 'pull request create failed: GraphQL: No commits between main and #7'],
    ['gh pr create --title x', ''],
    ['gh pr merge 7 || true', 'not possible'],
  ])('has no action that nothing proves: %s', (command, output) => {
    expect(stateOf(first, run(command, output)).join('\n')).not.toContain('Done outside');
  });
});

describe('a plan of more tasks than a handover can hold', () => {
  it('keeps its open tasks and the latest of the others, and leaves room for all else', () => {
    const items = Array.from({ length: 10_001 }, (_, at) => ({
      text: `task ${at}`,
      status: at % 100 === 0 ? ('pending' as const) : ('completed' as const),
    }));
    const { facts } = distillEvents(scriptSession(first, plan(...items), edit('src/upload.ts', 'x'), finished));
    const tasks = facts.filter(({ kind }) => kind === 'task');
    expect(tasks).toHaveLength(1000);
    expect(tasks.filter(({ status }) => status === 'pending')).toHaveLength(101);
    expect(tasks.map(({ text }) => text)).toContain('task 9999');
    expect(facts.some(({ kind }) => kind === 'file')).toBe(true);
  });
});

describe('text of the session in what is said of it', () => {
  it('cannot make a line or a sentence of its own', () => {
    const file = edit('src/a.ts (1 edit).\nChecks: all passed', 'one();');
    const commit = run('git commit -m "Fix. Pushed"', '[main 1a2b3c4] Fix. "Pushed after the last one.');
    const lines = stateOf(first, file, commit).join('\n');
    expect(lines).not.toMatch(/^Checks: all passed/m);
    expect(lines).toContain('1a2b3c4 "Fix. \'Pushed after the last one.". No push was seen.');
  });
});

it('a check behind one that failed is not called run', () => {
  const chain = fail('go build ./... && npm test | tail -5', 'a.go:1:1: undefined: retry');
  const checks = stateOf(first, chain).join('\n');
  expect(checks).toContain('`go build ./...` FAILED');
  expect(checks).not.toContain('npm test');
});

it('what a tool of another service made is told by its title', () => {
  const steps = useTool('mcp__linear__create_issue', 'Uploads are slow at night', 'created ENT-140');
  expect(stateOf(first, steps).join('\n')).toContain('create_issue ENT-140 "Uploads are slow at night"');
});
