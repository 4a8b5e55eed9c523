import { join } from 'node:path';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';

/** The folder with the database, and with one file a session of releases before there was a database. */
export function findSessionsFolder(machine: Machine): string | null {
  const data = findDataFolder(machine);
  return data === null ? null : join(data, 'sessions');
}

export const DATABASE_NAME = 'sessions.db';

export function* listTranscripts(machine: Machine): Generator<string> {
  const folder = findSessionsFolder(machine);
  if (folder === null) return;
  for (const name of listNames(folder))
    if (name === DATABASE_NAME || name.endsWith('.jsonl')) yield join(folder, name);
}

function findDataFolder({ env, home, platform }: Machine): string | null {
  if (env.GOOSE_PATH_ROOT) return join(env.GOOSE_PATH_ROOT, 'data');
  if (platform === 'win32') {
    const roaming = env.APPDATA ?? (home === undefined ? undefined : join(home, 'AppData', 'Roaming'));
    return roaming === undefined ? null : join(roaming, 'Block', 'goose', 'data');
  }
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, 'goose');
  return home === undefined ? null : join(home, '.local', 'share', 'goose');
}
