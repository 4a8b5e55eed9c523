import { type Cut, cutTranscript, listCompactions } from '../../eval/corpus/cuts.ts';
import { parseTranscript } from '../../eval/corpus/transcript.ts';
import { makeStory, type Transcript } from '../fixtures/agents/claude-code.ts';
import { STORY_CWD } from '../support/conformance/agents.ts';

export const SUMMARY = `This session is being continued from a previous conversation that ran out of context.

Analysis: the user wants \`neverCounted\` in this part.

Summary:
1. Primary Request and Intent:
   Make the upload retry when the server is busy, with a delay below 2000 ms.
2. Files and Code Sections:
   - src/upload.ts calls \`retry(send, 5)\`
   - src/retry.ts
3. Errors and fixes:
   - TypeError: retry is not a function. Fixed by adding it; \`unheardOf()\` is new.
4. Pending Tasks:
   - Test the retry against a busy server
5. Current Work:
   Ran \`npm test\` and the upload test passed.
6. Optional Next Step:
   Test the retry.

If you need specific details from before compaction, read the transcript: \`afterTheEnd_name\``;

export function addSummary(transcript: Transcript, text: string = SUMMARY): void {
  transcript.system('compact_boundary', { compactMetadata: { trigger: 'auto', preTokens: 155_000 } });
  transcript.human(text, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
}

/** The story of the conformance suite, compacted at its end, and how it went on. */
export function makeCompactedStory(): Transcript {
  const t = makeStory();
  addSummary(t);
  t.say('I look at TypeError handling and at brandNewName first.');
  t.call('toolu_20', 'Read', { file_path: `${STORY_CWD}/src/upload.ts` });
  t.result('toolu_20', 'export function upload() {}');
  t.call('toolu_21', 'Edit', {
    file_path: `${STORY_CWD}/src/retry.ts`,
    old_string: 'return work();',
    new_string: 'return work(times);',
  });
  t.result('toolu_21', 'updated');
  t.call('toolu_22', 'Write', { file_path: `${STORY_CWD}/src/unknown.ts`, content: '' });
  t.result('toolu_22', 'created');
  t.call('toolu_23', 'Bash', { command: 'cd src && CI=1 npm test | tail -5; cargo build' });
  t.result('toolu_23', '3 passed');
  return t;
}

/** The transcript at its nth compaction. */
export function cutAt(transcript: Transcript, order = 0): Cut {
  const parsed = parseTranscript(Buffer.from(transcript.text));
  const cut = cutTranscript(parsed, listCompactions(parsed)[order] ?? -1);
  if (cut === null) throw new Error(`there is no compaction ${order}`);
  return cut;
}
