import { HandoverError } from '../../../errors.ts';
import { findProjectFolder } from '../../../platform/project-folder.ts';
import { assertNotPaused } from '../../../run/brake.ts';
import { identifyProject } from '../../../workspace/project.ts';
import { markNamed } from '../../cli/mark-named.ts';
import type { Answer, Call } from '../call.ts';
import type { Marking } from './resolve.ts';

export async function resolve(
  call: Call,
  { fact: word, as: mark, because, in: named }: Marking,
): Promise<Answer> {
  if (mark === 'refuted' && because === undefined)
    throw new HandoverError('HANDOVER_USAGE', 'what was refuted needs a reason', {
      hint: 'give "because": what was tried, and what happened',
    });
  const { root } = identifyProject('.', call.machine);
  assertNotPaused(call.machine, findProjectFolder(root));
  const { handover, fact, isNew } = await markNamed(call, { mark, word, named, because, by: 'agent' });
  return {
    text: `${isNew ? mark : `was ${mark} already`}: ${fact.kind} ${fact.id}`,
    data: { fact: fact.id, mark, handover: handover.id, changed: isNew },
  };
}
