import { spawn } from 'node:child_process';
import type { Env } from './machine.ts';

const MAX_INPUT_MS = 500;

/**
 * Starts this Node with a script as a process that outlives this one. Waits only until the input is written to its pipe,
 * for half a second at most; `input` is null for none. By itself in a file because hooks load it only when they need it.
 */
export async function startDetached(
  args: readonly string[],
  { env, input }: { env: Env; input: string | null },
): Promise<void> {
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
    // A child that ended before it read its input does not need it.
    child.stdin.on('error', () => resolve());
    child.stdin.end(input, () => resolve());
    setTimeout(resolve, MAX_INPUT_MS).unref();
  });
  child.unref();
}
