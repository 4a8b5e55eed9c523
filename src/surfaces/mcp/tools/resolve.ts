import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { usageError } from '../../../errors.ts';
import { cleanLine, cutAtWord } from '../../../model/text.ts';
import { type Answer, type Call, defineTool } from '../call.ts';
import { describeInput, project, storedText, text, WRITES } from '../input.ts';
import { quote } from '../page.ts';

const Arguments = v.strictObject({
  fact: text('The id of a fact (f-…) from search, get or save; or its words, copied from a brief.'),
  as: v.optional(
    v.pipe(
      v.picklist(['resolved', 'refuted', 'pinned', 'unpinned']),
      v.description(
        'resolved: done or answered, briefs leave it out. refuted: tried and did not work, briefs warn of it. pinned: in every brief until it is resolved. unpinned: removes a pin.',
      ),
    ),
    'resolved',
  ),
  because: v.optional(storedText('Why, in a sentence. Needed for refuted.')),
  in: v.optional(text('The handover that has the fact; the newest of the project if left out.')),
  project,
});
type Marking = v.InferOutput<typeof Arguments>;

const MarkOutput = v.object({
  fact: v.string(),
  mark: v.string(),
  handover: v.string(),
  /** False when it was marked so before. */
  changed: v.boolean(),
});

export const registerResolve = defineTool({
  name: 'resolve',
  title: 'Mark a fact',
  description:
    'Marks what became of a fact of an earlier session: resolved (the default), refuted, pinned or unpinned. Call it when a next step is done, a question is answered, an error is gone, or something that was decided has turned out not to work.',
  inputSchema: describeInput(Arguments),
  outputSchema: toStandardJsonSchema(MarkOutput),
  annotations: WRITES,
  work: resolve,
});

const MAX_SHOWN_BYTES = 160;

async function resolve(call: Call, { fact: words, as: mark, because, in: named }: Marking): Promise<Answer> {
  if (mark === 'refuted' && because === undefined)
    throw usageError('refuting a fact needs a reason', 'pass "because": what was tried, and what happened');
  const { identifyProject } = await import('../../../platform/project.ts');
  const { findProjectFolder } = await import('../../../platform/project-folder.ts');
  const { assertNotPaused } = await import('../../../memory/runs/run-config.ts');
  const { markNamed } = await import('../../../app/mark.ts');
  const { root } = identifyProject('.', call.machine);
  assertNotPaused(call.machine, findProjectFolder(root));
  const { handover, fact, isNew } = await markNamed(call, { mark, words, named, because, by: 'agent' });
  const shown = quote(cutAtWord(cleanLine(fact.text), MAX_SHOWN_BYTES));
  return {
    text: `${isNew ? mark : `already ${mark}`}: ${fact.kind} ${fact.id}\n${shown}`,
    data: { fact: fact.id, mark, handover: handover.id, changed: isNew },
  };
}
