import { describe, expect, it } from 'vitest';
import { chooseCuts, cutTranscript } from '../../eval/corpus/cuts.ts';
import { findSection, parseSummary } from '../../eval/corpus/summary.ts';
import { parseTranscript } from '../../eval/corpus/transcript.ts';
import { gatherTruth } from '../../eval/truth/truth.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { addSummary, cutAt, makeCompactedStory, SUMMARY } from './compacted-story.ts';

const truth = gatherTruth(cutAt(makeCompactedStory()));

describe('what a brief should have told', () => {
  it('is what was touched next, as far as it was known', () => {
    expect(truth.nextEdit).toEqual(new Set(['retry.ts']));
    expect(truth.nextRead).toEqual(new Set(['upload.ts']));
    expect(truth.nextCmd).toEqual(new Set(['npm test']));
  });

  it('is useful when it was used next or kept by the summary, without its analysis and the words to the model', () => {
    const { names, stems, words } = truth.useful;
    expect(names).toEqual(new Set(['retry.ts', 'upload.ts', 'TypeError']));
    expect(stems).toEqual(new Set(['npm test']));
    expect(words).toContain('busy');
    expect(words).not.toContain('primary');
  });

  it('is useful when the human said it, or when it is left to do', () => {
    expect(truth.useful.quotes).toEqual([
      'Make the upload retry when the server is busy',
      'Never retry on 404, and keep the delay below 2000 ms',
      'Make the upload retry when the server is busy',
      'Never retry on 404, and keep the delay below 2000 ms',
      'Test the retry',
    ]);
  });

  it('is used later when it was said or done, not when it stands in a result', () => {
    expect(truth.later?.names('brandNewName')).toBe(true);
    expect(truth.later?.names('passed')).toBe(false);
  });

  it('comes from the first thirty calls after the cut', () => {
    const t = new Transcript();
    t.human('Look at late.ts and early.ts');
    addSummary(t);
    for (let n = 1; n <= 30; n++) t.call(`toolu_${n}`, 'Read', { file_path: '/x/early.ts' });
    t.call('toolu_31', 'Read', { file_path: '/x/late.ts' });
    expect(gatherTruth(cutAt(t)).nextRead).toEqual(new Set(['early.ts']));
  });

  it('leaves out what sub-agents did and what the agent thought', () => {
    const t = new Transcript();
    t.human('Look at known.ts');
    t.assistant([{ type: 'thinking', thinking: 'secretName in thought.ts' }]);
    addSummary(t);
    t.call('toolu_1', 'Read', { file_path: '/x/known.ts' }, { isSidechain: true });
    t.call('toolu_2', 'Read', { file_path: '/x/thought.ts' });
    t.say('Now secretName is on.');
    const { nextRead, useful } = gatherTruth(cutAt(t));
    expect([nextRead, useful.names]).toEqual([new Set(), new Set()]);
  });

  it('does not take text that the agent wrote in the user’s name for a message', () => {
    const t = new Transcript();
    t.human('<command-name>/clear</command-name>');
    t.human('Caveat: the messages below were generated');
    t.human('meta', { isMeta: true });
    t.human('The first real one <system-reminder>not\nthis</system-reminder>');
    t.human('ok');
    addSummary(t);
    expect(new Set(gatherTruth(cutAt(t)).useful.quotes)).toEqual(new Set(['The first real one', 'ok']));
  });
});

describe('a cut', () => {
  it('ends at the next compaction', () => {
    const t = makeCompactedStory();
    addSummary(t, 'Summary two');
    t.say('After the second.');
    const [first, second] = [cutAt(t, 0), cutAt(t, 1)];
    expect(JSON.stringify(first.after)).not.toContain('After the second.');
    expect(second.summary).toBe('Summary two');
    expect(Buffer.from(second.bytes).toString()).toContain('brandNewName');
    expect(Buffer.from(first.bytes).toString()).not.toContain('Primary Request');
  });

  it('may be anywhere, up to the end, where nothing comes after', () => {
    const transcript = parseTranscript(Buffer.from(makeCompactedStory().text));
    const early = cutTranscript(transcript, 3);
    expect([early?.summary, early?.before.length]).toEqual(['', 3]);
    expect(JSON.stringify(early?.after)).not.toContain('brandNewName');
    const end = cutTranscript(transcript, transcript.rows.length);
    expect([end?.after, end === null ? undefined : gatherTruth(end).later]).toEqual([[], null]);
    expect(cutTranscript(transcript, transcript.rows.length + 1)).toBeNull();
  });

  it('can be read in the format of Claude Code only', () => {
    const rows = '{"type":"session_meta","payload":{}}\n{"type":"user","message":{"parts":[]}}\n';
    expect(cutTranscript(parseTranscript(Buffer.from(rows)), 2)?.isReadable).toBe(false);
    expect(cutAt(makeCompactedStory()).isReadable).toBe(true);
  });

  it('is chosen where twenty calls stand before it and ten after it', () => {
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
