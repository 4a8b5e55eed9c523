import { buildCommand, type Command } from '@stricli/core';
import { compileBrief } from '../../../handover/brief/compile.ts';
import { readMarked } from '../../../store/marks.ts';
import { type BriefFlags, briefFlags } from '../brief-flags.ts';
import { type CliContext, findStore } from '../context.ts';
import { idFlag, idPositional, pickHandover } from '../pick.ts';
import { readBriefFlags } from '../readers.ts';

export interface RenderFlags extends BriefFlags {
  id?: string;
  json: boolean;
}

export const render: Command<CliContext> = buildCommand<RenderFlags, [string?], CliContext>({
  func: runRender,
  parameters: {
    positional: idPositional,
    flags: {
      id: idFlag,
      ...briefFlags,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Print a handover as a brief for an agent' },
});

export async function runRender(this: CliContext, flags: RenderFlags, id?: string): Promise<void> {
  const { reader, options } = readBriefFlags(flags);
  const handover = await pickHandover(this, id ?? flags.id);
  const brief = compileBrief(readMarked(findStore(this), handover), reader, options);
  if (!flags.json) {
    this.out.block(brief.text);
    return;
  }
  const left_out = brief.leftOut.map((fact) => fact.id);
  this.out.json({
    id: handover.id,
    target: reader.agent,
    budget: options.budget,
    tokens: brief.tokens,
    left_out,
    text: brief.text,
  });
}
