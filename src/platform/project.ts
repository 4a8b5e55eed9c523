import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { compareCodeUnits, shortHash } from '../model/hash.ts';
import { baseName } from '../model/paths.ts';
import { cleanLine } from '../model/text.ts';
import type { Project, Workspace } from '../model/workspace.ts';
import { listNames } from './external-file.ts';
import { isFolder, pathExists, requireFolder, resolveRealPath } from './folders.ts';
import { findMainRoot, type GitState, locateRepository, type Repository, runGitOrNull } from './git.ts';
import { cutCharacters, readGitFacts } from './git-state.ts';
import { type KnownProject, listAliases, noteProject, readKnownProjects } from './known-projects.ts';
import type { Env, Machine } from './machine.ts';
import { abbreviateHome, expandHome, toSlashes } from './paths.ts';
import { normaliseRemote } from './remote-address.ts';

export interface IdentifiedProject extends Project {
  /** The real top level of the worktree; outside git, the folder itself. */
  root: string;
  /** `w-` and eight characters; null outside git. */
  worktree: string | null;
  /** In any other state than `present` the folder counts as outside git. */
  git: GitState;
}

/** A project, and what it is recognised by when its remote or its folder is another one. */
interface FoundProject extends IdentifiedProject {
  mainRoot: string;
  repository: Repository | null;
}

const MAX_NAME_CHARACTERS = 100;

/** Also joins its ids, where it is recognised as a project that was seen with another remote or in another folder. */
export function identifyProject(folder: string, machine: Machine): IdentifiedProject {
  const { mainRoot: _, repository: __, ...project } = recogniseProject(findProject(folder, machine), machine);
  return project;
}

function findProject(folder: string, machine: Machine): FoundProject {
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
    mainRoot,
    repository,
  };
}

/**
 * A project is known by its id; else it is the one that was last seen in this folder, unless both have first commits and
 * these differ; else the only one with this first commit, unless both have a remote and it is still on this machine:
 * then one is a fork of the other.
 */
function recogniseProject(found: FoundProject, machine: Machine): FoundProject {
  const { id, remote, mainRoot, repository, root } = found;
  const known = readKnownProjects(machine);
  const own = known.find(({ ids }) => ids.includes(id));
  const here = known.find(({ folders }) => folders.includes(mainRoot));
  const isSeen = own !== undefined && own === here && own.folders.includes(root) && own.first_commits.length > 0;
  if (isSeen || (repository === null && here === undefined)) return found;
  const first = repository === null ? null : readFirstCommit(repository, machine.env);
  const isReplaced = first !== null && here !== undefined && !sharesHistory(here, first, repository, machine.env);
  const isAdopted = here !== undefined && (own === undefined || here.remotes.length === 0) && !isReplaced;
  const isKin = ({ remotes, first_commits, folders }: KnownProject): boolean =>
    first !== null &&
    first_commits.includes(first) &&
    (remote === null || remotes.length === 0 || !folders.some((folder) => isFolder(folder)));
  const kin = own === undefined && !isAdopted ? known.filter(isKin) : [];
  const joined = [
    own,
    isAdopted ? here : undefined,
    kin.length === 1 ? kin[0] : undefined,
    // A clone of a folder on this machine.
    remote === null ? undefined : known.find(({ folders }) => folders.includes(remote)),
  ].filter((one) => one !== undefined);
  // Handovers from before the remote was added name the folder.
  const before = makeProjectId(`path:${mainRoot}`);
  const isTaken = isReplaced || known.some((one) => one.ids.includes(before) && !joined.includes(one));
  noteProject(machine, {
    ids: [...new Set([...joined.flatMap(({ ids }) => ids), ...(isTaken ? [] : [before]), id])],
    remotes: remote === null ? [] : [remote],
    folders: [...new Set([mainRoot, root])],
    first_commits: first === null ? [] : [first],
  });
  return found;
}

/** The first commit on the way back from HEAD. Null without commits, and where a shallow clone does not have it. */
function readFirstCommit({ commonDir, gitDir }: Repository, env: Env): string | null {
  if (pathExists(join(commonDir, 'shallow'))) return null;
  const query = ['log', '--first-parent', '--max-parents=0', '--format=%H', 'HEAD'];
  const result = runGitOrNull(query, { cwd: gitDir, env, maxBytes: 4096 });
  const [, commit = null] = /^([0-9a-f]{40,64})\n/.exec(result?.stdout.toString('utf8') ?? '') ?? [];
  return commit;
}

