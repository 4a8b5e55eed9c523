import { bold, dim, yellow } from '../../../app/describe/styled-text.ts';
import { mergeNamed } from '../../../app/merge.ts';
import { cleanLine, countNouns } from '../../../model/text.ts';
import type { CliContext } from '../context.ts';
import { argument, command, type FlagValues, json, tuple } from '../flags.ts';

const flags = { json };

export const merge = command('merge', runMerge, {
  positional: tuple(argument('An id, its start or end, or latest', 'id'), argument('The other', 'id')),
  flags,
});

async function runMerge(
  this: CliContext,
  values: FlagValues<typeof flags>,
  first: string,
  second: string,
): Promise<void> {
  const { outcome, handover, base, contradictions } = await mergeNamed(this, first, second);
  const listed = contradictions.map(({ id, text }) => ({ id, text }));
  if (values.json) return this.out.json({ outcome, id: handover.id, base, contradictions: listed });
  if (outcome === 'contained') return this.out.line(bold(handover.id), ' already has the work of the other');
  this.out.line(
    'merged as ',
    bold(handover.id),
    dim(base === null ? ', without a common ancestor' : `, both come from ${base}`),
  );
  if (listed.length === 0) return;
  this.out.line(yellow(`${countNouns(listed.length, 'contradiction')}, first in every brief until resolved:`));
  for (const { id, text } of listed) this.out.line(`  ${cleanLine(text)}`, dim(`  handover resolve ${id}`));
}
