import { basename, dirname, join } from 'node:path';
import { sha256Hex } from '../../model/hash.ts';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { HEAD_BYTES } from '../shared/files.ts';
import { getRow, getText, parseRow, type Row, toMs } from '../shared/json.ts';
import { findOwnWords, toTitleText } from '../shared/message-text.ts';
import { readHuman } from './messages.ts';
import { findGeminiHome } from './setup.ts';

export function* listTranscripts(machine: Machine): Generator<string> {
  for (const [path] of listChatFiles(machine)) yield path;
}

export function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const [path, cwd] of listChatFiles(machine)) {
    const session = inspect(path, cwd);
    if (session !== null) yield session;
  }
}

export function inspectFile(path: string): FoundSession | null {
  const chats = findChatsFolder(path);
  return inspect(path, chats === null ? null : readProjectRoot(dirname(chats)));
}

const SUFFIX = /\.jsonl?$/;

/** Each file with the folder of its project, null when that is not recorded anywhere. */
function* listChatFiles(machine: Machine): Generator<[path: string, cwd: string | null]> {
  const root = findGeminiHome(machine);
  if (root === null) return;
  const known = readKnownProjects(root);
  for (const project of listNames(join(root, 'tmp'))) {
    const folder = join(root, 'tmp', project);
    const paths = [...listChats(join(folder, 'chats'))];
    if (paths.length === 0) continue;
    const cwd = readProjectRoot(folder) ?? known.get(project) ?? null;
    for (const path of paths) yield [path, cwd];
  }
}

/** Sub-agents' files are in folders with the id of the session that started them. */
function* listChats(chats: string): Generator<string> {
  for (const name of listNames(chats)) {
    const path = join(chats, name);
    if (SUFFIX.test(name)) yield path;
    else for (const inner of listNames(path)) if (SUFFIX.test(inner)) yield join(path, inner);
  }
}

const MAX_ROOT_BYTES = 16 * 1024;
const MAX_MAP_BYTES = 4 * 1024 * 1024;

function readProjectRoot(folder: string): string | null {
  return readHead(join(folder, '.project_root'), MAX_ROOT_BYTES)?.bytes.toString('utf8').trim() || null;
}

/** By the short names of projects, and by the hashes that older versions named their folders with. */
function readKnownProjects(root: string): Map<string, string> {
  const known = new Map<string, string>();
  const map = parseRow(readHead(join(root, 'projects.json'), MAX_MAP_BYTES)?.bytes.toString('utf8') ?? '');
  for (const [folder, name] of Object.entries(getRow(map ?? {}, 'projects'))) {
    const path = folder.toWellFormed();
    if (typeof name === 'string') known.set(name, path);
    known.set(sha256Hex(folder), path);
  }
  return known;
}

/** The session that started this sub-agent; null when the file is not in a folder of sub-agents. */
function findParent(path: string): string | null {
  const folder = basename(dirname(path));
  return folder !== 'chats' && findChatsFolder(path) !== null ? folder : null;
}

function findChatsFolder(path: string): string | null {
  const folder = dirname(path);
  return [folder, dirname(folder)].find((candidate) => basename(candidate) === 'chats') ?? null;
}

function inspect(path: string, cwd: string | null): FoundSession | null {
  const file = readHead(path, HEAD_BYTES);
  if (file === null) return null;
  const text = file.bytes.toString('utf8');
  const lines = text.split('\n');
  const header = parseRow(lines[0] ?? '') ?? salvageHeader(text);
  const id = getText(header, 'sessionId')?.toWellFormed();
  if (id === undefined || id === '' || getText(header, 'projectHash') === null) return null;
  const { changedMs, size: bytes } = file;
  const title = readTitle(header, lines.slice(1));
  const startedMs = toMs(header.startTime);
  const parent = header.kind === 'subagent' ? findParent(path) : null;
  return { agent: 'gemini', path, id, cwd: cwd?.toWellFormed() ?? null, title, startedMs, changedMs, bytes, parent };
}

const HEADER_FIELD = /^\s{0,8}"(sessionId|projectHash|startTime|kind|summary)":\s?"((?:[^"\\]|\\.){0,2000})",?$/gm;

/** Older versions keep a session as one document, with each field of its head on a line of its own. */
function salvageHeader(text: string): Row {
  if (!/^\s*\{\s*"/.test(text)) return {};
  const fields = text.slice(0, 4000).matchAll(HEADER_FIELD);
  return Object.fromEntries([...fields].map(([, key = '', value = '']) => [key, value]));
}

function readTitle(header: Row, lines: readonly string[]): string | null {
  const rows = lines.map(parseRow).filter((row) => row !== null);
  const summary = rows.flatMap((row) => getText(getRow(row, '$set'), 'summary') ?? []).at(-1);
  const title = summary ?? getText(header, 'summary');
  if (title !== null) return toTitleText(title);
  const prompts = rows.filter(({ type }) => type === 'user').map((row) => findOwnWords(readHuman(row).text));
  return toTitleText(prompts.find((text) => text !== null) ?? null);
}
