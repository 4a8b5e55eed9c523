import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/model/fact.ts';
import { distillSession, fail, ofKind, run, type Step, stateOf, user } from '../support/scripted-session.ts';

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
    expect(textsOf(fail('git commit -m "Add retry"', '[main 1a2b3c4] Add retry\nhook failed'))).toEqual([]);
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

  it('include a quiet one by the subject of its command', () => {
    expect(sentence(run('git add -A && git commit -qm "Add a retry"'))).toBe(
      'Commits of this session: Add a retry. No push was seen.',
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
    expect(sentence(made)).toBe('Commits of this session: 1a2b3c4 Add a retry. No push was seen.');
    expect(sentence(made, run('git push -u origin fix'))).toContain('Pushed after the last one.');
    expect(sentence(made, run('git push'), commit('2b3c4d5', 'Log each try'))).toContain('Not pushed since.');
    expect(sentence(made, fail('git push', 'rejected'))).toContain('No push was seen.');
    expect(sentence(run('git commit -qm x && git push'))).toContain('Pushed after the last one.');
  });

  it('counts those that it does not name', () => {
    const many = Array.from({ length: 6 }, (_, at) => commit(`abcdef${at}`, `Change ${at}`));
    expect(sentence(...many)).toMatch(/^Commits of this session, the last 4 of 6: abcdef2 Change 2; /);
  });

  it('is missing without commits', () => {
    expect(sentence(run('git status'))).toBeUndefined();
  });
});
