import { spawn } from 'node:child_process';
import type { Env } from './machine.ts';

interface Detached {
  env: Env;
  /** What it finds on its standard input; null for nothing. */
  input: string | null;
}

const LONGEST_HANDING_MS = 500;

/**
 * Starts this Node with a script and its arguments, as a process that lives on by itself. It is not waited for, whatever
 * becomes of it, but until it was handed its input, which a system may hold for it only in part.
 */
export async function startDetached(args: readonly string[], { env, input }: Detached): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd: '/',
    detached: true,
    env: { ...env },
    stdio: [input === null ? 'ignore' : 'pipe', 'ignore', 'ignore'],
    windowsHide: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    if (child.stdin === null) {
      child.on('spawn', resolve);
      return;
    }
    // Whoever is gone before it was handed anything has no use for it.
    child.stdin.on('error', () => resolve());
    child.stdin.end(input, () => resolve());
    setTimeout(resolve, LONGEST_HANDING_MS).unref();
  });
  child.unref();
}
