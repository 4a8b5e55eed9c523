import { basename, dirname, join } from 'node:path';
import { type FileHead, listNames, readHead } from '../../platform/external-file.ts';
import { readLines } from '../../platform/lines.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { findAgentHome, HEAD_BYTES } from '../shared/files.ts';
import { getText, parseAny, parseRow, type Row, toMs } from '../shared/json.ts';
import { findOwnWords, toTitleText } from '../shared/message-text.ts';
import { readSaid } from './prompts.ts';
import { canSkipRow, isConversationRow } from './rows.ts';

const SUFFIX = '.jsonl';
const MAX_SUB_AGENT_DEPTH = 3;

/** Names of project folders are ignored: they are not unique, and can be set to anything. */
export function* listTranscripts(machine: Machine): Generator<string> {
  const home = findAgentHome('claude-code', machine);
  if (home === null) return;
  const projects = join(home, 'projects');
  for (const project of listNames(projects)) {
    for (const name of listNames(join(projects, project))) {
      const path = join(projects, project, name);
      if (name.endsWith(SUFFIX)) yield path;
      else if (isSessionId(name)) yield* listSubAgents(join(path, 'subagents'), MAX_SUB_AGENT_DEPTH);
    }
  }
}

function* listSubAgents(folder: string, depth: number): Generator<string> {
  for (const name of listNames(folder)) {
    if (name.endsWith(SUFFIX)) yield join(folder, name);
    else if (depth > 0 && !name.includes('.')) yield* listSubAgents(join(folder, name), depth - 1);
  }
}

function isSessionId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** How much of a file is searched for its first prompt: rows may be long, and others come before it. */
const LONG_HEAD_BYTES = 64 * 1024 * 1024;

export function inspectFile(path: string): FoundSession | null {
  const file = readHead(path, HEAD_BYTES);
  if (file === null) return null;
  const session = describeSession(path, file, splitLines(file.bytes));
  if (session !== null || file.size <= file.bytes.length || !startsLikeTranscript(file.bytes)) return session;
  return describeSession(path, file, readLongHead(path));
}

const ROW_START = /^(?:\xef\xbb\xbf)?\{"(?:parentUuid":|type":"(?!session")[a-z][a-z-]{1,40}")/;

/** Whether the first row may be one of Claude Code's, also of a kind that is not known here. */
function startsLikeTranscript(bytes: Buffer): boolean {
  return ROW_START.test(bytes.toString('latin1', 0, 100));
}

function* readLongHead(path: string): Generator<Buffer> {
  for (const { bytes } of readLines(path, { until: LONG_HEAD_BYTES })) yield bytes;
}

function describeSession(path: string, { changedMs, size }: FileHead, lines: Iterable<Buffer>): FoundSession | null {
  let sessionId: string | null = null;
  let cwd: string | null = null;
  let startedMs: number | null = null;
  let title: string | null = null;
  let prompt: string | null = null;
  let read = 0;
  for (const line of lines) {
    read += line.length;
    const isComplete: boolean = sessionId !== null && cwd !== null && prompt !== null;
    if (isComplete && read > HEAD_BYTES) break;
    title = readTitle(line) ?? title;
    if (isComplete || canSkipRow(line)) continue;
    const row = parseRow(line.toString('utf8')) ?? salvageRow(line);
    startedMs ??= toMs(row.timestamp);
    if (!isConversationRow(row)) continue;
    sessionId ??= getText(row, 'sessionId')?.toWellFormed() || null;
    cwd ??= getText(row, 'cwd')?.toWellFormed() || null;
    prompt ??= row.type === 'user' && row.isSidechain === false ? findFirstWords(row) : null;
  }
  if (sessionId === null) return null;
  title ??= makeTitle(prompt);
  const ids = findIds(path, sessionId);
  return { agent: 'claude-code', path, ...ids, cwd, title, startedMs, changedMs, bytes: size };
}

function findFirstWords(row: Row): string | null {
  for (const { text } of readSaid(row)) {
    const own = findOwnWords(text);
    if (own !== null) return own;
  }
  return null;
}

/** A sub-agent's rows carry the id of the session that started it; newer versions also name a folder after that. */
function findIds(path: string, sessionId: string): { id: string; parent: string | null } {
  const name = basename(path, SUFFIX);
  const agentId = /^agent-(.+)$/.exec(name)?.[1];
  if (agentId === undefined) return { id: isSessionId(name) ? name : sessionId, parent: null };
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === 'subagents') return { id: agentId, parent: basename(dirname(folder)) };
  }
  return { id: agentId, parent: sessionId };
}

function* splitLines(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    yield bytes.subarray(start, end === -1 ? undefined : end);
    if (end === -1) return;
    start = end + 1;
  }
}

const TITLE_ROW = /^\{"type":"(?:custom-title|ai-title|summary)"/;

function readTitle(line: Buffer): string | null {
  if (!TITLE_ROW.test(line.toString('latin1', 0, 30))) return null;
  return makeTitle(getText(parseRow(line.toString('utf8')) ?? {}, 'customTitle', 'aiTitle', 'summary'));
}

/** Written by Claude Code as the prompt when a plan is carried out in a session of its own. */
const PLAN_PROMPT = /^Implement the following plan:\s+#*\s*/;

function makeTitle(text: string | null): string | null {
  return toTitleText(text?.slice(0, 2000).trim().replace(PLAN_PROMPT, '') ?? null);
}

const SIMPLE_FIELD = /"(cwd|sessionId|timestamp|isSidechain)":("(?:[^"\\]|\\.){0,4096}"|true|false)/g;

/** The short fields of a row that the head cuts off. */
function salvageRow(line: Buffer): Row {
  const found = new Map<string, unknown>();
  for (const [, key = '', value = ''] of line.toString('utf8').matchAll(SIMPLE_FIELD)) {
    if (!found.has(key)) found.set(key, parseAny(value));
  }
  return Object.fromEntries(found);
}
