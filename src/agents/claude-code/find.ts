import { basename, dirname } from 'node:path';
import { cleanLine, cutToBytes } from '../../model/text.ts';
import { type FileHead, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { getText, parseAny, parseRow, type Row } from '../shared/json.ts';
import { toMs } from '../shared/make-events.ts';
import { isSessionId, listTranscripts } from './paths.ts';
import { readHumanRow } from './prompts.ts';
import { isConversationRow, isNeedlessRow } from './rows.ts';

const HEAD_BYTES = 64 * 1024;
/** A row says whose it is behind its message, and the first message may be long. */
const LONG_HEAD_BYTES = 16 * 1024 * 1024;

export function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const path of listTranscripts(machine)) {
    const session = inspectFile(path);
    if (session !== null) yield session;
  }
}

export function inspectFile(path: string): FoundSession | null {
  const file = readHead(path, HEAD_BYTES);
  if (file === null) return null;
  const session = describe(path, file);
  if (session !== null || !endsInRow(file)) return session;
  const more = readHead(path, LONG_HEAD_BYTES);
  return more === null ? null : describe(path, more);
}

const ROW = Buffer.from('{"parentUuid":');

/** Whether the head ends within a row of a conversation. */
function endsInRow({ bytes, size }: FileHead): boolean {
  const start = bytes.lastIndexOf(0x0a) + 1;
  return size > bytes.length && bytes.subarray(start, start + ROW.length).equals(ROW);
}

function describe(path: string, file: FileHead): FoundSession | null {
  const head = readSessionHead(file.bytes);
  if (head.sessionId === null) return null;
  return {
    agent: 'claude-code',
    path,
    ...identify(path, head.sessionId),
    cwd: head.cwd,
    title: head.title,
    startedMs: head.startedMs,
    changedMs: file.changedMs,
    bytes: file.size,
  };
}

const SUB_AGENT_NAME = /^agent-(.+)$/;

/** A sub-agent's rows carry the id of the session that started it; so does, in newer versions, a folder above it. */
function identify(path: string, sessionId: string): { id: string; parent: string | null } {
  const name = basename(path, '.jsonl');
  const agentId = SUB_AGENT_NAME.exec(name)?.[1];
  if (agentId === undefined) return { id: isSessionId(name) ? name : sessionId, parent: null };
  return { id: agentId, parent: findSessionFolder(dirname(path)) ?? sessionId };
}

function findSessionFolder(folder: string): string | null {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    if (basename(path) === 'subagents') return basename(dirname(path));
  }
  return null;
}

interface SessionHead {
  sessionId: string | null;
  cwd: string | null;
  startedMs: number | null;
  title: string | null;
}

function readSessionHead(bytes: Buffer): SessionHead {
  const head: SessionHead = { sessionId: null, cwd: null, startedMs: null, title: null };
  let prompt: string | null = null;
  for (const line of splitLines(bytes)) {
    head.title = readTitle(line) ?? head.title;
    const isComplete = head.sessionId !== null && head.cwd !== null && prompt !== null;
    if (isComplete || isNeedlessRow(line)) continue;
    const row = parseRow(line.toString('utf8')) ?? salvageRow(line);
    head.startedMs ??= toMs(row.timestamp);
    if (!isConversationRow(row)) continue;
    head.sessionId ??= toId(row);
    head.cwd ??= getText(row, 'cwd')?.toWellFormed() || null;
    prompt ??= row.type === 'user' && row.isSidechain === false ? readHumanRow(row) : null;
  }
  head.title ??= prompt === null ? null : shorten(prompt);
  return head;
}

function* splitLines(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    yield bytes.subarray(start, end === -1 ? undefined : end);
    if (end === -1) return;
    start = end + 1;
  }
}

function toId(row: Row): string | null {
  const id = getText(row, 'sessionId');
  return id === '' || id === null ? null : id.toWellFormed();
}

const TITLE_ROW = /^\{"type":"(?:custom-title|ai-title|summary)"/;

/** The newest title in the head of the file; one that a human gave stands in the same kinds of rows. */
function readTitle(line: Buffer): string | null {
  if (!TITLE_ROW.test(line.toString('latin1', 0, 30))) return null;
  const row = parseRow(line.toString('utf8'));
  if (row === null) return null;
  const title = getText(row, 'customTitle') ?? getText(row, 'aiTitle') ?? getText(row, 'summary');
  return title === null ? null : shorten(title);
}

/** What Claude Code says in the human's place when a plan is carried out in a session of its own. */
const PLAN_PROMPT = /^Implement the following plan:\s+#*\s*/;

function shorten(text: string): string | null {
  const [line = ''] = text.slice(0, 2000).trim().replace(PLAN_PROMPT, '').split('\n', 1);
  const title = cutToBytes(cleanLine(line), 120);
  return title === '' ? null : title;
}

const SIMPLE_FIELD = /"(cwd|sessionId|timestamp|isSidechain)":("(?:[^"\\]|\\.){0,4096}"|true|false)/g;

/** What can be told of a row that the head ends within. */
function salvageRow(line: Buffer): Row {
  const found = new Map<string, unknown>();
  for (const [, key = '', value = ''] of line.toString('utf8').matchAll(SIMPLE_FIELD)) {
    if (!found.has(key)) found.set(key, parseAny(value));
  }
  return Object.fromEntries(found);
}
