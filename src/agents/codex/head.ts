import { cutToBytes } from '../../model/text.ts';
import { readHead } from '../../platform/external-file.ts';
import type { FoundSession } from '../agent.ts';
import {
  asRow,
  getAnyText,
  getNumber,
  getRow,
  getText,
  parseAny,
  parseRow,
  type Row,
} from '../shared/json.ts';
import { toMs } from '../shared/make-events.ts';
import { findHumanText, joinTexts } from './human-text.ts';
import { readIds } from './paths.ts';

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
