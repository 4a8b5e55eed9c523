import { describe, expect, it } from 'vitest';
import { distillEvents } from '../../src/distill/distill.ts';
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
  return stateOf(...steps)[0]?.replace(/ Turn \d+, \d+ calls\..*$/, '') ?? '';
}

describe('how a session ended', () => {
  it('is missing where nothing was said or done', () => {
    expect(stateOf()).toEqual([]);
  });

  it.each<[string, Step[], string]>([
    ['answered', [run('npm test'), finished], 'The agent had answered.'],
    [
      'with a question',
      [run('npm test'), agent('It tries again.\n\nShall I commit it?')],
      'The agent had answered, and its answer ends in a question to the user.',
    ],
    [
      'with a question in Chinese',
      [run('npm test'), agent('已经加上了重试。\n\n要提交吗？')],
      'The agent had answered, and its answer ends in a question to the user.',
    ],
    [
      'with a question in Arabic',
      [agent('تمت إضافة إعادة المحاولة.\n\nهل أحفظها؟')],
      'The agent had answered, and its answer ends in a question to the user.',
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
    expect(endOf(first, agent(words))).toBe('The agent had answered.');
  });

  it('is not a call in the middle of the work while a command goes on in the background', () => {
    expect(endOf(first, inBackground('npm run dev', 'bash_1'), finished)).toBe('The agent had answered.');
  });

  it('is not an interruption once the agent went on with another request', () => {
    expect(endOf(first, agent('I look.'), interruption(), user('Go on then'), finished)).toBe(
      'The agent had answered.',
    );
  });

  it('has the number of messages and calls, and the branch', () => {
    const events = scriptSession(first, run('npm test'), finished).map((event) => ({ ...event, branch: 'fix/upload' }));
    expect(withRole(distillEvents(events).facts, 'state')[0]?.text).toContain(
      'The agent had answered. Turn 1, 1 calls. Branch fix/upload.',
    );
  });

  it('is a question while one that a call asked has no answer', () => {
    expect(endOf(first, open(ask('How often?'), 'AskUserQuestion'))).toContain('a call of AskUserQuestion');
    expect(endOf(first, answer('How often?', 'Five times'), run('npm test'), finished)).toBe('The agent had answered.');
  });
});

describe('edits in the state of a session', () => {
  const commit = run('git commit -m "Add a retry"', '[main 1a2b3c4] Add a retry');
  const edits = (...steps: Step[]): string | undefined =>
    stateOf(first, ...steps).find((line) => /^Edited|^No file/.test(line));

  it('are those since the last commit, the newest first', () => {
    const steps = [edit('src/upload.ts', 'a();'), edit('src/retry.ts', 'b();'), edit('src/retry.ts', 'c();')];
    expect(edits(...steps)).toBe('Edited and not committed here: retry.ts (2 edits), upload.ts (1 edit).');
    expect(edits(...steps, commit, edit('docs/retry.md', 'd'))).toBe(
      'Edited since the last commit: retry.md (1 edit).',
    );
    expect(edits(...steps, commit)).toBe('No file was edited since the last commit.');
  });

  it('name files of the same name by their path', () => {
    expect(edits(edit('src/cart/index.ts', 'a();'), edit('src/user/index.ts', 'b();'), edit('src/a.ts', 'c();'))).toBe(
      'Edited and not committed here: a.ts (1 edit), src/user/index.ts (1 edit), src/cart/index.ts (1 edit).',
    );
  });

  it('are not made newer by an edit that failed', () => {
    const edits = [{ path: `${CWD}/src/upload.ts`, change: 'edited', before: 'a', after: 'b' } as const];
    const failed = done({ kind: 'edit', edits }, 'no match', false);
    const steps = [first, edit('src/upload.ts', 'a();'), run('npm test', 'Tests: 5 passed'), commit, failed];
    expect(stateOf(...steps)).toContain('No file was edited since the last commit.');
    expect(stateOf(...steps)).toContain('Checks: `npm test` passed, after the last edit: Tests: 5 passed.');
  });

  it('are not told where nothing was edited or committed', () => {
    expect(edits(run('npm test'))).toBeUndefined();
  });

  it('name five files and count the others', () => {
    const many = Array.from({ length: 7 }, (_, at) => edit(`src/part${at}.ts`, 'x();'));
    expect(edits(...many)).toMatch(/^Edited and not committed here: part6\.ts \(1 edit\), .* and 2 more files\.$/);
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
      'Checks: `npm test` passed, after the last edit: Tests: 5 passed, 5 total.',
    );
    expect(checks(passed, edit('src/upload.ts', 'a();'))).toBe(
      'Checks: `npm test` passed, BEFORE the last edit: Tests: 5 passed, 5 total.',
    );
  });

  it('are not older than an edit of prose', () => {
    expect(checks(run('npm test', '5 passed'), edit('README.md', 'It tries again.'))).toContain('after the last edit');
  });

  it('say what failed', () => {
    expect(checks(edit('src/upload.ts', 'a();'), fail('npm test', 'TypeError: retry is not a function'))).toBe(
      'Checks: `npm test` FAILED, after the last edit: TypeError: retry is not a function.',
    );
  });

  it('are said to be missing where something was edited and nothing checked', () => {
    expect(checks(edit('src/upload.ts', 'a();'), run('ls'))).toBe('Checks: no test, lint or build was run.');
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
