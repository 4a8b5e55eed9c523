import { detectAgent } from '../../../app/context.ts';
import { bold } from '../../../app/describe/styled-text.ts';
import { markNamed } from '../../../app/mark.ts';
import type { Mark } from '../../../handover/marks.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import type { CliContext } from '../context.ts';
import { argument, command, type FlagValues, json, text, tuple } from '../flags.ts';

const positional = tuple(argument('The id of a fact, the start of one, or its words', 'fact'));
const flags = {
  in: text('The handover that has it; default: the newest of this project', 'id'),
  because: text('Why'),
  json,
};
type MarkFlags = FlagValues<typeof flags>;

export const pin = command('pin', makeRun('pinned'), { positional, flags });
export const unpin = command('unpin', makeRun('unpinned'), { positional, flags });
export const resolve = command('resolve', makeRun('resolved'), { positional, flags });

export const refute = command<MarkFlags & { because: string }, [string]>('refute', makeRun('refuted'), {
  positional,
  flags: { ...flags, because: { ...flags.because, optional: false, brief: 'Why it is wrong' } },
});

function makeRun(mark: Mark['mark']) {
  return async function run(this: CliContext, values: MarkFlags, words: string): Promise<void> {
    const { handover, fact, isNew } = await markNamed(this, {
      mark,
      words,
      named: values.in,
      because: values.because,
      by: detectAgent(this.machine.env) === null ? 'human' : 'agent',
    });
    const { id, project } = handover;
    if (values.json) return this.out.json({ fact: fact.id, mark, in: id, project: project.id, changed: isNew });
    const shown = cutToBytes(cleanLine(fact.text), 100);
    this.out.line(isNew ? `${mark} ` : `already ${mark}: `, bold(fact.id), `  ${fact.kind}: ${shown}`);
  };
}
