import { asRow, getText, type Row } from '../shared/json.ts';

/** The texts of a message: its content is a text, one part, or a list of parts. */
export function readTexts(content: unknown): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  const parts = Array.isArray(content) ? content : [content];
  return parts.flatMap((part) => {
    if (typeof part === 'string') return part;
    const row = asRow(part) ?? {};
    return row.thought === true ? [] : (getText(row, 'text') ?? []);
  });
}

const NOT_HUMAN = /^\s*(?:<session_context>|<state_snapshot>|<system_|I ran the following shell command:\n)/;
const REFERENCED = /^\s*--- Content from referenced files ---/;
const BARE_COMMAND = /^\/[\w:.-]+$/;
const OPEN = '<hook_context>';
const CLOSE = '</hook_context>';

/** What the human said in a message of type `user`, without references to files, and what hooks put before it. */
export function readHuman(message: Row): { text: string | null; added: string[] } {
  const added = readTexts(message.content).flatMap((text) => splitHooks(text).added);
  const texts: string[] = [];
  for (const text of readTexts(message.displayContent ?? message.content)) {
    if (REFERENCED.test(text)) break;
    texts.push(splitHooks(text).rest);
  }
  const text = texts.join('').trim();
  const isSaid = text !== '' && !NOT_HUMAN.test(text) && !BARE_COMMAND.test(text) && !isSummary(text);
  return { text: isSaid ? text : null, added };
}

function splitHooks(text: string): { rest: string; added: string[] } {
  const added: string[] = [];
  let rest = text;
  while (rest.trimStart().startsWith(OPEN)) {
    const start = rest.indexOf(OPEN);
    const end = rest.indexOf(CLOSE, start);
    added.push(rest.slice(start + OPEN.length, end === -1 ? undefined : end));
    rest = end === -1 ? '' : rest.slice(end + CLOSE.length);
  }
  return { rest, added };
}

/** What is left of the conversation after a compression. */
export function isSummary(text: string): boolean {
  return text.includes('<state_snapshot>') && text.includes('</state_snapshot>');
}

/** The model's side of a compression. */
export const ACKNOWLEDGEMENT = 'Got it. Thanks for the additional context!';
