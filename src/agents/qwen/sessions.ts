import { basename, dirname, join } from 'node:path';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { HEAD_BYTES, listFiles } from '../shared/files.ts';
import { asRow, getRow, getText, parseRow, type Row, toMs, toRows } from '../shared/json.ts';
import { findOwnWords, toTitleText } from '../shared/message-text.ts';
import { resolveFolder } from './setup.ts';

const SUFFIX = '.jsonl';

export function* listTranscripts(machine: Machine): Generator<string> {
  const root = resolveFolder(machine, machine.env.QWEN_RUNTIME_DIR || machine.env.QWEN_HOME);
  if (root === null) return;
  const projects = join(root, 'projects');
  for (const project of listNames(projects)) {
    const folder = join(projects, project);
    yield* listFiles(join(folder, 'chats'), SUFFIX);
    const subAgents = join(folder, 'subagents');
    for (const session of listNames(subAgents)) yield* listFiles(join(subAgents, session), SUFFIX);
  }
}

export function inspectFile(path: string): FoundSession | null {
  const file = readHead(path, HEAD_BYTES);
  if (file === null) return null;
  const head = readSessionHead(file.bytes.toString('utf8'));
  if (head === null) return null;
  const { sessionId, ...rest } = head;
  const { id, parent } = identify(path, sessionId);
  const { changedMs, size: bytes } = file;
  return { agent: 'qwen', path, ...rest, id, parent: parent ?? rest.parent, changedMs, bytes };
}

const SUB_AGENT_FILE = /^agent-(.+)$/;

export function isSubAgentFile(path: string): boolean {
  return SUB_AGENT_FILE.test(basename(path, SUFFIX));
}

/** A sub-agent's file has its id in the name, and is in a folder with the id of the session that started it. */
function identify(path: string, sessionId: string): { id: string; parent: string | null } {
  const agentId = SUB_AGENT_FILE.exec(basename(path, SUFFIX))?.[1];
  if (agentId === undefined) return { id: sessionId, parent: null };
  const folder = dirname(path);
  return { id: agentId, parent: basename(dirname(folder)) === 'subagents' ? basename(folder) : sessionId };
}

type SessionHead = Pick<FoundSession, 'cwd' | 'title' | 'startedMs' | 'parent'> & { sessionId: string };

function readSessionHead(text: string): SessionHead | null {
  let head: SessionHead | null = null;
  let prompt: string | null = null;
  for (const line of text.split('\n')) {
    const row: Row | null = parseRow(line) ?? (head === null ? salvage(line) : null);
    if (row === null || !isQwenRow(row)) continue;
    const sessionId: string = getText(row, 'sessionId')?.toWellFormed() ?? '';
    head ??= { sessionId, cwd: null, title: null, startedMs: toMs(row.timestamp), parent: null };
    const payload = getRow(row, 'systemPayload');
    head.cwd ??= getText(row, 'cwd')?.toWellFormed() || null;
    if (row.subtype === 'custom_title') head.title = getText(payload, 'customTitle') ?? head.title;
    if (row.subtype === 'parent_session') head.parent = getText(payload, 'parentSessionId');
    if (row.type === 'user' && row.isSidechain !== true) prompt ??= findOwnWords(readHuman(row));
  }
  if (head === null || head.sessionId === '') return null;
  return { ...head, title: toTitleText(head.title ?? prompt), parent: head.parent?.toWellFormed() ?? null };
}

/** Claude Code's rows look much the same, but have their text in `content` and say whether they are a sidechain. */
function isQwenRow(row: Row): boolean {
  if (typeof row.uuid !== 'string' || typeof row.sessionId !== 'string' || 'userType' in row) return false;
  if (row.type === 'system') return asRow(row.systemPayload) !== null;
  return Array.isArray(getRow(row, 'message').parts);
}

const ENVELOPE = /^(\{"uuid":"[^"]{1,100}",.{1,8000}?),"(?:message|systemPayload)":\{/;

/** The first row may be longer than the head that is read: what comes before its message is enough. */
function salvage(line: string): Row | null {
  const start = ENVELOPE.exec(line)?.[1];
  return start === undefined ? null : parseRow(`${start},"message":{"parts":[]},"systemPayload":{}}`);
}

/** The texts of a message, without what the model thought. */
export function readTexts(row: Row): string[] {
  const parts = toRows(getRow(row, 'message').parts);
  return parts.flatMap((part) => (part.thought === true ? [] : (getText(part, 'text') ?? [])));
}

const HOOK_CONTEXT = /^\s*<qwen:[a-z-]{1,60}>/;
const MID_TURN = /^\s*\[User message received during tool execution\]: /;
const BARE_COMMAND = /^\/[\w:.-]+$/;

/** What the human said in a row of type `user`, before named files and added texts; null when nobody spoke. */
export function readHuman(row: Row): string | null {
  const { provenance, subtype } = row;
  if (provenance !== undefined && provenance !== 'real_user') return null;
  if (subtype !== undefined && subtype !== 'mid_turn_user_message') return null;
  const shown = getText(getRow(row, 'systemPayload'), 'displayText');
  const [first = ''] = readTexts(row).filter((text) => !HOOK_CONTEXT.test(text));
  const text = (shown || first.replace(MID_TURN, '')).trim();
  return text === '' || BARE_COMMAND.test(text) ? null : text;
}
