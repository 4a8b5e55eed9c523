import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasErrno } from '../errors.ts';
import { readHead } from './external-file.ts';
import { OUT_OF_REACH, resolveRealPath } from './folders.ts';
import type { Machine } from './machine.ts';

/** The Node that runs this, by its full path. */
export function findNode(): string {
  return process.execPath;
}

/** The folder of this package: what is built lies as deep in it as what is written. */
export function findPackageFolder(): string {
  return fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
}

/** Where a program of that name is found in PATH, without starting it; null if nowhere. */
export function findProgram(name: string, { env, platform }: Machine): string | null {
  const endings = platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const path = join(folder, `${name}${ending}`);
      if (isExecutable(path)) return path;
    }
  }
  return null;
}

const MANIFEST_BYTES = 256 * 1024;
const LEVELS = 4;

/** The version in the manifest of the npm package that a program belongs to; null when it tells none. */
export function readProgramVersion(program: string): string | null {
  let folder = dirname(resolveRealPath(program) ?? program);
  for (let level = 0; level < LEVELS; level++) {
    const manifest = readHead(join(folder, 'package.json'), MANIFEST_BYTES)?.bytes.toString('utf8');
    if (manifest !== undefined) return /"version"\s*:\s*"([\w.+-]{1,64})"/.exec(manifest)?.[1] ?? null;
    folder = dirname(folder);
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (hasErrno(error, ...OUT_OF_REACH)) return false;
    throw error;
  }
}
