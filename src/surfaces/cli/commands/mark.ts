import { buildCommand, type Command } from '@stricli/core';
import type { Mark } from '../../../handover/marks.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import { detectAgent } from '../agents.ts';
import type { CliContext } from '../context.ts';
import { becauseFlag, factPositional, type MarkFlags, markFlags } from '../mark-flags.ts';
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

export const pin: Command<CliContext> = buildCommand<MarkFlags, [string], CliContext>({
  func: runPin,
  parameters: { positional: factPositional, flags: markFlags },
  docs: { brief: 'Keep a fact in every brief of this project until it is resolved' },
});

export const unpin: Command<CliContext> = buildCommand<MarkFlags, [string], CliContext>({
  func: runUnpin,
  parameters: { positional: factPositional, flags: markFlags },
  docs: { brief: 'Take a pin away; the fact stays' },
});

export const resolve: Command<CliContext> = buildCommand<MarkFlags, [string], CliContext>({
  func: runResolve,
  parameters: { positional: factPositional, flags: markFlags },
  docs: { brief: 'Say that a fact is settled: it leaves the briefs' },
});

export const refute: Command<CliContext> = buildCommand<
  MarkFlags & { because: string },
  [string],
  CliContext
>({
  func: runRefute,
  parameters: {
    positional: factPositional,
    flags: { ...markFlags, because: { ...becauseFlag, optional: false, brief: 'Why it did not work' } },
  },
  docs: { brief: 'Say that a fact did not hold, and why: briefs warn of it' },
});
