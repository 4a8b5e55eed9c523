import { readHead } from '../../platform/external-file.ts';
import type { FoundSession, Reading } from '../agent.ts';
import { asRow, EMPTY_ROW, getNumber, getRow, getRows, getText, parseRow, type Row } from '../json.ts';
import { readTitle } from './database.ts';
import { type Conversation, type Message, readRevert } from './messages.ts';

const MAX_EXPORT_BYTES = 256 * 1024 * 1024;
const OPENING = /^\s*\{\s*"info"\s*:/;

/** What `opencode export` wrote, or null for a file that is something else. */
export function readExport(path: string): { content: Row; bytes: number; changedMs: number } | null {
  const head = readHead(path, 1024);
  if (head === null || head.size > MAX_EXPORT_BYTES || !OPENING.test(head.bytes.toString('latin1')))
    return null;
  const whole = readHead(path, MAX_EXPORT_BYTES);
  const content = whole === null ? null : parseRow(whole.bytes.toString('utf8'));
  if (whole === null || content === null || !Array.isArray(content.messages)) return null;
  return { content, bytes: whole.size, changedMs: whole.changedMs };
}

export function describeExport(path: string): FoundSession | null {
  const found = readExport(path);
  const info = asRow(found?.content.info) ?? EMPTY_ROW;
  const id = getText(info, 'id');
  if (found === null || id === null) return null;
  const time = getRow(info, 'time');
  return {
    agent: 'opencode',
    id,
    path,
    cwd: getText(info, 'directory'),
    title: readTitle(getText(info, 'title')),
    startedMs: getNumber(time, 'created'),
    changedMs: getNumber(time, 'updated') ?? found.changedMs,
    bytes: found.bytes,
    parent: getText(info, 'parentID'),
  };
}

export function toConversation(content: Row, reading: Reading): Conversation {
  const info = getRow(content, 'info');
  reading.agentVersion = getText(info, 'version');
  return {
    cwd: getText(info, 'directory'),
    revert: readRevert(asRow(info.revert)),
    messages: getRows(content, 'messages').map(toMessage),
  };
}

function toMessage(row: Row): Message {
  const info = getRow(row, 'info');
  const parts = getRows(row, 'parts').map((data) => ({ id: getText(data, 'id') ?? '', data }));
  return { id: getText(info, 'id') ?? '', info, parts };
}