/** Whether a repository has the history that a project was seen with; an amended first commit stays for some time. */
function sharesHistory(
  { first_commits: commits }: KnownProject,
  first: string,
  repository: Repository | null,
  env: Env,
): boolean {
  if (commits.length === 0 || commits.includes(first) || repository === null) return true;
  return commits.some((commit) => hasCommit(repository.gitDir, commit, env));
}

/** Whether a repository has a commit, named by its whole hash. */
export function hasCommit(cwd: string, commit: string, env: Env): boolean {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return false;
  return runGitOrNull(['cat-file', '-e', `${commit}^{commit}`], { cwd, env })?.status === 0;
}

/**
 * The project of a folder that is gone: that of the repository which it was in, by what is left of its path or by what
 * was seen of it before. Null when there is none on this machine any more.
 */
export function identifyLost(folder: string, machine: Machine): IdentifiedProject | null {
  const isWithin = (root: string): boolean => folder === root || folder.startsWith(`${root}${sep}`);
  const known = readKnownProjects(machine).flatMap((project) => project.folders.map((root) => ({ root, project })));
  const [seen] = known.filter(({ root }) => isWithin(root)).sort((a, b) => b.root.length - a.root.length);
  const left = findExisting(folder);
  const above = left === null ? null : locateRepository(left, machine.env);
  const top = above?.state === 'present' ? above.top : null;
  if (seen !== undefined && seen.root.length > (top?.length ?? 0)) {
    const now = seen.project.folders.findLast((root) => isFolder(root));
    return now === undefined ? null : identifyProject(now, machine);
  }
  // A home folder may be in git for its settings: what was below it is not of that.
  const home = machine.home === undefined ? null : resolveRealPath(machine.home);
  return top === null || left === null || top === home ? null : identifyProject(left, machine);
}

function findExisting(folder: string): string | null {
  for (let path = folder; ; path = dirname(path)) {
    if (isFolder(path)) return resolveRealPath(path);
    if (dirname(path) === path) return null;
  }
}

/** The project of a folder that does not exist here: it was removed, or is on another machine. */
export function nameLostProject(folder: string): Project {
  return { id: makeProjectId(`path:${folder}`), name: nameProject(baseName(folder)), remote: null };
}

function describeFolder(root: string, git: GitState): FoundProject {
  const id = makeProjectId(`path:${root}`);
  return { id, name: nameProject(root), root, remote: null, worktree: null, git, mainRoot: root, repository: null };
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

/** A folder of a project: the project, the place within it, and the current state of git. */
export interface Place {
  project: Project;
  workspace: Workspace;
  /** The worktree's root on this machine, as the file system knows it. */
  root: string;
}

export function describePlace(folder: string, machine: Machine): Place {
  const { id, name, remote, root, worktree, repository } = recogniseProject(findProject(folder, machine), machine);
  const known = repository === null || repository.top === null ? {} : { repository };
  return {
    project: { id, name, remote: remote === null ? null : abbreviateHome(remote, machine) },
    workspace: {
      root: abbreviateHome(root, machine),
      folder: toRelativePath(root, requireFolder(resolve(machine.cwd, folder))),
      worktree,
      git: repository === null ? null : readGitFacts(root, machine, known),
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
  return findOfProject([join(top, folder), top], project, machine);
}

/** The same; where the work was done on another machine, the clone of the project that was seen first on this one. */
export function findFolderToWorkIn(workspace: Workspace, project: Project, machine: Machine): string | null {
  const known = readKnownProjects(machine).find(({ ids }) => ids.includes(project.id));
  return findWorkFolder(workspace, project, machine) ?? findOfProject(known?.folders ?? [], project, machine);
}

function findOfProject(folders: readonly string[], project: Project, machine: Machine): string | null {
  const ids = new Set(listAliases(machine, project.id));
  return folders.find((path) => isFolder(path) && ids.has(identifyProject(path, machine).id)) ?? null;
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
