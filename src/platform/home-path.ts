import { join, sep } from 'node:path';
import { resolveRealPath } from './folders.ts';
import type { Machine } from './machine.ts';

/** With `~` for the home folder, so that what is kept does not tell who the user is. */
export function abbreviateHome(path: string, machine: Machine): string {
  if (machine.home === undefined) return path;
  for (const home of [machine.home, resolveRealPath(machine.home)]) {
    if (path === home) return '~';
    if (home !== null && path.startsWith(`${home}${sep}`))
      return `~/${toSlashes(path.slice(home.length + 1))}`;
  }
  return path;
}

/** Undoes `abbreviateHome` on the machine where it is asked. */
export function expandHome(path: string, machine: Machine): string {
  if (machine.home === undefined || !/^~(?:\/|$)/.test(path)) return path;
  return join(machine.home, path.slice(1));
}

export function toSlashes(path: string): string {
  return sep === '/' ? path : path.split(sep).join('/');
}
