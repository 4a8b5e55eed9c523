import { join } from 'node:path';
import type { Machine } from './machine.ts';
import { findConfigFolder } from './paths.ts';
import { PROJECT_SETTINGS } from './project-folder.ts';

const NAME = 'config.toml';

/** A file of its own, so that a hook can look whether settings have changed without what it takes to read them. */
export function pathOfUserConfig(machine: Machine): string {
  return join(findConfigFolder(machine), NAME);
}

export function pathOfProjectConfig(root: string): string {
  return join(root, PROJECT_SETTINGS, NAME);
}
