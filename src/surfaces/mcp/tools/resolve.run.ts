import { HandoverError } from '../../../errors.ts';
import { assertNotPaused } from '../../../memory/runs/pause-guard.ts';
import { cleanLine, cutAtWord } from '../../../model/text.ts';
import { identifyProject } from '../../../platform/project.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { markNamed } from '../../cli/mark-named.ts';
import type { Answer, Call } from '../call.ts';
import { quote } from '../page.ts';
import type { Marking } from './resolve.ts';

const MAX_SHOWN_BYTES = 160;

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
    text: [
      `${isNew ? mark : `was ${mark} already`}: ${fact.kind} ${fact.id}`,
      quote(cutAtWord(cleanLine(fact.text), MAX_SHOWN_BYTES)),
    ].join('\n'),
    data: { fact: fact.id, mark, handover: handover.id, changed: isNew },
  };
}
