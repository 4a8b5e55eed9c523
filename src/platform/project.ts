import { basename, join, relative, resolve } from 'node:path';
import { compareCodeUnits, shortHash } from '../model/hash.ts';
import { baseName } from '../model/paths.ts';
import { cleanLine } from '../model/text.ts';
import type { Project, Workspace } from '../model/workspace.ts';
import { listNames } from './external-file.ts';
import { isFolder, pathExists, requireFolder } from './folders.ts';
import { findMainRoot, type GitState, locateRepository, type Repository, runGitOrNull } from './git.ts';
import { cutCharacters, readGitFacts } from './git-state.ts';
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
