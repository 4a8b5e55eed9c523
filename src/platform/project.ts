import { basename, join, relative, resolve, sep } from 'node:path';
import { compareCodeUnits, shortHash } from '../model/hash.ts';
import { baseName } from '../model/paths.ts';
import { cleanLine } from '../model/text.ts';
import type { Project, Workspace } from '../model/workspace.ts';
import { listNames } from './external-file.ts';
import { isFolder, pathExists, requireFolder, resolveRealPath } from './folders.ts';
import { findMainRoot, type GitState, locateRepository, type Repository, runGitOrNull } from './git.ts';
import { cutCharacters, readGitFacts } from './git-state.ts';
import type { Env, Machine } from './machine.ts';
import { abbreviateHome, expandHome, toSlashes } from './paths.ts';

export interface IdentifiedProject extends Project {
  /** The real top level of the worktree; outside git, the folder itself. */
  root: string;
  /** `w-` and eight characters; null outside git. */
  worktree: string | null;
  /** In any other state than `present` the folder counts as outside git. */
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
    id: makeProjectId(remote === null ? `path:${mainRoot}` : `remote:${remote}`),
    name: nameProject(remote ?? mainRoot),
    root: repository.top ?? mainRoot,
    remote,
    worktree: `w-${shortHash(repository.gitDir, 8)}`,
    git: 'present',
  };
}

/** The project of a folder that does not exist here: it was removed, or is on another machine. */
export function nameLostProject(folder: string): Project {
  return { id: makeProjectId(`path:${folder}`), name: nameProject(baseName(folder)), remote: null };
}

function describeFolder(root: string, git: GitState): IdentifiedProject {
  const id = makeProjectId(`path:${root}`);
  return { id, name: nameProject(root), root, remote: null, worktree: null, git };
}

function makeProjectId(identity: string): string {
  return `p-${shortHash(identity, 16)}`;
}

function nameProject(path: string): string {
  const name = cleanLine(basename(path).replace(/(?<=.)\.git$/, ''));
  return cutCharacters(name, MAX_NAME_CHARACTERS) || 'project';
}

