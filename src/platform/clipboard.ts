import { spawnSync } from 'node:child_process';
import type { Machine } from './machine.ts';
import { findOnPath } from './processes.ts';

const TIMEOUT_MS = 5000;

const X11 = [
  ['xclip', '-selection', 'clipboard'],
  ['xsel', '--clipboard', '--input'],
];

/** Programs that copy what they read, with their arguments. Those of a display that is not there would wait for it. */
function listPrograms({ env, platform }: Machine): string[][] {
  if (platform === 'darwin') return [['pbcopy']];
  if (platform === 'win32') return [['clip']];
  return [...(env.WAYLAND_DISPLAY ? [['wl-copy']] : []), ...(env.DISPLAY ? X11 : []), ['clip.exe']];
}

/** Copies a text with the first program that can, and returns its name; null where none can. */
export function copyText(text: string, machine: Machine): string | null {
  for (const [name = '', ...args] of listPrograms(machine)) {
    const program = findOnPath(name, machine);
    if (program === null) continue;
    const input = Buffer.from(text, name.startsWith('clip') ? 'utf16le' : 'utf8');
    // Some stay to serve the clipboard, so their output must not be waited for.
    const { status } = spawnSync(program, args, {
      input,
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: TIMEOUT_MS,
      env: { ...machine.env },
    });
    if (status === 0) return name;
  }
  return null;
}
