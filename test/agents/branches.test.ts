import { describe, expect, it } from 'vitest';
import { claudeCodeAgent } from '../../src/agents/claude-code/transcript.ts';
import { layOut, Transcript } from '../fixtures/agents/claude-code.ts';
import { call, exited, output } from '../fixtures/agents/codex.ts';
import { answered, read } from '../fixtures/agents/codex-home.ts';
import { STORY_CWD } from '../support/conformance/agents.ts';
import { readTranscript } from '../support/read-transcript.ts';

/** The branch after a command, in a session that began on `feat/retry`. */
function branchAfter(cmd: string, printed: string, { exit = 0, ...more }: Record<string, unknown> = {}): unknown {
  return read(
    call('c1', 'exec_command', { cmd, ...more }),
    output('c1', exited(Number(exit), printed)),
    answered('ok'),
  ).at(-1)?.branch;
}

describe('the branch of a session that records only the first one', () => {
  it.each([
    ['git checkout -b fix/x', "Switched to a new branch 'fix/x'\n"],
    ['git switch fix/x', "Switched to branch 'fix/x'\nYour branch is up to date with 'origin/fix/x'.\n"],
    ['git checkout -B fix/x', "Switched to and reset branch 'fix/x'\n"],
    ['git checkout fix/x', "Already on 'fix/x'\n"],
    ['git status', 'On branch fix/x\nnothing to commit, working tree clean\n'],
    ['git status --short --branch', '## fix/x...origin/fix/x [ahead 1]\n M a.ts\n'],
    ['git status -sb', '## fix/x\n M a.ts\n'],
    [`cd ${STORY_CWD} && npm ci && git switch fix/x`, "Switched to branch 'fix/x'\n"],
  ])('is the one that git prints: %s', (cmd, printed) => {
    expect(branchAfter(cmd, printed)).toBe('fix/x');
  });

  it('is the last one of several', () => {
    expect(branchAfter('git switch a && git switch b', "Switched to branch 'a'\nSwitched to branch 'b'\n")).toBe('b');
  });

  it('stays where git worked elsewhere, failed, or something else printed the words', () => {
    const printed = "Switched to branch 'fix/x'\n";
    for (const cmd of [
      'git -C ../b switch fix/x',
      'git --git-dir=/b/.git checkout fix/x',
      'cd ../b && git switch fix/x',
    ])
      expect([cmd, branchAfter(cmd, printed)]).toEqual([cmd, 'feat/retry']);
    expect(branchAfter('git switch fix/x', printed, { workdir: '/elsewhere' })).toBe('feat/retry');
    expect(branchAfter('git switch fix/x', printed, { exit: 1 })).toBe('feat/retry');
    expect(branchAfter('cat git-notes.md', printed)).toBe('feat/retry');
    expect(branchAfter('git status -sb; cat README.md', ' M a.ts\n## Usage\n')).toBe('feat/retry');
    expect(branchAfter('git status -sb', '## HEAD (no branch)\n')).toBe('feat/retry');
  });
});

describe('the branch of a session whose rows name it', () => {
  it('is what they say', () => {
    const t = new Transcript();
    t.call('a', 'Bash', { command: 'git switch fix/x' });
    t.result('a', "Switched to branch 'fix/x'");
    t.say('ok');
    const { events } = readTranscript(claudeCodeAgent, layOut(t.text).path);
    expect(events.map(({ branch }) => branch)).toEqual(['main', 'main', 'main']);
  });
});
