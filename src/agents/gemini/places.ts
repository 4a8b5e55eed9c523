import { basename, dirname, join, resolve } from 'node:path';
import { sha256Hex } from '../../model/hash.ts';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { getRow, parseRow } from '../json.ts';

export interface Transcript {
  path: string;
  /** The folder that the project's own folder stands for; null when nothing tells. */
  cwd: string | null;
}

/** Gemini CLI's folder; `GEMINI_CLI_HOME` takes the place of the user's home. Null on a machine without one. */
export function findRoot({ env, home, cwd }: Machine): string | null {
  if (env.GEMINI_CLI_HOME) return join(resolve(cwd, env.GEMINI_CLI_HOME), '.gemini');
  return home === undefined ? null : join(home, '.gemini');
}

const SUFFIX = /\.jsonl?$/;

export function* listTranscripts(machine: Machine): Generator<Transcript> {
  const root = findRoot(machine);
  if (root === null) return;
  const known = readKnownProjects(root);
  for (const project of listNames(join(root, 'tmp'))) {
    const folder = join(root, 'tmp', project);
    const paths = [...listChats(join(folder, 'chats'))];
    if (paths.length === 0) continue;
    const cwd = readProjectRoot(folder) ?? known.get(project) ?? null;
    for (const path of paths) yield { path, cwd };
  }
}

/** Sub-agents lie in folders with the id of the session that started them. */
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
  const text = readHead(join(folder, '.project_root'), MAX_ROOT_BYTES)?.bytes.toString('utf8').trim();
  return text === undefined || text === '' ? null : text;
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

/** Of a transcript that is known by its path alone. */
export function findCwd(path: string): string | null {
  const chats = findChats(path);
  return chats === null ? null : readProjectRoot(dirname(chats));
}

/** The session that started the sub-agent whose transcript this is; null for a session of its own. */
export function findParent(path: string): string | null {
  const folder = dirname(path);
  return basename(folder) !== 'chats' && findChats(path) !== null ? basename(folder) : null;
}

function findChats(path: string): string | null {
  const folder = dirname(path);
  return [folder, dirname(folder)].find((candidate) => basename(candidate) === 'chats') ?? null;
}
