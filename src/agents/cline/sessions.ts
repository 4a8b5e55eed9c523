import { basename, dirname, join } from 'node:path';
import { cutToBytes } from '../../model/text.ts';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { findAgentHome, HEAD_BYTES, inspectAll, listFiles } from '../shared/files.ts';
import { asRow, getRow, getText, parseAny, parseRow, type Row, toMs } from '../shared/json.ts';
import { readHumanText } from './prompts.ts';

const EXTENSION = 'saoudrizwan.claude-dev';
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'];
const REMOTE_EDITORS = ['.vscode-server', '.vscode-server-insiders', '.cursor-server', '.windsurf-server'];
const MESSAGES = '.messages.json';
const TASK_FILE = 'api_conversation_history.json';

/** The sessions of the program, and the tasks of the editor extension before it. */
export function* listTranscripts(machine: Machine): Generator<string> {
  yield* listSessions(machine);
  for (const home of listTaskHomes(machine)) yield* listTasks(home);
}

export function isSessionFile(path: string): boolean {
  return path.endsWith(MESSAGES);
}

function findDataFolder(machine: Machine): string | null {
  if (machine.env.CLINE_DATA_DIR) return machine.env.CLINE_DATA_DIR;
  const home = findAgentHome('cline', machine);
  return home === null ? null : join(home, 'data');
}

/** A folder for each session, which also holds the transcripts of its sub-agents. */
function* listSessions(machine: Machine): Generator<string> {
  const data = findDataFolder(machine);
  if (data === null) return;
  const sessions = join(data, 'sessions');
  for (const id of listNames(sessions)) yield* listFiles(join(sessions, id), MESSAGES);
}

/** Folders that may hold the extension's `tasks`. */
function* listTaskHomes(machine: Machine): Generator<string> {
  const { env, home, platform } = machine;
  const data = findDataFolder(machine);
  if (data !== null) yield data;
  if (home === undefined) return;
  const settings =
    platform === 'darwin'
      ? join(home, 'Library', 'Application Support')
      : platform === 'win32'
        ? (env.APPDATA ?? join(home, 'AppData', 'Roaming'))
        : (env.XDG_CONFIG_HOME ?? join(home, '.config'));
  for (const editor of EDITORS) yield join(settings, editor, 'User', 'globalStorage', EXTENSION);
  for (const server of REMOTE_EDITORS) yield join(home, server, 'data', 'User', 'globalStorage', EXTENSION);
}

function* listTasks(taskHome: string): Generator<string> {
  const tasks = join(taskHome, 'tasks');
  for (const id of listNames(tasks)) yield join(tasks, id, TASK_FILE);
}

export function* findSessions(machine: Machine): Generator<FoundSession> {
  yield* inspectAll(listSessions(machine), inspectSession);
  for (const home of listTaskHomes(machine)) {
    const paths = [...listTasks(home)];
    const index = paths.length === 0 ? undefined : readTaskIndex(home);
    yield* inspectAll(paths, (path) => inspectTask(path, index));
  }
}

export function inspectFile(path: string): FoundSession | null {
  if (isSessionFile(path)) return inspectSession(path);
  return basename(path) === TASK_FILE ? inspectTask(path) : null;
}

const MAX_TITLE_BYTES = 2000;

function inspectSession(path: string): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null || !/^\s*\{/.test(head.bytes.toString('latin1', 0, 64))) return null;
  const id = basename(path).slice(0, -MESSAGES.length);
  const manifest = readManifest(path);
  const top = salvage(head.bytes.toString('utf8'));
  if (Object.keys(manifest).length === 0 && getText(top, 'sessionId') === null) return null;
  const title = getText(getRow(manifest, 'metadata'), 'title');
  return {
    agent: 'cline',
    id: getText(manifest, 'session_id') ?? id,
    path,
    cwd: getText(manifest, 'cwd', 'workspace_root'),
    title: toTitle(title ?? readHumanText(getText(manifest, 'prompt') ?? '') ?? ''),
    startedMs: toMs(manifest.started_at),
    changedMs: head.changedMs,
    bytes: head.size,
    parent: findParent(path, id, manifest),
  };
}

/** The mark of the cut stays: redaction needs it to recognise a secret that was cut through. */
function toTitle(text: string): string | null {
  return cutToBytes(text.trim().toWellFormed(), MAX_TITLE_BYTES) || null;
}

/** Sub-agents have their own file in the folder of the session that started them. */
function findParent(path: string, id: string, manifest: Row): string | null {
  const named = getText(manifest, 'parent_session_id', 'parentSessionId');
  if (named !== null) return named;
  const folder = basename(dirname(path));
  if (folder !== id && id.startsWith(folder)) return folder;
  const [root = '', child] = id.split('__');
  return child === undefined ? null : root;
}

/** A file beside a session's messages, named after the session. */
export function findCompanion(path: string, suffix: '.json' | '.compaction.json'): string {
  return `${path.slice(0, -MESSAGES.length)}${suffix}`;
}

/** What is stored about a session beside its messages; empty when there is nothing. */
export function readManifest(path: string): Row {
  const head = readHead(findCompanion(path, '.json'), HEAD_BYTES);
  if (head === null) return {};
  const text = head.bytes.toString('utf8');
  return parseRow(text) ?? salvage(text);
}

const SHORT_FIELDS = ['session_id', 'sessionId', 'cwd', 'workspace_root', 'started_at', 'parent_session_id'];

/** The short fields of an object that was cut off. */
function salvage(text: string): Row {
  const found = SHORT_FIELDS.flatMap((name) => {
    const value = new RegExp(`"${name}"\\s{0,4}:\\s{0,4}("(?:[^"\\\\]|\\\\.){0,4096}")`).exec(text)?.[1];
    const parsed = value === undefined ? undefined : parseAny(value);
    return typeof parsed === 'string' ? [[name, parsed] as const] : [];
  });
  return Object.fromEntries(found);
}

type TaskIndex = Map<string, { cwd: string | null; title: string | null }>;

const MAX_INDEX_BYTES = 32 * 1024 * 1024;

/** The extension's list of tasks. */
function readTaskIndex(taskHome: string): TaskIndex {
  const index: TaskIndex = new Map();
  const file = readHead(join(taskHome, 'state', 'taskHistory.json'), MAX_INDEX_BYTES);
  const list = file === null ? undefined : parseAny(file.bytes.toString('utf8'));
  for (const entry of Array.isArray(list) ? list : []) {
    const row = asRow(entry) ?? {};
    const id = getText(row, 'id');
    if (id === null) continue;
    index.set(id, { cwd: getText(row, 'cwdOnTaskInitialization'), title: toTitle(getText(row, 'task') ?? '') });
  }
  return index;
}

const FOLDER = /# Current (?:Working|Workspace) Directory \(((?:[^()\\"]|\\\\){1,1000})\)/;

/** Reads the list of tasks unless it is given. */
function inspectTask(path: string, index?: TaskIndex): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null || !/^\s*\[/.test(head.bytes.toString('latin1', 0, 64))) return null;
  const id = basename(dirname(path));
  const known = (index ?? readTaskIndex(dirname(dirname(dirname(path))))).get(id);
  const shown = FOLDER.exec(head.bytes.toString('utf8'))?.[1]?.replaceAll('\\\\', '\\');
  const { changedMs, size: bytes } = head;
  const cwd = known?.cwd ?? shown ?? null;
  const title = known?.title ?? null;
  const startedMs = /^\d{13}$/.test(id) ? Number(id) : null;
  return { agent: 'cline', id, path, cwd, title, startedMs, changedMs, bytes, parent: null };
}
