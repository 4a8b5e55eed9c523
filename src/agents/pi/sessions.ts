import { join, resolve } from 'node:path';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { HEAD_BYTES, listFiles } from '../shared/files.ts';
import { getText, parseRow, toMs } from '../shared/json.ts';

/** All session files: in a folder for each project, or all in one folder that the user named. */
export function* listTranscripts(machine: Machine): Generator<string> {
  for (const folder of findSessionFolders(machine)) {
    for (const name of listNames(folder)) {
      const path = join(folder, name);
      if (name.endsWith('.jsonl')) yield path;
      else if (name.startsWith('--')) yield* listFiles(path, '.jsonl');
    }
  }
}

function findSessionFolders({ env, home, cwd }: Machine): string[] {
  const named = env.PI_CODING_AGENT_SESSION_DIR;
  if (named) return [expandHome(named, home, cwd)];
  if (env.PI_CODING_AGENT_DIR) return [join(expandHome(env.PI_CODING_AGENT_DIR, home, cwd), 'sessions')];
  return home === undefined ? [] : [join(home, '.pi', 'agent', 'sessions')];
}

function expandHome(path: string, home: string | undefined, cwd: string): string {
  if (home !== undefined && (path === '~' || path.startsWith('~/'))) return join(home, path.slice(1));
  return resolve(cwd, path);
}

/** The session in a file, from its first line; null when the file is not one of pi's. */
export function inspectFile(path: string): FoundSession | null {
  const file = readHead(path, HEAD_BYTES);
  if (file === null) return null;
  const lines = file.bytes.toString('utf8').split('\n');
  const header = parseRow(lines[0] ?? '') ?? {};
  const id = getText(header, 'id');
  const cwd = getText(header, 'cwd');
  if (header.type !== 'session' || id === null || cwd === null) return null;
  const { changedMs, size: bytes } = file;
  const startedMs = toMs(header.timestamp);
  return { agent: 'pi', id, path, cwd: cwd || null, title: findName(lines), startedMs, changedMs, bytes, parent: null };
}

/** The last name that the user gave the session within the head of the file. */
function findName(lines: string[]): string | null {
  for (const line of lines.toReversed()) {
    if (!line.startsWith('{"type":"session_info"')) continue;
    const name = getText(parseRow(line) ?? {}, 'name');
    if (name !== null) return name.toWellFormed();
  }
  return null;
}
