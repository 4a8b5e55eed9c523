import { spawn } from 'node:child_process';
import type { Env } from './machine.ts';

/** Starts this Node on a script, as a process that lives on by itself. It is not waited for, whatever becomes of it. */
export async function startDetached(script: string, args: readonly string[], env: Env): Promise<void> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: '/',
    detached: true,
    env: { ...env },
    stdio: 'ignore',
    windowsHide: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.on('spawn', resolve);
    child.on('error', reject);
  });
  child.unref();
}
