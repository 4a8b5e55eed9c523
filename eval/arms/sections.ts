import type { Cut } from '../corpus/cuts.ts';
import { findToolCalls, listTouched, readHumanMessage } from '../corpus/transcript.ts';
import { takeFirstTokens } from '../score/budget.ts';
import type { Arm } from './arm.ts';

/** What a plain script would give: four lists without any judgement. The rest is what judgement adds. */
export const sectionsArm: Arm = {
  name: 'sections',
  about: 'first and last request, changed files, last commands',
  isWhole: false,
  canTell: ({ isReadable }) => isReadable,
  prepare: (cut) => {
    const sections = gatherSections(cut);
    return (budget) =>
      sections
        .map(({ heading, lines, share }) => takeFirstTokens([heading, ...lines].join('\n'), Math.floor(budget * share)))
        .join('\n\n');
  },
};

interface Section {
  heading: string;
  lines: string[];
  /** Of the budget. */
  share: number;
}

function gatherSections({ before }: Cut): Section[] {
  const messages = before.flatMap((row) => readHumanMessage(row) ?? []);
  const { edited, commands } = listTouched(findToolCalls(before));
  return [
    { heading: '## First request', lines: messages.slice(0, 1), share: 0.15 },
    { heading: '## Last request', lines: messages.slice(-1), share: 0.25 },
    { heading: '## Changed files', lines: newestFirst(edited), share: 0.35 },
    { heading: '## Last commands', lines: newestFirst(commands.map(toOneLine)), share: 0.24 },
  ];
}

function newestFirst(items: readonly string[]): string[] {
  return [...new Set(items.toReversed())].map((item) => `- ${item}`);
}

function toOneLine(command: string): string {
  return command.replace(/\s+/g, ' ').trim();
}
