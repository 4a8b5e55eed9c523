import { findStore } from '../../../app/context.ts';
import { pickHandover } from '../../../app/find-handover.ts';
import { compileBrief } from '../../../handover/brief/compile.ts';
import { readMarked } from '../../../store/marks.ts';
import { briefFlags, readBriefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, idFlag, idPositional, json } from '../flags.ts';

const flags = { id: idFlag, ...briefFlags, json };

export const render = command('render', runRender, { positional: idPositional, flags });

async function runRender(this: CliContext, values: FlagValues<typeof flags>, id?: string): Promise<void> {
  const { reader, options } = readBriefFlags(values, this.machine);
  const handover = await pickHandover(this, id ?? values.id);
  const { text, tokens, leftOut } = compileBrief(readMarked(findStore(this), handover), reader, options);
  if (!values.json) return this.out.block(text);
  const asked = { id: handover.id, target: reader.agent, budget: options.budget };
  this.out.json({ ...asked, tokens, left_out: leftOut.map((fact) => fact.id), text });
}
