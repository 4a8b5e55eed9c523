import { join } from 'node:path';
import * as v from 'valibot';
import { catchError } from '../errors.ts';
import type { VersionProbe } from '../model/fact.ts';
import { readHead } from '../platform/external-file.ts';

/** The versions that a lock file names for a dependency: empty where it has none, null where that cannot be told. */
type FindVersions = (dependency: string) => string[] | null;

/** The lock files of package managers. In a pattern, the version is the first group. */
const LOCKS: Readonly<Record<string, (text: string) => FindVersions>> = {
  'package-lock.json': openPackageLock,
  'pnpm-lock.yaml': matching((name) => `^ +'?${name}'?:\\n +specifier: .*\\n +version: ([^\\s(]{1,64})`, 'gm'),
  'yarn.lock': matching((name) => `^"?${name}@[^\\n]*:\\n +version:? "?([^"\\n]{1,64})`, 'gm'),
  'bun.lock': matching((name) => `"${name}": \\["${name}@([^"]{1,64})"`, 'g'),
  'Cargo.lock': matching((name) => `^name = "${name}"\\nversion = "([^"]{1,64})"`, 'gm'),
  'poetry.lock': matching((name) => `^name = "${name}"\\nversion = "([^"]{1,64})"`, 'gim'),
  'uv.lock': matching((name) => `^name = "${name}"\\nversion = "([^"]{1,64})"`, 'gim'),
  'go.mod': matching((name) => `^\\s*(?:require )?${name} (v\\S{1,64})`, 'gm'),
  'composer.lock': matching((name) => `"name": "${name}",\\s*"version": "([^"]{1,64})"`, 'g'),
  'Gemfile.lock': matching((name) => `^ {4}${name} \\(([^)]{1,64})\\)`, 'gm'),
  'requirements.txt': matching((name) => `^${name}==([^\\s;#]{1,64})`, 'gim'),
};

/** Where the name stands in another form than the pattern knows, nothing is said. */
function matching(print: (name: string) => string, flags: string): (text: string) => FindVersions {
  return (text) => (dependency) => {
    const name = dependency.replace(/[.+]/g, '\\$&');
    const found = [...text.matchAll(new RegExp(print(name), flags))].map(([, version = '']) => version);
    if (found.length === 0 && new RegExp(`(?<![\\w@/.-])${name}(?![\\w/-])`, 'i').test(text)) return null;
    return [...new Set(found)];
  };
}

const Entry = v.object({ version: v.string() });
const PackageLock = v.union([
  v.object({ packages: v.record(v.string(), v.unknown()) }),
  v.object({ dependencies: v.record(v.string(), v.unknown()) }),
]);

function openPackageLock(text: string): FindVersions {
  const parsed = v.safeParse(
    PackageLock,
    catchError(SyntaxError, null, (): unknown => JSON.parse(text)),
  );
  if (!parsed.success) return () => null;
  const lock = parsed.output;
  return (dependency) => {
    const entry = 'packages' in lock ? lock.packages[`node_modules/${dependency}`] : lock.dependencies[dependency];
    if (entry === undefined) return [];
    // A package of the same repository is a link, without a version.
    return v.is(Entry, entry) ? [entry.version] : null;
  };
}

const MAX_BYTES = 8 * 1024 * 1024;

/** The same of any lock file, by its name. */
export type LockReader = (lock: string, dependency: string) => string[] | null;

/** Reads each lock file of a folder once. */
export function openLocks(folder: string): LockReader {
  const opened = new Map<string, FindVersions>();
  const open = (lock: string): FindVersions => {
    const head = Object.hasOwn(LOCKS, lock) ? readHead(join(folder, lock), MAX_BYTES) : null;
    const isWhole = head !== null && head.size > 0 && head.size <= MAX_BYTES;
    const find = isWhole ? LOCKS[lock]?.(head.bytes.toString('utf8').replaceAll('\r\n', '\n')) : undefined;
    return find ?? (() => null);
  };
  return (lock, dependency) => {
    const find = opened.get(lock) ?? open(lock);
    opened.set(lock, find);
    return DEPENDENCY.test(dependency) ? find(dependency) : null;
  };
}

/**
 * The dependencies that a command installs, so far as the first lock file with one of them has one version of each. Of
 * several versions, nobody knows which was meant.
 */
export function findLocked(read: LockReader, command: string): VersionProbe | null {
  const [, list = ''] = INSTALLING.exec(command) ?? [];
  const names = list.split(/\s+/).flatMap((word) => {
    const name = word.replace(/(?<=.)@[^/]*$|[=<>~!^[].*$/, '');
    return DEPENDENCY.test(name) && !word.startsWith('-') ? [name] : [];
  });
  const wanted = [...new Set(names)].slice(0, MAX_NAMES);
  for (const lock of Object.keys(LOCKS)) {
    const [first, ...others] = wanted.flatMap((dependency) => {
      const [version, ...more] = read(lock, dependency) ?? [];
      return version === undefined || more.length > 0 ? [] : [{ dependency, version }];
    });
    if (first !== undefined) return { lock, ...first, ...(others.length === 0 ? {} : { others }) };
  }
  return null;
}

const MAX_NAMES = 20;
const DEPENDENCY = /^@?[A-Za-z0-9][\w.+/-]{0,100}$/;
const INSTALLING =
  /^(?:npm (?:i|install|add)|pnpm (?:i|install|add)|yarn add|bun (?:i|install|add)|cargo add|(?:uv )?pip3? install|uv add|poetry add|go get|composer require|bundle add)\s+(.+)$/;
