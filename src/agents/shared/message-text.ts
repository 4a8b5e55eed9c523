import type { PlanItem } from '../../model/event.ts';
import { cleanLine, cutToBytes } from '../../model/text.ts';

const MAX_CHARACTERS = 200_000;

/** The text of a prompt or reply, whole unless it is longer than anybody could have read. */
export function toMessageText(text: string): string {
  return text.slice(0, MAX_CHARACTERS).toWellFormed();
}

const MARK = '# Handover ';
const MAX_TITLE_BYTES = 120;

/** A session's title: the first line of a text, shortened. Null for a blank one. */
export function toTitle(text: string | null): string | null {
  const [line = ''] = text?.slice(0, 2000).trim().split('\n', 1) ?? [];
  return cutToBytes(cleanLine(line), MAX_TITLE_BYTES) || null;
}

const HEADING = /^# Handover \d{8}-\d{6}/;
const WRAPPER = /^(?:<|&lt;)[A-Za-z!][^<>\n]{0,300}?(?:>|&gt;)\s*/;
/** Written by an agent above a text that it cut. */
const CUT_NOTICE = /^Warning: truncated output[^\n]{0,200}\n\s*/;
const MAX_WRAPPERS = 5;

/** Whether a text is a brief that this product put into the session, bare or in what an agent wraps such text in. */
export function isOurBrief(text: string): boolean {
  const head = text.slice(0, 4000);
  if (!head.includes(MARK)) return false;
  let rest = head.trimStart();
  for (let i = 0; i < MAX_WRAPPERS; i++) {
    const wrapper = WRAPPER.exec(rest) ?? CUT_NOTICE.exec(rest);
    if (wrapper === null) break;
    rest = rest.slice(wrapper[0].length);
  }
  return HEADING.test(rest);
}

/** Whether the bytes of a row may hold such a brief: a cheap test before the row is parsed. */
export function mayHoldBrief(bytes: Buffer): boolean {
  return bytes.includes(MARK);
}

/** Removes what the agent itself inserted into prompts and results. */
export function dropReminders(text: string): string {
  return dropElements(text, 'system-reminder');
}

/** Removes the elements with a tag, and all that is in them. An unclosed one stays. */
export function dropElements(text: string, tag: string): string {
  let kept = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(`<${tag}>`, at);
    const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start);
    if (end === -1) return kept + text.slice(at);
    kept += text.slice(at, start);
    at = end + tag.length + 3;
  }
}

const BOX = /^\s{0,20}[-*] \[( |x|X|~|\/|-)\] (.{1,2000})$/gm;

/** A plan that is a Markdown list of check boxes. */
export function readChecklist(text: string): PlanItem[] {
  return [...text.matchAll(BOX)].map(([, box = ' ', item = '']) => ({
    text: toMessageText(item.trim()),
    status: box === ' ' ? 'pending' : /x/i.test(box) ? 'completed' : 'in_progress',
  }));
}
