import { basename, dirname, join, resolve } from 'node:path';
import { cutToBytes } from '../../model/text.ts';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { asRow, getAnyText, getNumber, getRow, getText, parseAny, parseRow, type Row } from '../json.ts';
import { toMs } from '../make-events.ts';
import { findHumanText, joinTexts } from './rows.ts';

const TREES = ['sessions', 'archived_sessions'];
/** Year, month, day. */
const MAX_DEPTH = 3;
const ROLLOUT = /^rollout-.*\.jsonl(?:\.zst)?$/;
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const IDS = new RegExp(`-(${UUID})(?:_(${UUID}))?\\.jsonl(?:\\.zst)?$`, 'i');

export function findCodexHome({ env, home, cwd }: Machine): string | null {
  if (env.CODEX_HOME) return resolve(cwd, env.CODEX_HOME);
  return home === undefined ? null : join(home, '.codex');
}

export function* listRollouts(home: string): Generator<string> {
  for (const tree of TREES) yield* listBelow(join(home, tree), MAX_DEPTH);
}

export function listTranscripts(machine: Machine): Iterable<string> {
  const home = findCodexHome(machine);
  return home === null ? [] : listRollouts(home);
}

function* listBelow(folder: string, depth: number): Generator<string> {
  for (const name of listNames(folder)) {
    if (ROLLOUT.test(name)) yield join(folder, name);
    else if (depth > 0 && /^\d+$/.test(name)) yield* listBelow(join(folder, name), depth - 1);
  }
}

export interface RolloutIds {
  thread: string;
  /** Differs from the thread's once the thread was taken back and went on in a new file. */
  rollout: string;
}

export function readIds(path: string): RolloutIds | null {
  const ids = IDS.exec(basename(path));
  const thread = ids?.[1]?.toLowerCase();
  return thread === undefined ? null : { thread, rollout: ids?.[2]?.toLowerCase() ?? thread };
}

/** The rollout with the given id that lies in the same home as the given one; null when it is gone. */
export function findSibling(path: string, rollout: string): string | null {
  let folder = dirname(path);
  for (let up = 0; up <= MAX_DEPTH && !TREES.includes(basename(folder)); up++) folder = dirname(folder);
  if (!TREES.includes(basename(folder))) return null;
  for (const candidate of listRollouts(dirname(folder))) {
    if (readIds(candidate)?.rollout === rollout.toLowerCase()) return candidate;
  }
  return null;
}

const HEAD_BYTES = 64 * 1024;

/** What a rollout continues: another one, up to a point. */
export interface HistoryBase {
  rollout: string;
  /** Null when only the other end is told. */
  endOffset: number | null;
  endOrdinal: number | null;
}

export interface SessionMeta {
  id: string | null;
  cwd: string | null;
  branch: string | null;
  version: string | null;
  startedMs: number | null;
  parent: string | null;
  base: HistoryBase | null;
}

/** The session that a rollout file holds; null when it is not a rollout. */
export function inspectRollout(path: string): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null) return null;
  const common = { agent: 'codex', path, changedMs: head.changedMs, bytes: head.size } as const;
  if (path.endsWith('.zst')) {
    const ids = readIds(path);
    if (ids === null) return null;
    return { ...common, id: ids.thread, cwd: null, title: null, startedMs: null, parent: null };
  }
  const meta = readMeta(head.bytes);
  const id = meta?.id ?? readIds(path)?.thread;
  if (meta === null || id === undefined) return null;
  const { cwd, startedMs, parent } = meta;
  return { ...common, id, cwd, title: findFirstPrompt(head.bytes), startedMs, parent };
}

/** Reads the first line of a rollout, as far as it is there. */
export function readMeta(bytes: Buffer): SessionMeta | null {
  const end = bytes.indexOf(0x0a);
  const line = bytes.subarray(0, end === -1 ? bytes.length : end).toString('utf8');
  const row = parseRow(line);
  if (row !== null) return row.type === 'session_meta' ? toMeta(getRow(row, 'payload')) : null;
  return /"type":"session_meta"/.test(line.slice(0, 200)) ? toMeta(salvage(line)) : null;
}

/** A first line that is longer than what was read of it: its short fields come before its long ones. */
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
    id: getAnyText(payload, 'id', 'session_id'),
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
  const base = asRow(payload.history_base);
  const rollout = base === null ? null : getAnyText(base, 'thread_id', 'rollout_id');
  if (base === null || rollout === null) return null;
  const endOffset = getNumber(base, 'end_byte_offset');
  return {
    rollout,
    endOffset: endOffset === 0 ? null : endOffset,
    endOrdinal: getNumber(base, 'end_ordinal_exclusive'),
  };
}

const PROMPT_MARKS = ['"type":"user_message"', '"type":"UserMessage"'];
const MAX_TITLE_BYTES = 200;

/** The first thing that the human said, where the head of the file reaches that far. */
function findFirstPrompt(bytes: Buffer): string | null {
  for (const mark of PROMPT_MARKS) {
    const at = bytes.indexOf(mark);
    const end = at === -1 ? -1 : bytes.indexOf(0x0a, at);
    if (end === -1) continue;
    const row = parseRow(bytes.subarray(bytes.lastIndexOf(0x0a, at) + 1, end).toString('utf8'));
    const payload = getRow(row ?? {}, 'payload');
    const said = getText(payload, 'message') ?? joinTexts(getRow(payload, 'item').content);
    const title = cutToBytes((findHumanText(said) ?? '').trim().toWellFormed(), MAX_TITLE_BYTES);
    if (title !== '') return title;
  }
  return null;
}
