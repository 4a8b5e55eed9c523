import { describe, expect, it } from 'vitest';
import { followCommits } from '../../src/distill/commits.ts';
import type { Fact } from '../../src/model/fact.ts';
import { distillSession, edit, fail, ofKind, run, type Step, stateOf, user } from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');
const commit = (hash: string, subject: string): Step => run(`git commit -m "${subject}"`, `[main ${hash}] ${subject}`);

function commitsOf(...steps: Step[]): Fact[] {
  return ofKind(distillSession(first, ...steps), 'reference').filter(({ detail }) => detail?.about === 'commit');
}

function textsOf(...steps: Step[]): string[] {
  return commitsOf(...steps).map(({ text }) => text);
}

function sentence(...steps: Step[]): string | undefined {
  return stateOf(first, ...steps).find((line) => line.startsWith('Commits'));
}

describe('the commits of a session', () => {
  it('have the hash and subject that git reported', () => {
    expect(
      textsOf(
        run('git commit -m "Add retry"', '[fix/upload 1a2b3c4] Add retry\n 2 files changed, 9 insertions(+)'),
        run('git commit --allow-empty -m First', '[main (root-commit) abcdef0] First'),
      ),
    ).toEqual(['commit 1a2b3c4 on fix/upload: Add retry', 'commit abcdef0 on main: First']);
  });

  it('do not include those that were only shown or not made', () => {
    expect(textsOf(run('git log', '[fix/upload 1a2b3c4] Add retry'))).toEqual([]);
    expect(textsOf(fail('git commit -m "Add retry"', 'hook failed'))).toEqual([]);
  });

  it('include one that git reports in a line that failed later', () => {
    const output = '[main 1a2b3c4] Add retry\n ! [rejected] main -> main';
    expect(textsOf(fail('git commit -qm "Add retry" && git push', output))).toEqual([
      expect.stringContaining('1a2b3c4'),
    ]);
  });

  it('include a quiet one that the log after it names', () => {
    const quiet = "git commit -q -F - <<'EOF'\nAdd retry\n\nIt tries again.\nEOF\ngit log --oneline -1";
    expect(sentence(run(quiet, '1a2b3c4 Add retry'))).toContain('"Add retry"');
    expect(sentence(run(quiet, '1a2b3c4 Something else'))).toBeUndefined();
  });

  it('include each quiet one of a line, with its own message', () => {
    const documents = ['One', 'Two', 'Three'].map(
      (subject) => `git add . && git commit -q -F - <<'EOF'\n${subject}\n\nIt waits.\nEOF`,
    );
    expect(sentence(run(documents.join('\n')))).toMatch(/"One"; "Two"; "Three"\. No push was seen\.$/);
    expect(sentence(run('git commit -qm "One" && git commit -q -m "Two" -m "It waits."'))).toContain('"One"; "Two".');
  });

  it('include one that a rebase went on with', () => {
    const output =
      '[detached HEAD 3ec0053] Add retry\n 1 file changed\nSuccessfully rebased and updated refs/heads/fix/upload.';
    const steps = [edit('src/upload.ts', 'retry();'), run('git add src/upload.ts && git rebase --continue', output)];
    expect(textsOf(...steps)).toEqual(['commit 3ec0053: Add retry']);
    expect(stateOf(first, ...steps).join('\n')).not.toContain('upload.ts');
  });

  it('include those in the folder of the session however it is named', () => {
    const made = (folder: string): Step => run(`cd ${folder} && git commit -m One`, '[main aaaaaa1] One');
    expect(textsOf(run('ls'), made('~/shop'))).toHaveLength(1);
    expect(textsOf(run('ls'), made('~/other'))).toEqual([]);
    const files = new Map();
    const common = { call: 1, folder: 'C:\\work\\shop\\web', background: false, line: 1, started: null, exit: 0 };
    const there = {
      ...common,
      command: 'cd C:/work/shop && git commit -m One',
      failed: false,
      output: '[main aaaaaa1] One',
    };
    expect(followCommits({ commands: [there], files }).commits).toHaveLength(1);
  });

  it('lose one that was amended', () => {
    const amended = run('git commit --amend --no-edit', '[main bbbbbb2] Add a retry');
    expect(textsOf(commit('aaaaaa1', 'Add a retry'), amended)).toEqual(['commit bbbbbb2 on main: Add a retry']);
  });

  it('lose one that was reset', () => {
    const steps = [commit('aaaaaa1', 'Add a retry'), commit('bbbbbb2', 'Log each try')];
    expect(textsOf(...steps, run('git reset --soft HEAD~1'))).toEqual(['commit aaaaaa1 on main: Add a retry']);
    expect(textsOf(...steps, run('git reset HEAD src/upload.ts'))).toHaveLength(2);
    expect(textsOf(...steps, fail('git reset --soft HEAD~1', 'fatal: ambiguous argument'))).toHaveLength(2);
  });

  it('lose as many as a reset takes back', () => {
    const steps = [commit('aaaaaa1', 'One'), commit('bbbbbb2', 'Two'), commit('ccccccc3', 'Three')];
    expect(textsOf(...steps, run('git reset --hard HEAD~2'))).toEqual(['commit aaaaaa1 on main: One']);
    expect(textsOf(...steps, run('git reset --hard HEAD^^'))).toEqual(['commit aaaaaa1 on main: One']);
  });

  it.each([
    ['a dry run', 'git commit --dry-run -am "x"', 'On branch main\nChanges to be committed:'],
    ['a pipe with another output', 'git commit -m "x" 2>&1 | tail -5', 'husky - pre-commit script failed (code 1)'],
    ['a fallback', 'git commit -qm "x" || true', 'On branch main\nnothing to commit, working tree clean'],
    ['a command after it', 'git commit -am "x"; git status -s', 'fatal: failed to write commit object'],
    ['another repository', 'git -C ../other commit -am "x"', '[main 1a2b3c4] x'],
    ['another folder', 'cd /home/ann/other && git commit -am "x"', '[main 1a2b3c4] x'],
    ['another git folder', 'git --git-dir=/home/ann/other/.git commit -am "x"', '[main 1a2b3c4] x'],
  ])('do not include one that nothing proves to be here: %s', (_, command, output) => {
    expect(sentence(run(command, output))).toBeUndefined();
  });

  it('do not include one after a change to another folder', () => {
    expect(sentence(run('cd ../other'), commit('aaaaaa1', 'One'))).toBeUndefined();
    expect(sentence(run('cd src'), commit('aaaaaa1', 'One'))).toContain('aaaaaa1');
  });

  it('include those where the session edited files', () => {
    const made = run('cd /home/ann/tree && git commit -am "x"', '[main 1a2b3c4] x');
    expect(sentence(edit('/home/ann/tree/a.ts', 'a();'), made)).toContain('1a2b3c4 "x"');
  });

  it('lose those after the one that a reset names', () => {
    const steps = [commit('aaaaaa1', 'One'), commit('bbbbbb2', 'Two')];
    expect(textsOf(...steps, run('git reset --hard aaaaaa1', 'HEAD is now at aaaaaa1 One'))).toHaveLength(1);
    expect(textsOf(...steps, run('git reset --soft @~'))).toHaveLength(1);
    expect(textsOf(...steps, run('git reset --hard HEAD'))).toHaveLength(2);
    expect(sentence(...steps, run('git reset --hard origin/main', 'HEAD is now at 1111111 old'))).toBeUndefined();
    expect(stateOf(first, ...steps, run('git reset --hard origin/main'))).toContain(
      'Earlier commits were reset to origin/main.',
    );
  });

  it('lose those of a branch that was deleted unmerged', () => {
    const made = run('git commit -am "Try"', '[probe aaaaaa1] Try');
    expect(sentence(made, run('git branch -D probe', 'Deleted branch probe (was aaaaaa1).'))).toBeUndefined();
    expect(sentence(made, run('git branch -d probe', 'Deleted branch probe (was aaaaaa1).'))).toContain('aaaaaa1');
  });

  it('include one that reverts another', () => {
    const revert = run('git revert --no-edit HEAD', '[main bbbbbb2] Revert "One"');
    expect(sentence(commit('aaaaaa1', 'One'), revert)).toContain(`aaaaaa1 "One"; bbbbbb2 "Revert 'One'"`);
  });

  it('include a quiet one by the subject of its command', () => {
    expect(sentence(run('git add -A && git commit -qm "Add a retry"'))).toBe(
      'Commits of this session: "Add a retry". No push was seen.',
    );
  });

  it('have the body of a here-document, without trailers', () => {
    const command = [
      `git commit -m "$(cat <<'EOF'`,
      'Add a retry',
      '',
      'The server answers 503 at night.',
      '',
      'Co-authored-by: Ann <ann@example.com>',
      'EOF',
      ')"',
    ].join('\n');
    expect(commitsOf(run(command, '[main 1a2b3c4] Add a retry'))[0]?.detail?.body).toBe(
      'The server answers 503 at night.',
    );
  });

  it('have the body of a second message', () => {
    const [made] = commitsOf(run('git commit -m "Add a retry" -m "Because it is slow"', '[main 1a2b3c4] Add a retry'));
    expect(made?.detail?.body).toBe('Because it is slow');
  });

  it('are limited to the last eight', () => {
    const made = Array.from({ length: 11 }, (_, at) => commit(`abcdef${at.toString(16)}`, `Change ${at}`));
    expect(textsOf(...made)).toEqual(
      [3, 4, 5, 6, 7, 8, 9, 10].map((at) => `commit abcdef${at.toString(16)} on main: Change ${at}`),
    );
  });
});

