import { HandoverError } from '../../errors.ts';
import { type BriefOptions, DEFAULT_BUDGET } from '../../handover/brief/compile.ts';
import { findReader, READER_NAMES, type Reader } from '../../handover/brief/reader.ts';
import { cleanLine } from '../../model/text.ts';
import type { BriefFlags } from './brief-flags.ts';
import { parseCount } from './words.ts';

export function requireReader(words: string): Reader {
  const reader = findReader(words);
  if (reader !== null) return reader;
  throw new HandoverError('HANDOVER_USAGE', `"${cleanLine(words)}" is not an agent that is known here`, {
    hint: `Give one of: ${READER_NAMES.join(', ')}.`,
  });
}

export function readBriefFlags(flags: BriefFlags): {
  reader: Reader;
  options: BriefOptions & { budget: number };
} {
  const reader = requireReader(flags.target);
  const budget = flags.budget === undefined ? DEFAULT_BUDGET : parseCount(flags.budget, 1);
  return { reader, options: { budget, ...(flags.goal === undefined ? {} : { goal: flags.goal }) } };
}