/** The first URL of each remote, by name; null when git could not read its configuration. */
function readRemoteUrls(repository: Repository, env: Env): Map<string, string> | null {
  const query = ['config', '--includes', '--null', '--get-regexp', '^remote\\..*\\.url$'];
  const cwd = repository.top ?? repository.gitDir;
  const result = runGitOrNull(query, { cwd, env, maxBytes: 1024 * 1024 });
  if (result === null || result.truncated || (result.status !== 0 && result.status !== 1)) return null;
  const urls = new Map<string, string>();
  for (const entry of result.stdout.toString('utf8').split('\0')) {
    const [, name, url] = /^remote\.(.*)\.url\n(.+)$/s.exec(entry) ?? [];
    if (name !== undefined && url !== undefined && !urls.has(name)) urls.set(name, url);
  }
  return urls;
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
 * machine becomes its real absolute path, relative ones taken from `root`. Null for what has no address, such as an `ext::` command.
 */
export function normaliseRemote(url: string, root: string): string | null {
  const text = url.trim();
  if (text.length > MAX_REMOTE_LENGTH) return null;
  const [, helper, address = ''] = /^([a-z0-9][a-z0-9+.-]*)::(.*)$/is.exec(text) ?? [];
  if (helper !== undefined) return helper.toLowerCase() === 'ext' ? null : normaliseHosted(address);
  const [, filePath] = /^file:\/\/[^/]*(\/.*)$/is.exec(text) ?? [];
  if (filePath !== undefined) return normalisePath(decodePercent(filePath), root);
  // A scheme, or a colon before the first slash as in `git@host:owner/name`; git tells them from paths the same way.
  const isHosted = /^[^/]*:/.test(text) && !(ON_WINDOWS && /^[a-z]:[\\/]/i.test(text));
  return isHosted ? normaliseHosted(text) : normalisePath(text, root);
}

function normalisePath(path: string, root: string): string | null {
  if (path === '' || path.includes('\0')) return null;
  const absolute = resolve(root, ON_WINDOWS ? path.replace(/^\/(?=[a-z]:)/i, '') : path);
  return resolveRealPath(absolute) ?? absolute;
}

function normaliseHosted(text: string): string | null {
  const [, , afterScheme] = URL_FORM.exec(text) ?? [];
  const address = afterScheme === undefined ? splitScp(text) : splitUrl(afterScheme);
  if (address === null) return null;
  const host = cleanLine(address.host).toLowerCase().replace(/\.$/, '');
  if (host === '') return null;
  return [HOST_ALIASES.get(host) ?? host, ...listSegments(address.path)].join('/');
}

interface RemoteAddress {
  host: string;
  path: string;
}

/** In brackets or not; without the characters that start a query, so that no token in one passes for a host. */
const HOST = String.raw`\[[^\]/@?#=]*\]|[^:/@\s[\]?#=&]+`;
const URL_FORM = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/is;
const URL_ADDRESS = new RegExp(`^(?:[^/]*@)?(${HOST})(?::\\d*)?(?=[/?#]|$)(.*)$`, 's');
const SCP_ADDRESS = new RegExp(`^([^/]*@)?(${HOST}):(.*)$`, 's');

/** The URL of a remote for messages: without user name and password. */
export function hideCredentials(url: string): string {
  const [, scheme, rest = ''] = URL_FORM.exec(url) ?? [];
  if (scheme === undefined) return url;
  const isPlain = URL_ADDRESS.test(rest);
  return `${scheme}${isPlain ? rest.replace(/^[^/]*@/, '') : rest.slice(rest.lastIndexOf('@') + 1)}`;
}

function splitUrl(text: string): RemoteAddress | null {
  const [, host, path = ''] = URL_ADDRESS.exec(text) ?? [];
  if (host !== undefined) return { host, path: decodePercent(path.replace(/[?#].*$/s, '')) };
  // A password with a slash in it: the host is behind the last @, and nothing before it may be stored.
  const behind = text.slice(text.lastIndexOf('@') + 1);
  return behind === text ? null : splitUrl(behind);
}

function splitScp(text: string): RemoteAddress | null {
  const [, user, host, path] = SCP_ADDRESS.exec(text) ?? [];
  if (host === undefined || path === undefined) return null;
  const [, behind] = user === undefined ? (/^[^/]+@(.*)$/s.exec(path) ?? []) : [];
  if (behind !== undefined) return splitUrl(behind) ?? splitScp(behind);
  return { host: host.replace(/^\[([^:\]]*):\d+\]$/, '$1'), path };
}

function listSegments(path: string): string[] {
  const segments: string[] = [];
  // `user:password@` is never part of a repository's path.
  for (const segment of cleanLine(path)
    .replace(/^.*:.*@/s, '')
    .split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const last = segments.pop()?.replace(/\.git$/i, '') ?? '';
  return last === '' ? segments : [...segments, last];
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** A folder of a project: the project, the place within it, and the current state of git. */
export interface Place {
  project: Project;
  workspace: Workspace;
  /** The worktree's root on this machine, as the file system knows it. */
  root: string;
}

export function describePlace(folder: string, machine: Machine): Place {
  const { id, name, remote, root, worktree, git } = identifyProject(folder, machine);
  return {
    project: { id, name, remote: remote === null ? null : abbreviateHome(remote, machine) },
    workspace: {
      root: abbreviateHome(root, machine),
      folder: toRelativePath(root, requireFolder(resolve(machine.cwd, folder))),
      worktree,
      git: git === 'present' ? readGitFacts(root, machine) : null,
    },
    root,
  };
}

/** From `root` to `path` with forward slashes; begins with `..` when it leads out. */
export function toRelativePath(root: string, path: string): string {
  return toSlashes(relative(root, path));
}

/** The folder of the work, or its worktree's root; null when neither is here and of that project. */
export function findWorkFolder({ root, folder }: Workspace, project: Project, machine: Machine): string | null {
  const top = expandHome(root, machine);
  const isOfProject = (path: string): boolean => isFolder(path) && identifyProject(path, machine).id === project.id;
  return [join(top, folder), top].find(isOfProject) ?? null;
}

/** What the build tools of an ecosystem call their manifest. A name that begins with a dot is the end of one. */
const MANIFESTS: readonly (readonly [type: string, manifests: readonly string[]])[] = [
  ['node', ['package.json']],
  ['deno', ['deno.json', 'deno.jsonc']],
  ['python', ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'Pipfile', 'environment.yml']],
  ['rust', ['Cargo.toml']],
  ['go', ['go.mod', 'go.work']],
  ['java', ['pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts']],
  ['scala', ['build.sbt']],
  ['clojure', ['project.clj', 'deps.edn']],
  ['ruby', ['Gemfile', '.gemspec']],
  ['php', ['composer.json']],
  ['dotnet', ['.sln', '.csproj', '.fsproj', '.vbproj']],
  ['swift', ['Package.swift', '.xcodeproj']],
  ['dart', ['pubspec.yaml']],
  ['elixir', ['mix.exs']],
  ['erlang', ['rebar.config']],
  ['haskell', ['stack.yaml', 'cabal.project', '.cabal']],
  ['ocaml', ['dune-project']],
  ['zig', ['build.zig']],
  ['nim', ['.nimble']],
  ['julia', ['Project.toml']],
  ['r', ['DESCRIPTION', 'renv.lock']],
  ['perl', ['cpanfile', 'Makefile.PL']],
  ['lua', ['.rockspec']],
  ['c/c++', ['CMakeLists.txt', 'meson.build', 'configure.ac', 'conanfile.txt', 'vcpkg.json']],
  ['bazel', ['MODULE.bazel', 'WORKSPACE']],
  ['nix', ['flake.nix']],
  ['terraform', ['.tf']],
  ['make', ['Makefile', 'GNUmakefile']],
  ['docker', ['Dockerfile', 'compose.yaml', 'docker-compose.yml']],
];

/** Types that say nothing more where a real ecosystem is there. */
const FALLBACKS: ReadonlySet<string> = new Set(['make', 'docker']);

/** What kinds of project a folder holds, by the manifests in it: several where several are there. */
export function detectProjectTypes(root: string): string[] {
  const names = listNames(root);
  const known = new Set(names);
  const found = MANIFESTS.filter(([, manifests]) =>
    manifests.some((manifest) =>
      manifest.startsWith('.') ? names.some((name) => name.endsWith(manifest)) : known.has(manifest),
    ),
  ).map(([type]) => type);
  const real = found.filter((type) => !FALLBACKS.has(type));
  const types = real.length > 0 ? real : found;
  const isTypeScript = pathExists(join(root, 'tsconfig.json'));
  return types.map((type) => (type === 'node' && isTypeScript ? 'node (typescript)' : type));
}
