import { join, posix, resolve, win32 } from 'node:path';
import type { Action, FileEdit } from '../../model/event.ts';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession, RecallSession } from '../agent.ts';

/** The variable that moves an agent's folder, and the folder's name in the user's home. */
const HOMES = {
  'claude-code': ['CLAUDE_CONFIG_DIR', '.claude'],
  codex: ['CODEX_HOME', '.codex'],
  copilot: ['COPILOT_HOME', '.copilot'],
  cline: ['CLINE_DIR', '.cline'],
} as const;

/** The folder with the user's settings and sessions of an agent; null on a machine without a home. */
export function findAgentHome(agent: keyof typeof HOMES, { env, home, cwd }: Machine): string | null {
  const [variable, folder] = HOMES[agent];
  const moved = env[variable];
  if (moved) return resolve(cwd, moved);
  return home === undefined ? null : join(home, folder);
}

export function findOpencodeHome({ env, home, cwd }: Machine): string | null {
  if (env.XDG_CONFIG_HOME) return join(resolve(cwd, env.XDG_CONFIG_HOME), 'opencode');
  return home === undefined ? null : join(home, '.config', 'opencode');
}

const WINDOWS = /^(?:[A-Za-z]:[\\/]|\\\\)/;

/** A path as the agent gave it, made absolute where the folder that it worked in is known. */
export function resolveFilePath(path: string, cwd: string | null): string {
  const given = path.toWellFormed();
  if (cwd === null || given === '' || given.startsWith('~') || posix.isAbsolute(given) || WINDOWS.test(given)) {
    return given;
  }
  if (posix.isAbsolute(cwd)) return posix.join(cwd, given);
  return WINDOWS.test(cwd) ? win32.join(cwd, given) : given;
}

/** The files that a session has used so far. Tools write whole files, new or not: one that was used before existed. */
export class TouchedFiles {
  readonly #paths: Set<string>;

  constructor(paths: Set<string> = new Set()) {
    this.#paths = paths;
  }

  read(path: string): Action {
    this.#paths.add(path);
    return { kind: 'read', path };
  }

  write(path: string, after: string): FileEdit {
    const change = this.#paths.has(path) ? 'edited' : 'created';
    this.#paths.add(path);
    return { path, change, before: '', after: after.toWellFormed() };
  }

  edit(path: string, before: string, after: string): FileEdit {
    this.#paths.add(path);
    return { path, change: 'edited', before: before.toWellFormed(), after: after.toWellFormed() };
  }

  /** An edit that replaces nothing writes the whole file. */
  replace(path: string, before: string, after: string): FileEdit {
    return before === '' ? this.write(path, after) : this.edit(path, before, after);
  }
}

/** How much of a transcript is read to find out which session it has. */
export const HEAD_BYTES = 64 * 1024;

/** The sessions in those of the files that are transcripts. */
export function* inspectAll(
  paths: Iterable<string>,
  inspect: (path: string) => FoundSession | null,
  recall: RecallSession = () => null,
): Generator<FoundSession> {
  for (const path of paths) {
    const session = recall(path) ?? inspect(path);
    if (session !== null) yield session;
  }
}

/** The paths of the files in a folder whose names end in `suffix`. */
export function listFiles(folder: string, suffix: string): string[] {
  return listNames(folder).flatMap((name) => (name.endsWith(suffix) ? join(folder, name) : []));
}