describe('the sentence about commits', () => {
  const made = commit('1a2b3c4', 'Add a retry');

  it('says whether they were pushed', () => {
    expect(sentence(made)).toBe('Commits of this session: 1a2b3c4 "Add a retry". No push was seen.');
    expect(sentence(made, run('git push -u origin fix'))).toContain('Pushed after the last one.');
    expect(sentence(made, run('git push'), commit('2b3c4d5', 'Log each try'))).toContain('Not pushed since.');
    expect(sentence(made, fail('git push', 'rejected'))).toContain('No push was seen.');
    expect(sentence(made, run('git push --dry-run', ' main -> main'))).toContain('No push was seen.');
    expect(sentence(made, run('git push | tail', ' ! [rejected] main -> main'))).toContain('No push was seen.');
    expect(sentence(made, run('git push || true', 'no network'))).toContain('No push was seen.');
    expect(sentence(made, run('git push | tail', '  1111111..1a2b3c4  main -> main'))).toContain('Pushed after');
    expect(sentence(run('git commit -qm x && git push'))).toContain('Pushed after the last one.');
  });

  it('counts those that it does not name', () => {
    const many = Array.from({ length: 6 }, (_, at) => commit(`abcdef${at}`, `Change ${at}`));
    expect(sentence(...many)).toMatch(/^Commits of this session, the last 4 of 6: abcdef2 "Change 2"; /);
  });

  it('is missing without commits', () => {
    expect(sentence(run('git status'))).toBeUndefined();
  });
});
