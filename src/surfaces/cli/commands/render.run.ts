import { compileBrief, DEFAULT_BUDGET } from '../../../brief/compile.ts';
import type { CliContext } from '../context.ts';
import { pickHandover } from '../pick.ts';
import { requireReader } from '../readers.ts';
import { parseCount } from '../words.ts';
import type { RenderFlags } from './render.ts';

export async function runRender(this: CliContext, flags: RenderFlags, id?: string): Promise<void> {
  const reader = requireReader(flags.target);
  const budget = flags.budget === undefined ? DEFAULT_BUDGET : parseCount(flags.budget, 1);
  const handover = await pickHandover(this, id ?? flags.id);
  const brief = compileBrief(handover, reader, {
    budget,
    ...(flags.goal === undefined ? {} : { goal: flags.goal }),
  });
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
