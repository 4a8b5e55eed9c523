import type { Fact } from './fact.ts';
import type { Workspace } from './workspace.ts';

const WINDOWS_PATH = /^[A-Za-z]:\\|^\\\\|^[^/]*\\[^/]*$/;

/** The last part of a path, whichever way its slashes lean. */
export function baseName(path: string): string {
  const slash = WINDOWS_PATH.test(path) ? /[\\/]+/ : /\/+/;
  return path.split(slash).findLast((part) => part !== '') ?? path;
}

const ABSOLUTE = /^(?:[/~]|[A-Za-z]:\/)/;
const HOMES = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root|[A-Za-z]:\/Users\/[^/]+)(?=\/)/;

/**
 * Where a file that a handover tells of lies: from the root of its worktree, or whole where it lies elsewhere. What was declared
 * is told from the root, what was captured from the folder that the agent worked in.
 */
export function locateInProject(
  { text, trust }: Pick<Fact, 'text' | 'trust'>,
  { root, folder }: Pick<Workspace, 'root' | 'folder'>,
  home?: string,
): string {
  const path = toSlashes(text);
  if (!ABSOLUTE.test(path)) return joinParts(trust === 'declared' ? '' : folder, path);
  const whole = shortenHome(path, home);
  const top = `${shortenHome(toSlashes(root), home)}/`;
  return whole.startsWith(top) ? whole.slice(top.length) : whole;
}

/** With `~` for a home folder, whoever's it is: what was kept on another machine has its own. */
function shortenHome(path: string, home: string | undefined): string {
  if (home !== undefined && path.startsWith(`${toSlashes(home)}/`)) return `~${path.slice(home.length)}`;
  return path.replace(HOMES, '~');
}

/** Resolves `.` and `..`; a path that leads out of the folder keeps its `..`. */
export function joinParts(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${folder}/${path}`.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  return parts.join('/');
}

/** Only what is Windows' own: elsewhere a backslash is a letter like any other. */
export function toSlashes(path: string): string {
  return WINDOWS_PATH.test(path) ? path.replaceAll('\\', '/') : path;
}
