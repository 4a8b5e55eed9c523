import { join, resolve } from 'node:path';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';

const EXTENSION = 'saoudrizwan.claude-dev';
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'];
const REMOTE_EDITORS = ['.vscode-server', '.vscode-server-insiders', '.cursor-server', '.windsurf-server'];
export const MESSAGES = '.messages.json';
export const CLASSIC_NAME = 'api_conversation_history.json';

export function findClineHome({ env, home, cwd }: Machine): string | null {
  if (env.CLINE_DIR) return resolve(cwd, env.CLINE_DIR);
  return home === undefined ? null : join(home, '.cline');
}

/** The data folder of the program itself. */
export function findDataFolder(machine: Machine): string | null {
  if (machine.env.CLINE_DATA_DIR) return machine.env.CLINE_DATA_DIR;
  const home = findClineHome(machine);
  return home === null ? null : join(home, 'data');
}

/** The transcripts of sessions: a folder for each, with those of its sub-agents beside its own. */
export function* listTranscripts(dataFolder: string): Generator<string> {
  const sessions = join(dataFolder, 'sessions');
  for (const id of listNames(sessions)) {
    for (const name of listNames(join(sessions, id))) {
      if (name.endsWith(MESSAGES)) yield join(sessions, id, name);
    }
  }
}

/** Folders that hold `tasks` of the extension's first generation. */
export function* listTaskHomes(machine: Machine): Generator<string> {
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

export function* listTasks(taskHome: string): Generator<string> {
  const tasks = join(taskHome, 'tasks');
  for (const id of listNames(tasks)) yield join(tasks, id, CLASSIC_NAME);
}

/** Of both generations. */
export function* listAllTranscripts(machine: Machine): Generator<string> {
  const data = findDataFolder(machine);
  if (data !== null) yield* listTranscripts(data);
  for (const home of listTaskHomes(machine)) yield* listTasks(home);
}
