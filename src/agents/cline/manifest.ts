import { basename, dirname, join } from 'node:path';
import { cutToBytes } from '../../model/text.ts';
import { readHead } from '../../platform/external-file.ts';
import type { FoundSession } from '../agent.ts';
import { asRow, getAnyText, getRow, getText, parseAny, parseRow, type Row } from '../shared/json.ts';
import { toMs } from '../shared/make-events.ts';
import { MESSAGES } from './places.ts';
import { readHumanText } from './user-text.ts';

const HEAD_BYTES = 64 * 1024;
const MAX_TITLE_BYTES = 200;

/** The session whose messages are in the given file; null when they are not Cline's. */
export function inspectMessages(path: string): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null || !/^\s*\{/.test(head.bytes.toString('latin1', 0, 64))) return null;
  const id = basename(path).slice(0, -MESSAGES.length);
  const manifest = readManifest(path);
  const top = salvage(head.bytes.toString('utf8'));
  if (Object.keys(manifest).length === 0 && getText(top, 'sessionId') === null) return null;
  const metadata = getRow(manifest, 'metadata');
  const title = getText(metadata, 'title') ?? readHumanText(getText(manifest, 'prompt') ?? '') ?? '';
  return {
    agent: 'cline',
    id: getText(manifest, 'session_id') ?? id,
    path,
    cwd: getAnyText(manifest, 'cwd', 'workspace_root'),
    title: shorten(title),
    startedMs: toMs(manifest.started_at),
    changedMs: head.changedMs,
    bytes: head.size,
    parent: findParent(path, id, manifest),
  };
}

/** The mark of the cut stays: by it a secret is known that was cut through. */
function shorten(title: string): string | null {
  return cutToBytes(title.trim().toWellFormed(), MAX_TITLE_BYTES) || null;
}

/** Sub-agents have their own file in the folder of the session that started them. */
function findParent(path: string, id: string, manifest: Row): string | null {
  const named = getAnyText(manifest, 'parent_session_id', 'parentSessionId');
  if (named !== null) return named;
  const folder = basename(dirname(path));
  if (folder !== id && id.startsWith(folder)) return folder;
  const [root = '', child] = id.split('__');
  return child === undefined ? null : root;
}

export function findManifest(path: string): string {
  return `${path.slice(0, -MESSAGES.length)}.json`;
}

export function findCompaction(path: string): string {
  return `${path.slice(0, -MESSAGES.length)}.compaction.json`;
}

/** What is known of a session apart from its messages; empty when nothing is. */
export function readManifest(path: string): Row {
  const head = readHead(findManifest(path), HEAD_BYTES);
  if (head === null) return {};
  const text = head.bytes.toString('utf8');
  return parseRow(text) ?? salvage(text);
}

const SHORT_FIELDS = ['session_id', 'sessionId', 'cwd', 'workspace_root', 'started_at', 'parent_session_id'];

/** The short fields of an object of which only the beginning was read. */
function salvage(text: string): Row {
  const found = SHORT_FIELDS.flatMap((name) => {
    const value = new RegExp(`"${name}"\\s{0,4}:\\s{0,4}("(?:[^"\\\\]|\\\\.){0,4096}")`).exec(text)?.[1];
    const parsed = value === undefined ? undefined : parseAny(value);
    return typeof parsed === 'string' ? [[name, parsed] as const] : [];
  });
  return Object.fromEntries(found);
}

export interface KnownTask {
  cwd: string | null;
  title: string | null;
}

const MAX_INDEX_BYTES = 32 * 1024 * 1024;

/** What the extension's list of tasks says of each. */
export function readTaskIndex(taskHome: string): Map<string, KnownTask> {
  const known = new Map<string, KnownTask>();
  const file = readHead(join(taskHome, 'state', 'taskHistory.json'), MAX_INDEX_BYTES);
  const list = file === null ? undefined : parseAny(file.bytes.toString('utf8'));
  for (const entry of Array.isArray(list) ? list : []) {
    const row = asRow(entry);
    const id = row === null ? null : getText(row, 'id');
    if (row === null || id === null) continue;
    const title = shorten(getText(row, 'task') ?? '');
    known.set(id, { cwd: getText(row, 'cwdOnTaskInitialization'), title });
  }
  return known;
}

const FOLDER = /# Current (?:Working|Workspace) Directory \(((?:[^()\\"]|\\\\){1,1000})\)/;

/** The task whose conversation is in the given file. The list of tasks may be given if it was read already. */
export function inspectTask(path: string, index?: Map<string, KnownTask>): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null || !/^\s*\[/.test(head.bytes.toString('latin1', 0, 64))) return null;
  const id = basename(dirname(path));
  const known = (index ?? readTaskIndex(dirname(dirname(dirname(path))))).get(id);
  const cwd = FOLDER.exec(head.bytes.toString('utf8'))?.[1]?.replaceAll('\\\\', '\\');
  return {
    agent: 'cline',
    id,
    path,
    cwd: known?.cwd ?? cwd ?? null,
    title: known?.title ?? null,
    startedMs: /^\d{13}$/.test(id) ? Number(id) : null,
    changedMs: head.changedMs,
    bytes: head.size,
    parent: null,
  };
}
