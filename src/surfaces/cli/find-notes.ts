import { join } from 'node:path';
import { pathOfUserConfig } from '../../config/config-paths.ts';
import { pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { listRunFiles, MEMORY_FOLDER } from '../../run/run-files.ts';
import type { NotesPlace } from '../../search/notes.ts';
import { findWorktreeRoot } from '../../workspace/worktree-root.ts';

/** Where the notes of the project are that a command runs in; null when its folder cannot be reached. */
export async function findNotes(machine: Machine): Promise<NotesPlace | null> {
  const folder = findWorktreeRoot(machine.cwd);
  return folder === null ? null : { folder, memoryDir: await findMemoryFolder(machine, folder) };
}

/** Reading settings takes longer than a search: where there are none, they are not even loaded. */
async function findMemoryFolder(machine: Machine, folder: string): Promise<string> {
  if (listRunFiles(folder).length === 0 && !pathExists(pathOfUserConfig(machine)))
    return join(folder, MEMORY_FOLDER);
  return (await import('../../run/run-config.ts')).findMemoryDir(machine, folder);
}
