import type { Mark } from '../../../handover/marks.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import { detectAgent } from '../agents.ts';
import type { CliContext } from '../context.ts';
import type { MarkFlags } from '../mark-flags.ts';
import { markNamed } from '../mark-named.ts';
import { bold } from '../output.ts';

export async function runPin(this: CliContext, flags: MarkFlags, word: string): Promise<void> {
  await mark(this, 'pinned', { flags, word });
}

export async function runUnpin(this: CliContext, flags: MarkFlags, word: string): Promise<void> {
  await mark(this, 'unpinned', { flags, word });
}

export async function runResolve(this: CliContext, flags: MarkFlags, word: string): Promise<void> {
  await mark(this, 'resolved', { flags, word });
}

export async function runRefute(this: CliContext, flags: MarkFlags, word: string): Promise<void> {
  await mark(this, 'refuted', { flags, word });
}

async function mark(
  context: CliContext,
  as: Mark['mark'],
  { flags, word }: { flags: MarkFlags; word: string },
): Promise<void> {
  const { handover, fact, isNew } = await markNamed(context, {
    mark: as,
    word,
    named: flags.in,
    because: flags.because,
    by: detectAgent(context.machine.env) === null ? 'human' : 'agent',
  });
  if (flags.json) {
    context.out.json({
      fact: fact.id,
      mark: as,
      in: handover.id,
      project: handover.project.id,
      changed: isNew,
    });
    return;
  }
  const text = cutToBytes(cleanLine(fact.text), 100);
  context.out.line(isNew ? `${as} ` : `was ${as} already: `, bold(fact.id), `  ${fact.kind}: ${text}`);
}
