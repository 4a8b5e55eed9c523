import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { listFiles } from './source-files.ts';

/** Commands are tested as they are shipped, so what is built must not be older than the source. */
export function setup(): void {
  const built = Math.min(...['dist/cli/main.cjs', 'dist/lib/index.mjs', 'dist/report/page.html'].map(changedAt));
  const sources = listFiles('src', '.ts', '.html', '.css');
  const written = Math.max(...[...sources, 'tsdown.config.ts', 'package.json'].map(changedAt));
  if (built < written) {
    execFileSync('npm', ['run', '--silent', 'build'], {
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
  }
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
