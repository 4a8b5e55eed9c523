import { basename, resolve, sep } from 'node:path';
import { HandoverError } from '../errors.ts';
import { compareCodeUnits, shortHash } from '../model/hash.ts';
import { baseName } from '../model/paths.ts';
import { cleanLine } from '../model/text.ts';
import type { Project } from '../model/workspace.ts';
import { requireFolder, resolveRealPath } from './folders.ts';
import { findMainRoot, type GitState, locateRepository, type Repository, runGit } from './git.ts';
import type { Env, Machine } from './machine.ts';

export interface IdentifiedProject extends Project {
  /** The real top level of the worktree; outside git, the folder itself. */
  root: string;
  /** `w-` and eight characters; null outside git. */
  worktree: string | null;
  /** How git took part: with any other state than `present` the folder counts as outside git. */
  git: GitState;
}

const MAX_NAME_CHARACTERS = 100;

export function identifyProject(folder: string, machine: Machine): IdentifiedProject {
  const real = requireFolder(resolve(machine.cwd, folder));
  const repository = locateRepository(real, machine.env);
  if (repository.state !== 'present') return describeFolder(real, repository.state);
  const mainRoot = findMainRoot(repository);
  const urls = readRemoteUrls(repository, machine.env);
  if (urls === null) return describeFolder(real, 'refused');
  const remote = chooseRemote(urls, mainRoot);
  return {
    id: `p-${shortHash(remote === null ? `path:${mainRoot}` : `remote:${remote}`, 16)}`,
    name: nameProject(remote ?? mainRoot),
    root: repository.top ?? mainRoot,
    remote,
    worktree: `w-${shortHash(repository.gitDir, 8)}`,
    git: 'present',
  };
}

/** A project by a folder that is not there: gone since, or on another machine. */
export function nameLostProject(folder: string): Pick<IdentifiedProject, 'id' | 'name' | 'remote'> {
  return { id: `p-${shortHash(`path:${folder}`, 16)}`, name: nameProject(baseName(folder)), remote: null };
}

function describeFolder(real: string, git: GitState): IdentifiedProject {
  return {
    id: `p-${shortHash(`path:${real}`, 16)}`,
    name: nameProject(real),
    root: real,
    remote: null,
    worktree: null,
    git,
  };
}

function nameProject(path: string): string {
  const name = cleanLine(basename(path).replace(/(?<=.)\.git$/, ''));
  const cut = [...name.slice(0, 2 * MAX_NAME_CHARACTERS)].slice(0, MAX_NAME_CHARACTERS).join('');
  return cut.trimEnd() || 'project';
}

/** The first URL of each remote, by name; null when git could not read its configuration. */
function readRemoteUrls(repository: Repository, env: Env): Map<string, string> | null {
  const query = ['config', '--includes', '--null', '--get-regexp', '^remote\\..*\\.url$'];
  const result = runOrNull(query, repository.top ?? repository.gitDir, env);
  if (result === null || result.truncated || (result.status !== 0 && result.status !== 1)) return null;
  const urls = new Map<string, string>();
  for (const entry of result.stdout.toString('utf8').split('\0')) {
    const [, name, url] = /^remote\.(.*)\.url\n(.+)$/s.exec(entry) ?? [];
    if (name !== undefined && url !== undefined && !urls.has(name)) urls.set(name, url);
  }
  return urls;
}

function runOrNull(args: readonly string[], cwd: string, env: Env): ReturnType<typeof runGit> | null {
  try {
    return runGit(args, { cwd, env, maxBytes: 1024 * 1024 });
  } catch (error) {
    if (error instanceof HandoverError && error.code === 'HANDOVER_PROGRAM_TIMEOUT') return null;
    throw error;
  }
}

function chooseRemote(urls: ReadonlyMap<string, string>, root: string): string | null {
  const others = [...urls.keys()].filter((name) => name !== 'origin').sort(compareCodeUnits);
  for (const name of ['origin', ...others]) {
    const remote = normaliseRemote(urls.get(name) ?? '', root);
    if (remote !== null) return remote;
  }
  return null;
}

