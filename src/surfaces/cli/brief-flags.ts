import { parseCount, requireReader } from '../../app/parse.ts';
import { type BriefOptions, DEFAULT_BUDGET } from '../../handover/brief/compile.ts';
import type { Reader } from '../../handover/brief/reader.ts';
import { type FlagValues, redactedText, text, textOr } from './flags.ts';

export const budgetFlag = text(`Maximum tokens of the brief (${DEFAULT_BUDGET})`, 'tokens');

export const briefFlags = {
  target: textOr('generic', 'The agent that will read it', 'agent'),
  budget: budgetFlag,
  goal: redactedText('What the next session will do; guides the choice of facts'),
} as const;

export function readBudget(budget: string | undefined): number {
  return budget === undefined ? DEFAULT_BUDGET : parseCount(budget, 1);
}

export function readBriefFlags({ target, budget, goal }: FlagValues<typeof briefFlags>): {
  reader: Reader;
  options: BriefOptions & { budget: number };
} {
  const reader = requireReader(target);
  return { reader, options: { budget: readBudget(budget), ...(goal === undefined ? {} : { goal }) } };
}
