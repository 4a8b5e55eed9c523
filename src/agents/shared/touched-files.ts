import { posix, win32 } from 'node:path';
import type { FileEdit } from '../../model/event.ts';

const WINDOWS = /^(?:[A-Za-z]:[\\/]|\\\\)/;

/** A path as the agent gave it, made absolute where the folder that it worked in is known. */
export function resolveFilePath(path: string, cwd: string | null): string {
  const given = path.toWellFormed();
  if (
    cwd === null ||
    given === '' ||
    given.startsWith('~') ||
    posix.isAbsolute(given) ||
    WINDOWS.test(given)
  ) {
    return given;
  }
  if (posix.isAbsolute(cwd)) return posix.join(cwd, given);
  return WINDOWS.test(cwd) ? win32.join(cwd, given) : given;
}

/**
 * The files that a session has used so far. Most agents have one tool to write a whole file, new or not, and do not
 * record which: a file that the session used before existed.
 */
export class TouchedFiles {
  readonly #paths: Set<string>;

  constructor(paths: Set<string> = new Set()) {
    this.#paths = paths;
  }

  markSeen(path: string): void {
    this.#paths.add(path);
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
}