const ON_WINDOWS = sep === '\\';
/** Longer than any path or URL in use; keeps hostile ones cheap. */
const MAX_REMOTE_LENGTH = 4096;

/** Hosts that forges offer for ssh through port 443. */
const HOST_ALIASES: ReadonlyMap<string, string> = new Map([
  ['ssh.github.com', 'github.com'],
  ['altssh.gitlab.com', 'gitlab.com'],
  ['altssh.bitbucket.org', 'bitbucket.org'],
]);

/**
 * `host/owner/name` for every way to write one remote, without user, password, port, query or `.git`. A remote on this
 * machine becomes its real absolute path, seen from `root`. Null for what names no place, as an `ext::` command.
 */
export function normaliseRemote(url: string, root: string): string | null {
  const text = url.trim();
  if (text.length > MAX_REMOTE_LENGTH) return null;
  const [, helper, address = ''] = /^([a-z0-9][a-z0-9+.-]*)::(.*)$/is.exec(text) ?? [];
  if (helper !== undefined) return helper.toLowerCase() === 'ext' ? null : normaliseHosted(address);
  const [, filePath] = /^file:\/\/[^/]*(\/.*)$/is.exec(text) ?? [];
  if (filePath !== undefined) return normalisePath(decodePercent(filePath), root);
  return isHosted(text) ? normaliseHosted(text) : normalisePath(text, root);
}

/** A scheme, or a colon before the first slash as in `git@host:owner/name`; git tells them from paths the same way. */
function isHosted(text: string): boolean {
  if (ON_WINDOWS && /^[a-z]:[\\/]/i.test(text)) return false;
  return /^[^/]*:/.test(text);
}

function normalisePath(path: string, root: string): string | null {
  if (path === '' || path.includes('\0')) return null;
  const absolute = resolve(root, ON_WINDOWS ? path.replace(/^\/(?=[a-z]:)/i, '') : path);
  return resolveRealPath(absolute) ?? absolute;
}

function normaliseHosted(text: string): string | null {
  const [, afterScheme] = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(text) ?? [];
  const place = afterScheme === undefined ? splitScp(text) : splitUrl(afterScheme);
  if (place === null) return null;
  const host = cleanLine(place.host).toLowerCase().replace(/\.$/, '');
  if (host === '') return null;
  return [HOST_ALIASES.get(host) ?? host, ...listSegments(place.path)].join('/');
}

interface Place {
  host: string;
  path: string;
}

/** In brackets or not; without the characters that start a query, so that no token in one passes for a host. */
const HOST = String.raw`\[[^\]/@?#=]*\]|[^:/@\s[\]?#=&]+`;
const URL_PLACE = new RegExp(`^(?:[^/]*@)?(${HOST})(?::\\d*)?(?=[/?#]|$)(.*)$`, 's');
const SCP_PLACE = new RegExp(`^([^/]*@)?(${HOST}):(.*)$`, 's');

function splitUrl(text: string): Place | null {
  const [, host, path = ''] = URL_PLACE.exec(text) ?? [];
  if (host !== undefined) return { host, path: decodePercent(path.replace(/[?#].*$/s, '')) };
  // A password with a slash in it: the host is behind the last @, and nothing before it may be kept.
  const behind = text.slice(text.lastIndexOf('@') + 1);
  return behind === text ? null : splitUrl(behind);
}

function splitScp(text: string): Place | null {
  const [, user, host, path] = SCP_PLACE.exec(text) ?? [];
  if (host === undefined || path === undefined) return null;
  const [, behind] = user === undefined ? (/^[^/]+@(.*)$/s.exec(path) ?? []) : [];
  if (behind !== undefined) return splitUrl(behind) ?? splitScp(behind);
  return { host: host.replace(/^\[([^:\]]*):\d+\]$/, '$1'), path };
}

function listSegments(path: string): string[] {
  const segments: string[] = [];
  for (const segment of dropCredentials(cleanLine(path)).split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const last = segments.pop()?.replace(/\.git$/i, '') ?? '';
  return last === '' ? segments : [...segments, last];
}

/** Something of the form `user:password@` is never part of a repository's path, however it got there. */
function dropCredentials(path: string): string {
  return path.replace(/^.*:.*@/s, '');
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
