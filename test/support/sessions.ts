import { execFileSync } from 'node:child_process';

/** Tests find the invented sessions, and the index of their compactions, in test/fixtures/sessions. */
export function setup(): void {
  execFileSync(process.execPath, ['test/fixtures/sessions/write/main.mjs'], { stdio: 'inherit' });
}
