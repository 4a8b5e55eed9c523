import { join } from 'node:path';
import { pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { pathOfUserConfig } from '../../platform/paths.ts';
import { PROJECT_SETTINGS } from '../../platform/project-file.ts';

/** Where memory is, below a project, unless something else is declared. */
export const MEMORY_FOLDER = 'memory';

const PROJECT_FILES = [join(PROJECT_SETTINGS, 'handover.toml'), 'handover.toml'];

/** The files in a project that declare a run; the first one counts. */
export function listRunFiles(root: string): string[] {
  return PROJECT_FILES.map((file) => join(root, file)).filter(pathExists);
}

/** Whether there is anything that may say where things are; if not, settings need not even be loaded. */
export function hasRunSettings(machine: Machine, root: string): boolean {
  return listRunFiles(root).length > 0 || pathExists(pathOfUserConfig(machine));
}
