import { detectAgent } from '../../app/context.ts';
import { parseCount, requireReader } from '../../app/parse.ts';
import { type BriefOptions, DEFAULT_BUDGET } from '../../handover/brief/compile.ts';
import type { Reader } from '../../handover/brief/reader.ts';
import type { Machine } from '../../platform/machine.ts';
import { type FlagValues, redactedText, text } from './flags.ts';

export const budgetFlag = text(`Maximum tokens of the brief (${DEFAULT_BUDGET})`, 'tokens');

export const briefFlags = {
  target: text('The agent that will read it; default: the one that runs this', 'agent'),
  budget: budgetFlag,
  goal: redactedText('What the next session will do; guides the choice of facts'),
} as const;

export function readBudget(budget: string | undefined): number {
  return budget === undefined ? DEFAULT_BUDGET : parseCount(budget, 1);
}

export function readBriefFlags(
  { target, budget, goal }: FlagValues<typeof briefFlags>,
  { env }: Machine,
): { reader: Reader; options: BriefOptions & { budget: number } } {
  const reader = requireReader(target ?? detectAgent(env) ?? 'generic');
  return { reader, options: { budget: readBudget(budget), ...(goal === undefined ? {} : { goal }) } };
}
