import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'vitest';
import { catchErrno } from '../../src/errors.ts';

/** Tests for each newer Node that is supported; where one cannot be had, they say so. */
export function describeOnNewerNodes(name: string, define: (node: string) => void): void {
  describe.each([22, 24])(name, (major) => {
    const node = fetchNode(major);
    if (node !== null) define(node);
    else it.skip(`is not tested: Node ${major} cannot be fetched from the package registry here`);
  });
}

/** The path of another Node, from the package registry, kept in .cache; null where it cannot be had. */
function fetchNode(major: number): string | null {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const cache = resolve('.cache', 'nodes');
  const folder = join(cache, String(major));
  const program = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  // Test files run side by side: each installs for itself, and the first to be done gives it its name.
  const own = mkdtempSync(join(cache, `${major}-`));
  try {
    writeFileSync(join(own, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-save', `${name}@${major}`], {
      cwd: own,
      stdio: 'pipe',
    });
    catchErrno(['ENOTEMPTY', 'EEXIST', 'EPERM'], undefined, () => renameSync(own, folder));
  } catch (error) {
    // With no registry in reach there is nothing to test with; in CI that is a failure.
    if (process.env.CI || !(error instanceof Error)) throw error;
    return null;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  return existsSync(program) ? program : null;
}
