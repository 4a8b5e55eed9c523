import { describe, expect, it } from 'vitest';
import { chooseCuts } from '../../eval/corpus/cuts.ts';
import { findSection, parseSummary } from '../../eval/corpus/summary.ts';
import { parseTranscript } from '../../eval/corpus/transcript.ts';
import { gatherPast } from '../../eval/score/stale.ts';
import { findOpenErrors } from '../../eval/truth/open-errors.ts';
import { findRules } from '../../eval/truth/rules.ts';
import { gatherTruth } from '../../eval/truth/truth.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { addSummary, cutAt, makeCompactedStory, SUMMARY } from './compacted-story.ts';

const truth = gatherTruth(cutAt(makeCompactedStory()));

describe('the expected content of a brief', () => {
  it('has what was touched next, as far as it was known', () => {
    expect(truth.names.nextEdit).toEqual(new Set(['retry.ts']));
    expect(truth.names.nextRead).toEqual(new Set(['upload.ts']));
    expect(truth.commands.nextCmd).toEqual(new Set(['npm test']));
    expect(truth.names.futEnt).toEqual(new Set(['TypeError']));
  });

  it('has what the summary has, without its analysis and instructions', () => {
    expect(truth.names['sum.file']).toEqual(new Set(['upload.ts', 'retry.ts']));
    expect(truth.names['sum.error']).toEqual(new Set(['TypeError']));
    expect(truth.names['sum.ident']).toEqual(new Set(['TypeError']));
    expect(truth.commands['sum.cmd']).toEqual(new Set(['npm test']));
    expect(truth.names.secErr).toEqual(new Set(['TypeError']));
    expect(truth.prose.secPending).toEqual(new Set(['test', 'retry', 'busy', 'server']));
  });

  it('has what the user said and what is left to do', () => {
    expect(truth.firstMessage).toBe('Make the upload retry when the server is busy');
    expect(truth.lastMessage).toBe('Never retry on 404, and keep the delay below 2000 ms');
    expect(truth.messages).toHaveLength(2);
    expect(truth.openTasks).toEqual(['Test the retry']);
    expect(truth.past.doneTasks).toEqual(['Add a retry to the upload']);
    expect(truth.rules).toEqual(new Set(['Never retry on 404, and keep the delay below 2000 ms']));
    expect(truth.names.editedAll).toEqual(new Set(['upload.ts', 'retry.ts']));
    expect(truth.relevantFiles).toEqual(new Set(['upload.ts', 'retry.ts', 'unknown.ts']));
  });

  it('comes from the first thirty calls after the cut', () => {
    const t = new Transcript();
    t.human('Look at late.ts and early.ts');
    addSummary(t);
    for (let n = 1; n <= 30; n++) t.call(`toolu_${n}`, 'Read', { file_path: '/x/early.ts' });
    t.call('toolu_31', 'Read', { file_path: '/x/late.ts' });
    const { names, relevantFiles } = gatherTruth(cutAt(t));
    expect(names.nextRead).toEqual(new Set(['early.ts']));
    expect(relevantFiles).toContain('late.ts');
  });

  it('leaves out what sub-agents did and what the agent thought', () => {
    const t = new Transcript();
    t.human('Look at known.ts');
    t.assistant([{ type: 'thinking', thinking: 'secretName in thought.ts' }]);
    addSummary(t);
    t.call('toolu_1', 'Read', { file_path: '/x/known.ts' }, { isSidechain: true });
    t.call('toolu_2', 'Read', { file_path: '/x/thought.ts' });
    t.say('Now secretName is on.');
    const { names } = gatherTruth(cutAt(t));
    expect(names.nextRead).toEqual(new Set());
    expect(names.futEnt).toEqual(new Set());
  });

  it('does not take text that the agent wrote in the user’s name for a message', () => {
    const t = new Transcript();
    t.human('<command-name>/clear</command-name>');
    t.human('Caveat: the messages below were generated');
    t.human('meta', { isMeta: true });
    t.human('The first real one <system-reminder>not\nthis</system-reminder>');
    t.human('ok');
    addSummary(t);
    const { messages, lastMessage } = gatherTruth(cutAt(t));
    expect(messages).toEqual(['The first real one', 'ok']);
    expect(lastMessage).toBe('ok');
  });
});

