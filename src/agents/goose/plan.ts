import type { PlanItem } from '../../model/event.ts';

const ITEM = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(.)\]\s*)?(\S.*)$/;

/** Goose keeps its plan as one Markdown text. What is no item of a list is a heading or a note. */
export function readPlan(content: string): PlanItem[] {
  return content
    .toWellFormed()
    .split('\n')
    .flatMap((line) => {
      const [, mark, text] = ITEM.exec(line) ?? [];
      return text === undefined ? [] : [{ text: text.trimEnd(), status: readMark(mark) }];
    });
}

function readMark(mark: string | undefined): PlanItem['status'] {
  if (mark === 'x' || mark === 'X' || mark === '✓') return 'completed';
  return mark === '~' || mark === '/' || mark === '>' ? 'in_progress' : 'pending';
}
