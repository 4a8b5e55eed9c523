import { findReader, READER_NAMES, type Reader } from '../../brief/reader.ts';
import { HandoverError } from '../../errors.ts';
import { cleanLine } from '../../model/text.ts';

export function requireReader(words: string): Reader {
  const reader = findReader(words);
  if (reader !== null) return reader;
  throw new HandoverError('HANDOVER_USAGE', `"${cleanLine(words)}" is not an agent that is known here`, {
    hint: `Give one of: ${READER_NAMES.join(', ')}.`,
  });
}
