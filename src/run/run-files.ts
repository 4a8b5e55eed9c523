import { join } from 'node:path';
import { pathExists } from '../platform/folders.ts';
import { PROJECT_SETTINGS } from '../platform/project-folder.ts';

/** Where memory is, below a project, unless something else is declared. */
export const MEMORY_FOLDER = 'memory';

const PROJECT_FILES = [join(PROJECT_SETTINGS, 'handover.toml'), 'handover.toml'];

/** The files in a project that declare a run; the first one counts. */
export function listRunFiles(root: string): string[] {
  return PROJECT_FILES.map((file) => join(root, file)).filter(pathExists);
}
