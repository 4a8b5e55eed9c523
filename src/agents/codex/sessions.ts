import { basename, dirname, join } from 'node:path';
import { cutToBytes } from '../../model/text.ts';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession, RecallSession } from '../agent.ts';
import { findAgentHome, HEAD_BYTES, inspectAll } from '../shared/files.ts';
import { asRow, getNumber, getRow, getText, parseAny, parseRow, type Row, toMs } from '../shared/json.ts';
import { findOwnWords, listTexts } from '../shared/message-text.ts';
import { findHumanText } from './rows.ts';

const TREES = ['sessions', 'archived_sessions'];
/** Year, month, day. */
const MAX_DEPTH = 3;
const ROLLOUT = /^rollout-.*\.jsonl(?:\.zst)?$/;
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const IDS = new RegExp(`-(${UUID})(?:_(${UUID}))?\\.jsonl(?:\\.zst)?$`, 'i');

export function listTranscripts(machine: Machine): Iterable<string> {
  const home = findAgentHome('codex', machine);
  return home === null ? [] : listRollouts(home);
}

function* listRollouts(home: string): Generator<string> {
  for (const tree of TREES) yield* listBelow(join(home, tree), MAX_DEPTH);
}

function* listBelow(folder: string, depth: number): Generator<string> {
  for (const name of listNames(folder)) {
    if (ROLLOUT.test(name)) yield join(folder, name);
    else if (depth > 0 && /^\d+$/.test(name)) yield* listBelow(join(folder, name), depth - 1);
  }
}

/** The ids in a file name. The rollout's differs from the thread's once a thread was rewound and has a new file. */
function readIds(path: string): { thread: string; rollout: string } | null {
  const ids = IDS.exec(basename(path));
  const thread = ids?.[1]?.toLowerCase();
  return thread === undefined ? null : { thread, rollout: ids?.[2]?.toLowerCase() ?? thread };
}

/** The rollout with the given id in the same home; null when there is none. */
export function findSibling(path: string, rollout: string): string | null {
  let folder = dirname(path);
  for (let up = 0; up <= MAX_DEPTH && !TREES.includes(basename(folder)); up++) folder = dirname(folder);
  if (!TREES.includes(basename(folder))) return null;
  for (const candidate of listRollouts(dirname(folder))) {
    if (readIds(candidate)?.rollout === rollout.toLowerCase()) return candidate;
  }
  return null;
}

/** A rewound session continues in another file under the same id: the file that changed last is the session. */
export function findSessions(machine: Machine, recall?: RecallSession): Iterable<FoundSession> {
  const home = findAgentHome('codex', machine);
  const found = new Map<string, FoundSession>();
  if (home === null) return [];
  const names = readNames(home);
  for (const session of inspectAll(listRollouts(home), inspectFile, recall)) {
    const { id, path, changedMs } = session;
    const other = found.get(id);
    const isLater = changedMs === other?.changedMs ? path > other.path : changedMs > (other?.changedMs ?? -1);
    if (other === undefined || isLater) found.set(id, { ...session, title: names.get(id) ?? session.title });
  }
  return found.values();
}

const MAX_NAMES_BYTES = 4 * 1024 * 1024;

/** The names that the human gave to sessions; the last one counts. */
function readNames(home: string): Map<string, string> {
  const names = new Map<string, string>();
  const file = readHead(join(home, 'session_index.jsonl'), MAX_NAMES_BYTES);
  for (const line of file?.bytes.toString('utf8').split('\n') ?? []) {
    const row = parseRow(line) ?? {};
    const id = getText(row, 'id');
    const name = getText(row, 'thread_name');
    if (id !== null && name !== null) names.set(id, name.toWellFormed());
  }
  return names;
}

