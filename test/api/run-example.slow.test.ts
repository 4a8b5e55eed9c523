import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGit, runProcess } from '../support/cli.ts';
import { logOf, makeGitSandbox } from '../support/publishing.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Inside of the package, so that the example finds it by its name. */
const folder = join(ROOT, 'dist', 'example');
const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/runs.md'), 'utf8')) ?? [];

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'example.mts'), example);
  writeFileSync(join(folder, 'example.mjs'), example);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the library example in docs/runs.md', () => {
  it('compiles', { timeout: 240_000 }, () => {
    expect(example).toContain('new HandoverEngine');
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2023',
    ];
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    execFileSync(process.execPath, [tsc, ...options, '--types', 'node', join(folder, 'example.mts')], {
      cwd: ROOT,
    });
  });

  it('runs with the documented result', async () => {
    const sandbox = makeGitSandbox();
    const { status, stdout, stderr } = await runProcess([process.execPath, join(folder, 'example.mjs')], {
      cwd: sandbox.project,
      env: sandbox.env,
    });
    expect(stderr).toBe('');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'session_note, current_state, publish\n' });
    expect(logOf(sandbox.project, 'HEAD')).toEqual(['handover: session sync', 'First']);
    expect(runGit(sandbox.project, 'status', '--porcelain', 'memory')).toBe('');
    expect((await sandbox.run(['check'])).status).toBe(2);
  });
});
