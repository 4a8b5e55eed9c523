import { isOurBrief } from '../../agents/shared/message-text.ts';
import { type Action, type Event, type FileEdit, listActionTexts } from '../../model/event.ts';
import { cleanLine, cleanText } from '../../model/text.ts';

export const SPEAKERS = ['human', 'agent', 'tool'] as const;
export type Speaker = (typeof SPEAKERS)[number];

/** A piece of what was said or done in a session, short enough to be shown and ranked. */
export interface Passage {
  /** In the transcript, from 1; the number of the entry where there are no lines. */
  line: number;
  /** The byte offset of that line; null where there are no lines. */
  offset: number | null;
  at: number | null;
  speaker: Speaker;
  /** Of a call: the tool that the agent called. */
  tool?: string;
  text: string;
}

const MAX_PASSAGE = 2000;
/** How much of each end of a tool's output is kept: the beginning shows what it was, the end how it went. */
const OUTPUT_END = 1500;
const MAX_EDIT = 1000;
/** Calls without a result after so many others will get none. */
const MAX_IGNORED = 256;

/** Makes passages of redacted events. Left out is what this program put into a session or returned to it. */
export class PassageMaker {
  /** The calls whose results are left out. Plain data, for checkpoints. */
  readonly unheard: Set<string>;

  constructor(unheard: Set<string> = new Set()) {
    this.unheard = unheard;
  }

  make(event: Event): Passage[] {
    const text = cleanText(this.#describe(event)).trim();
    const at = event.at === null ? null : Date.parse(event.at);
    const called = event.type === 'call' ? { tool: cleanLine(event.tool) } : {};
    const place = { line: event.ref.line, offset: null, at, speaker: nameSpeaker(event), ...called };
    return splitText(text, MAX_PASSAGE).map((piece) => ({ ...place, text: piece }));
  }

  #describe(event: Event): string {
    switch (event.type) {
      case 'prompt':
      case 'reply':
      case 'limit':
        return event.text;
      case 'thought':
      case 'injected':
      case 'interrupted':
        return '';
      case 'call':
        if (isIgnored(event.tool, event.action)) this.#leaveOut(event.call);
        return describeAction(event.tool, event.action);
      case 'result':
        if (this.unheard.delete(event.call) || isOurBrief(event.output)) return '';
        return cutMiddle(event.output.replace(LINE_NUMBER, ''), OUTPUT_END);
      case 'plan':
        return event.items.map(({ text, status }) => `[${status}] ${text}`).join('\n');
      case 'compaction':
        return event.summary ?? '';
    }
  }

  #leaveOut(call: string): void {
    this.unheard.add(call);
    for (const oldest of this.unheard) {
      if (this.unheard.size <= MAX_IGNORED) break;
      this.unheard.delete(oldest);
    }
  }
}

function nameSpeaker(event: Event): Speaker {
  if (event.type === 'prompt') return 'human';
  return event.type === 'result' || event.type === 'limit' ? 'tool' : 'agent';
}

/** That a tool puts before each line of a file. */
const LINE_NUMBER = /^ *\d+→/gm;

const OUR_COMMAND = /(?:^|[\s;&|/])(?:agent-)?handover(?:\.cjs)?\s/;
const OUR_TOOL = /(?:^|_)(?:agent[-_])?handover_/;

function isIgnored(tool: string, action: Action): boolean {
  return action.kind === 'command' ? OUR_COMMAND.test(action.command) : OUR_TOOL.test(tool);
}

function describeAction(tool: string, action: Action): string {
  if (action.kind === 'edit') return action.edits.map(describeEdit).join('\n');
  if (action.kind !== 'other') return listActionTexts(action).join(' ');
  return [tool, ...action.texts.map((text) => cutMiddle(text, MAX_EDIT / 2))].join(' ');
}

function describeEdit({ path, to, after }: FileEdit): string {
  const moved = to === undefined ? path : `${path} -> ${to}`;
  return after === '' ? moved : `${moved}\n${cutMiddle(after, MAX_EDIT / 2)}`;
}

function cutMiddle(text: string, end: number): string {
  return text.length <= 2 * end ? text : `${text.slice(0, end)}\n…\n${text.slice(-end)}`;
}

/** Pieces of at most so many characters, cut at the end of a line or a word where one is near. */
export function splitText(text: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const end = findCut(rest, most);
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  pieces.push(rest);
  return pieces.filter((piece) => piece !== '');
}

function findCut(text: string, most: number): number {
  const least = most / 2;
  for (const mark of ['\n', ' ']) {
    const at = text.lastIndexOf(mark, most);
    if (at > least) return at;
  }
  const code = text.charCodeAt(most - 1);
  return code >= 0xd800 && code < 0xdc00 ? most - 1 : most;
}
