import type { Fact } from './fact.ts';
import type { Workspace } from './workspace.ts';

const WINDOWS_PATH = /^[A-Za-z]:\\|^\\\\|^[^/]*\\[^/]*$/;

/** The last part of a path, with slashes or backslashes. */
export function baseName(path: string): string {
  const slash = path.includes('\\') && WINDOWS_PATH.test(path) ? /[\\/]+/ : /\/+/;
  return path.split(slash).findLast((part) => part !== '') ?? path;
}

const PROSE_FILE = /\.(?:mdx?|rst|txt|adoc)$/i;

/** By its ending: a document for people, not code. */
export function isProse(path: string): boolean {
  return PROSE_FILE.test(path);
}

const ABSOLUTE = /^(?:[/~]|[A-Za-z]:\/)/;
const HOMES = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root|[A-Za-z]:\/Users\/[^/]+)(?=\/)/;

/**
 * The path of a fact's file: relative to the root of its worktree, or absolute where it is outside. Paths of declared
 * facts are relative to the root; paths of captured ones to the folder that the agent worked in.
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

/** With `~` for any user's home folder: a handover from another machine has the path of another user. */
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

/** Only for Windows paths: elsewhere a backslash is an ordinary character of a name. */
export function toSlashes(path: string): string {
  return WINDOWS_PATH.test(path) ? path.replaceAll('\\', '/') : path;
}
