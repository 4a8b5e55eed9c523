import { join, resolve } from 'node:path';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';

/** All session files, as pi keeps them: a folder for each project, or all in a folder that the user named. */
export function* findFiles(machine: Machine): Generator<string> {
  for (const folder of findSessionFolders(machine)) {
    for (const name of listNames(folder)) {
      const path = join(folder, name);
      if (name.endsWith('.jsonl')) yield path;
      else if (name.startsWith('--')) yield* listFiles(path);
    }
  }
}

function* listFiles(folder: string): Generator<string> {
  for (const name of listNames(folder)) if (name.endsWith('.jsonl')) yield join(folder, name);
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
