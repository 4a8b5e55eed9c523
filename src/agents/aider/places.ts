import { dirname, join, resolve } from 'node:path';
import { pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';

export const HISTORY_NAME = '.aider.chat.history.md';

export interface HistoryFile {
  path: string;
  /** The folder that paths in it are relative to. */
  cwd: string;
}

/**
 * Aider keeps its history in the project: in the root of the repository, or in the current folder where there is no
 * repository. There is no list of all projects, so only the one at hand is looked at.
 */
export function findHistories({ env, cwd }: Machine): HistoryFile[] {
  const root = findGitRoot(cwd);
  if (env.AIDER_CHAT_HISTORY_FILE) {
    return [{ path: resolve(cwd, env.AIDER_CHAT_HISTORY_FILE), cwd: root ?? cwd }];
  }
  const folders = root === null || root === cwd ? [cwd] : [cwd, root];
  return folders.map((folder) => ({ path: join(folder, HISTORY_NAME), cwd: folder }));
}

export function listTranscripts(machine: Machine): string[] {
  return findHistories(machine).map(({ path }) => path);
}

function findGitRoot(folder: string): string | null {
  for (let place = resolve(folder); ; place = dirname(place)) {
    if (pathExists(join(place, '.git'))) return place;
    if (place === dirname(place)) return null;
  }
}
