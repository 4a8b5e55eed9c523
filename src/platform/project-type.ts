import { join } from 'node:path';
import { listNames } from './external-file.ts';
import { pathExists } from './folders.ts';

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
