import { getText, type Row } from '../../src/agents/shared/json.ts';
import type { Cut } from '../corpus/cuts.ts';
import { isCompaction, readBlocks, readBlockText } from '../corpus/transcript.ts';
import { takeLastTokens } from '../score/budget.ts';
import type { Arm } from './arm.ts';

/** What whoever has no better idea would give: the end of everything, as much as fits. */
export const tailArm: Arm = {
  name: 'tail',
  about: 'the end of the transcript, with calls and results',
  isWhole: false,
  canTell: ({ isReadable }) => isReadable,
  prepare: (cut) => makeTail(cut, () => true),
};

export const dialogueArm: Arm = {
  name: 'dialogue',
  about: 'the end of what was said, without calls and results',
  isWhole: false,
  canTell: ({ isReadable }) => isReadable,
  prepare: (cut) => makeTail(cut, (block) => block.type === 'text'),
};

function makeTail({ before }: Cut, isTold: (block: Row) => boolean): (budget: number) => string {
  const text = before
    .filter((row) => row.isSidechain !== true && !isCompaction(row))
    .flatMap((row) =>
      readBlocks(row)
        .filter(isTold)
        .map((block) => ({ text: readBlockText(block), speaker: nameSpeaker(row, block) })),
    )
    .filter(({ text }) => text !== '')
    .map(({ speaker, text }) => `${speaker}: ${text}`)
    .join('\n');
  return (budget) => takeLastTokens(text, budget);
}

function nameSpeaker(row: Row, block: Row): string {
  if (block.type === 'tool_use') return getText(block, 'name') ?? 'tool';
  if (block.type === 'tool_result') return 'result';
  return row.type === 'assistant' ? 'agent' : 'user';
}
