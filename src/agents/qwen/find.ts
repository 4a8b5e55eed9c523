import { cleanLine, cutToBytes } from '../../model/text.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { getRow, getText, parseRow, type Row } from '../json.ts';
import { toMs } from '../make-events.ts';
import { identify, listTranscripts } from './places.ts';
import { isQwenRow, readHumanRow } from './rows.ts';

const HEAD_BYTES = 64 * 1024;

export function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const path of listTranscripts(machine)) {
    const session = inspectFile(path);
    if (session !== null) yield session;
  }
}

export function inspectFile(path: string): FoundSession | null {
  const file = readHead(path, HEAD_BYTES);
  if (file === null) return null;
  const head = readSessionHead(file.bytes.toString('utf8'));
  if (head === null) return null;
  const { sessionId, parent, ...told } = head;
  const identity = identify(path, sessionId);
  return {
    agent: 'qwen',
    path,
    id: identity.id,
    parent: identity.parent ?? parent,
    ...told,
    changedMs: file.changedMs,
    bytes: file.size,
  };
}

interface SessionHead {
  sessionId: string;
  cwd: string | null;
  title: string | null;
  startedMs: number | null;
  parent: string | null;
}

function readSessionHead(text: string): SessionHead | null {
  let head: SessionHead | null = null;
  let prompt: string | null = null;
  for (const line of text.split('\n')) {
    const row: Row | null = parseRow(line) ?? (head === null ? salvage(line) : null);
    if (row === null || !isQwenRow(row)) continue;
    head ??= startHead(row);
    const payload = getRow(row, 'systemPayload');
    head.cwd ??= getText(row, 'cwd')?.toWellFormed() || null;
    if (row.subtype === 'custom_title') head.title = getText(payload, 'customTitle') ?? head.title;
    if (row.subtype === 'parent_session') head.parent = getText(payload, 'parentSessionId');
    if (row.type === 'user' && row.isSidechain !== true) prompt ??= readHumanRow(row);
  }
  if (head === null || head.sessionId === '') return null;
  return { ...head, title: shorten(head.title ?? prompt), parent: head.parent?.toWellFormed() ?? null };
}

function startHead(row: Row): SessionHead {
  const sessionId = getText(row, 'sessionId')?.toWellFormed() ?? '';
  return { sessionId, cwd: null, title: null, startedMs: toMs(row.timestamp), parent: null };
}

function shorten(text: string | null): string | null {
  const title = cutToBytes(cleanLine(text?.slice(0, 2000).trim().split('\n', 1)[0] ?? ''), 120);
  return title === '' ? null : title;
}

const ENVELOPE = /^(\{"uuid":"[^"]{1,100}",.{1,8000}?),"message":\{/;

/** The first row may be longer than what is read: what stands before its message is enough. */
function salvage(line: string): Row | null {
  const start = ENVELOPE.exec(line)?.[1];
  return start === undefined ? null : parseRow(`${start},"message":{"parts":[]}}`);
}
