import type { PlanItem } from '../model/event.ts';
import { toMessageText } from './message-text.ts';

const BOX = /^\s{0,20}[-*] \[( |x|X|~|\/|-)\] (.{1,2000})$/gm;

/** A plan kept as a list of boxes to tick. */
export function readChecklist(text: string): PlanItem[] {
  return [...text.matchAll(BOX)].map(([, box = ' ', item = '']) => ({
    text: toMessageText(item.trim()),
    status: box === ' ' ? 'pending' : /x/i.test(box) ? 'completed' : 'in_progress',
  }));
}
