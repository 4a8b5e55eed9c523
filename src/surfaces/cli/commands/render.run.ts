import { compileBrief, DEFAULT_BUDGET } from '../../../brief/compile.ts';
import { findReader, READER_NAMES } from '../../../brief/reader.ts';
import { HandoverError } from '../../../errors.ts';
import { cleanLine } from '../../../model/text.ts';
import type { CliContext } from '../context.ts';
import { pickHandover } from '../pick.ts';
import { parseCount } from '../words.ts';
import type { RenderFlags } from './render.ts';

export async function runRender(this: CliContext, flags: RenderFlags, id?: string): Promise<void> {
  const reader = findReader(flags.target);
  if (reader === null) {
    throw new HandoverError(
      'HANDOVER_USAGE',
      `"${cleanLine(flags.target)}" is not an agent that is known here`,
      {
        hint: `Give one of: ${READER_NAMES.join(', ')}.`,
      },
    );
  }
  const budget = flags.budget === undefined ? DEFAULT_BUDGET : parseCount(flags.budget, 1);
  const handover = await pickHandover(this, id ?? flags.id);
  const brief = compileBrief(handover, reader, budget);
  if (!flags.json) {
    this.out.block(brief.text);
    return;
  }
  const left_out = brief.leftOut.map((fact) => fact.id);
  this.out.json({
    id: handover.id,
    target: reader.agent,
    budget,
    tokens: brief.tokens,
    left_out,
    text: brief.text,
  });
}