/** The session in a rollout file; null for other files. */
export function inspectFile(path: string): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null) return null;
  const common = { agent: 'codex', path, changedMs: head.changedMs, bytes: head.size } as const;
  const thread = readIds(path)?.thread;
  if (path.endsWith('.zst')) {
    if (thread === undefined) return null;
    return { ...common, id: thread, cwd: null, title: null, startedMs: null, parent: null };
  }
  const meta = readMeta(head.bytes);
  const id = meta?.id ?? thread;
  if (meta === null || id === undefined) return null;
  const { cwd, startedMs, parent } = meta;
  return { ...common, id, cwd, title: findFirstPrompt(head.bytes), startedMs, parent };
}

/** The rollout that another one continues, and where it ends; an end that is not known is null. */
export interface HistoryBase {
  rollout: string;
  endOffset: number | null;
  endOrdinal: number | null;
}

interface SessionMeta {
  id: string | null;
  cwd: string | null;
  branch: string | null;
  version: string | null;
  startedMs: number | null;
  parent: string | null;
  base: HistoryBase | null;
}

/** Reads the first line of a rollout, which may be cut off. */
export function readMeta(bytes: Buffer): SessionMeta | null {
  const end = bytes.indexOf(0x0a);
  const line = bytes.subarray(0, end === -1 ? bytes.length : end).toString('utf8');
  const row = parseRow(line);
  if (row !== null) return row.type === 'session_meta' ? toMeta(getRow(row, 'payload')) : null;
  return /"type":"session_meta"/.test(line.slice(0, 200)) ? toMeta(salvage(line)) : null;
}

/** The short fields of a first line that was cut off: they come before the long ones. */
function salvage(line: string): Row {
  const payload = line.slice(line.indexOf('"payload":'));
  const fields = ['id', 'session_id', 'timestamp', 'cwd', 'cli_version', 'parent_thread_id'].map((name) => {
    const value = new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.){0,4096}")`).exec(payload)?.[1];
    return [name, value === undefined ? null : parseAny(value)] as const;
  });
  return Object.fromEntries(fields);
}

export function toMeta(payload: Row): SessionMeta {
  return {
    id: getText(payload, 'id', 'session_id'),
    cwd: getText(payload, 'cwd'),
    branch: getText(getRow(payload, 'git'), 'branch'),
    version: getText(payload, 'cli_version'),
    startedMs: toMs(payload.timestamp),
    parent: findParent(payload),
    base: findBase(payload),
  };
}

function findParent(payload: Row): string | null {
  const named = getText(payload, 'parent_thread_id');
  if (named !== null) return named;
  const source = asRow(payload.source);
  const subagent = source?.subagent ?? source?.sub_agent;
  if (subagent === undefined || subagent === null) return null;
  const spawn = getRow(asRow(subagent) ?? {}, 'thread_spawn');
  const root = getText(payload, 'session_id');
  return getText(spawn, 'parent_thread_id') ?? (root === getText(payload, 'id') ? null : root) ?? 'unknown';
}

function findBase(payload: Row): HistoryBase | null {
  const base = getRow(payload, 'history_base');
  const rollout = getText(base, 'thread_id', 'rollout_id');
  if (rollout === null) return null;
  const endOffset = getNumber(base, 'end_byte_offset') || null;
  return { rollout, endOffset, endOrdinal: getNumber(base, 'end_ordinal_exclusive') };
}

const PROMPT_MARKS = ['"type":"user_message"', '"type":"UserMessage"'];
const MAX_TITLE_BYTES = 2000;

/** The first prompt, where the head of the file reaches that far. */
function findFirstPrompt(bytes: Buffer): string | null {
  for (const mark of PROMPT_MARKS) {
    const at = bytes.indexOf(mark);
    const end = at === -1 ? -1 : bytes.indexOf(0x0a, at);
    if (end === -1) continue;
    const row = parseRow(bytes.subarray(bytes.lastIndexOf(0x0a, at) + 1, end).toString('utf8'));
    const payload = getRow(row ?? {}, 'payload');
    const said = getText(payload, 'message') ?? listTexts(getRow(payload, 'item').content).join('');
    const title = cutToBytes((findOwnWords(findHumanText(said)) ?? '').toWellFormed(), MAX_TITLE_BYTES);
    if (title !== '') return title;
  }
  return null;
}
