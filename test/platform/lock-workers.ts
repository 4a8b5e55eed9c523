import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { afterAll, afterEach, beforeAll } from 'vitest';

interface WorkerStart {
  preload?: string;
  args: readonly (string | number)[];
}

/** Processes that take locks. They are killed after each test. */
export interface LockWorkers {
  /** Removed after the tests of the file. */
  root: string;
  /** Runs a script of `workers` with the code under test. */
  start(script: string, start: WorkerStart): ChildProcess;
  /** The same by a shell, which runs `setup` first. */
  startAfter(setup: string, script: string, ...args: string[]): ChildProcess;
}

/** To be called once by a test file. */
export function prepareLockWorkers(): LockWorkers {
  const root = mkdtempSync(join(tmpdir(), 'handover-lock-'));
  const bundle = join(root, 'lock.mjs');
  const children: ChildProcess[] = [];
  const spawnNode = (program: string, args: readonly string[]): ChildProcess => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    return child;
  };

  beforeAll(async () => {
    const input = fileURLToPath(new URL('../../src/platform/lock.ts', import.meta.url));
    await build({ input, platform: 'node', output: { file: bundle, format: 'esm' }, logLevel: 'warn' });
  });

  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    }
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const findWorker = (script: string): URL => new URL(`./workers/${script}`, import.meta.url);
  const command = (script: string): string[] => [fileURLToPath(findWorker(script)), pathToFileURL(bundle).href];
  return {
    root,
    start: (script, { preload, args }) => {
      const flags = preload === undefined ? [] : ['--import', findWorker(preload).href];
      return spawnNode(process.execPath, [...flags, ...command(script), ...args.map(String)]);
    },
    startAfter: (setup, script, ...args) =>
      spawnNode('sh', ['-c', `${setup}; exec "$0" "$@"`, process.execPath, ...command(script), ...args]),
  };
}

export async function waitForEnd(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.signalCode ?? child.exitCode;
}