describe('a cut of a session', () => {
  it('ends at the next compaction, and records whether it is the first', () => {
    const t = makeCompactedStory();
    addSummary(t, 'Summary two');
    t.say('After the second.');
    const [first, second] = [cutAt(t, 0), cutAt(t, 1)];
    expect([first.isFirst, second.isFirst]).toEqual([true, false]);
    expect(JSON.stringify(first.after)).not.toContain('After the second.');
    expect(second.summary).toBe('Summary two');
    expect(Buffer.from(second.bytes).toString()).toContain('brandNewName');
    expect(Buffer.from(first.bytes).toString()).not.toContain('Primary Request');
  });

  it('is chosen where twenty calls are before it and ten after it', () => {
    const tell = (before: number, after: number): number[] => {
      const t = new Transcript();
      for (let n = 0; n < before; n++) t.call(`a${n}`, 'Read', { file_path: '/x/a.ts' });
      addSummary(t);
      for (let n = 0; n < after; n++) t.call(`b${n}`, 'Read', { file_path: '/x/a.ts' });
      return chooseCuts(parseTranscript(Buffer.from(t.text)));
    };
    expect([tell(20, 10), tell(19, 10), tell(20, 9)]).toEqual([[21], [], []]);
  });

  it('counts only rows that are JSON objects', () => {
    const { rows, offsets } = parseTranscript(
      Buffer.from('\n{"a":1}\nnot json\n[1]\r\n  {"b":"é"}  \r\n\n"x"\n{"c":3}'),
    );
    expect(rows).toEqual([{ a: 1 }, { b: 'é' }, { c: 3 }]);
    expect(offsets).toEqual([1, 23, 44]);
  });
});

describe('the summary of a compaction', () => {
  it('is split by its numbered headings, in any format', () => {
    const summary = parseSummary(
      '\nSummary:\n## 1. Primary Request:\nA\n**2. Pending Tasks**\nB\n3. Current Work: C\n',
    );
    expect([...summary.sections.keys()]).toEqual(['primary request', 'pending tasks', 'current work']);
    expect(findSection(summary, 'current').trim()).toBe('C');
    expect(findSection(summary, 'errors')).toBe('');
  });

  it('has no instructions to the model in it', () => {
    const { body } = parseSummary(SUMMARY);
    expect(body).not.toContain('neverCounted');
    expect(body).not.toContain('afterTheEnd_name');
  });
});

describe('rules in the expected content', () => {
  it('are sentences that say how work is to be done', () => {
    expect([
      ...findRules([
        'Please fix it. Never push to main without asking!\nUse pnpm instead, as npm is broken. Why don’t you look there?',
        'Don’t!',
      ]),
    ]).toEqual(['Never push to main without asking!', 'Use pnpm instead, as npm is broken.']);
  });
});

describe('outdated content', () => {
  it('is a file that was removed and not touched again', () => {
    const calls = ['rm -f src/a.ts src/b.ts', 'npm test && git rm c.md; rm -rf build'].map((command) => ({
      tool: 'Bash',
      input: { command },
    }));
    const again = { tool: 'Write', input: { file_path: '/x/src/b.ts' } };
    expect(gatherPast([...calls, again]).removedFiles).toEqual(new Set(['a.ts', 'c.md']));
  });
});

describe('open errors in the expected content', () => {
  it('are the reasons of commands that failed and have not succeeded since', () => {
    const t = new Transcript();
    const run = (id: string, command: string, output: string, isError: boolean): void => {
      t.call(id, 'Bash', { command });
      t.result(id, output, { isError });
    };
    run('1', 'npm test', 'Exit code 1\nrunning\nTypeError: no error here', true);
    run('2', 'npm run lint', 'Exit code 2\nlint failed: 3 problems', true);
    run('3', 'npm test', '2 passed', false);
    run('4', 'cargo build', 'Exit code 101\nwarning\nerror[E0425]: cannot find value', true);
    run('5', 'cargo build', "The user doesn't want to proceed with this tool use.", true);
    const { rows } = parseTranscript(Buffer.from(t.text));
    expect([...findOpenErrors(rows)]).toEqual(['lint failed: 3 problems', 'error[E0425]: cannot find value']);
  });
});
