import type { PlanItem } from '../../model/event.ts';
import { findFirstLine } from '../../model/text.ts';
import { gradeName } from '../../redact/rules/names.ts';
import { getText, type Row, toRows } from './json.ts';

const MAX_CHARACTERS = 200_000;

/** The text of a prompt or reply, whole unless it is longer than anybody could have read; then no half of a word stays. */
export function toMessageText(text: string): string {
  const isLong = text.length > MAX_CHARACTERS;
  return (isLong ? text.slice(0, MAX_CHARACTERS).replace(/\S{1,4000}$/, '') : text).toWellFormed();
}

const MARK = '# Handover ';

/**
 * What a session's title is made of: the beginning of what was said. It keeps its lines until secrets are taken out, since
 * one that goes over several is not found in the first alone. Null where that is blank.
 */
export function toTitleText(text: string | null): string | null {
  const said = findOwnWords(text)?.slice(0, 2000) ?? '';
  return findFirstLine(said) === '' ? null : said;
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

/** What `handover to` writes before the brief that it starts an agent with. */
export const BRIEF_LEAD = 'Continue the work that this handover of an earlier session describes.';
/** What it writes before the words of the human, after the brief. */
export const GOAL_LEAD = 'What to do now: ';

const HEADING_LINE = /^# Handover \d{8}-\d{6}(?:-[0-9a-z]{1,8})?(?: for [^\n]{1,40}|: [^\n]*)?$/m;
/** All lines of a brief begin with a mark of ours, or are one of its two tags. */
const BRIEF_LINE = /^(?:[#>].*|<\/?handover>|\s*)$/;

/** Splits a prompt into the brief in it, which may be empty, and the human's own words. */
export function splitBrief(text: string): { brief: string; said: string } {
  if (!text.includes(MARK)) return { brief: '', said: text };
  const heading = HEADING_LINE.exec(text);
  if (heading === null) return isOurBrief(text) ? { brief: text, said: '' } : { brief: '', said: text };
  const before = text.slice(0, heading.index).trim();
  const isWrapped = isOurBrief(text) && before !== '';
  const lines = text.slice(heading.index).split('\n');
  const end = lines.findIndex((line) => !BRIEF_LINE.test(line.trimEnd()));
  const brief = (end === -1 ? lines : lines.slice(0, end)).join('\n').trim();
  const after = end === -1 ? '' : lines.slice(end).join('\n').trim();
  if (isWrapped) return { brief: text, said: '' };
  const own = [before.replace(BRIEF_LEAD, '').trim(), after.replace(GOAL_LEAD, '')];
  return { brief, said: own.filter((part) => part !== '').join('\n\n') };
}

/** The words of a prompt that are not a brief of ours; null when there are none. */
export function findOwnWords(text: string | null): string | null {
  return text === null ? null : splitBrief(text).said.trim() || null;
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

/** The blocks of a message, which may also be one plain text. */
export function toBlocks(content: unknown): readonly Row[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : toRows(content);
}

/** The texts of content that is one plain text or a list of blocks. */
export function listTexts(content: unknown): string[] {
  return typeof content === 'string' ? [content] : listBlockTexts(content);
}

/** The texts of a list of blocks; none for anything else. */
export function listBlockTexts(blocks: unknown): string[] {
  return toRows(blocks).flatMap((block) => getText(block, 'text') ?? []);
}

/** The text of content that is one plain text or a list of blocks, some of which may not be text. */
export function joinText(content: unknown): string {
  return listBlockTexts(toBlocks(content).filter(({ type }) => type === 'text')).join('\n');
}

const MAX_TEXTS = 200;
const MAX_DEPTH = 8;

/** All texts in a value, without their keys. */
export function collectTexts(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value.toWellFormed()];
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return [];
  const texts: string[] = [];
  for (const [name, child] of Object.entries(value)) {
    if (texts.length >= MAX_TEXTS) break;
    // The name alone may tell that the value is a secret: without it nobody would know.
    if (typeof child === 'string' && gradeName(name) !== null)
      texts.push(`${name}: ${JSON.stringify(child)}`.toWellFormed());
    else texts.push(...collectTexts(child, depth + 1));
  }
  return texts.slice(0, MAX_TEXTS);
}
