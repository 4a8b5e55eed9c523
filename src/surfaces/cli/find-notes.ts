import { join } from 'node:path';
import { hasRunSettings, MEMORY_FOLDER } from '../../memory/layout.ts';
import type { Machine } from '../../platform/machine.ts';
import { findWorktreeRoot } from '../../platform/worktree.ts';
import type { NotesPlace } from '../../search/notes.ts';

/** Where the notes of the project are that a command runs in; null when its folder cannot be reached. */
export async function findNotes(machine: Machine): Promise<NotesPlace | null> {
  const folder = findWorktreeRoot(machine.cwd);
  return folder === null ? null : { folder, memoryDir: await findMemoryFolder(machine, folder) };
}

async function findMemoryFolder(machine: Machine, folder: string): Promise<string> {
  if (!hasRunSettings(machine, folder)) return join(folder, MEMORY_FOLDER);
  return (await import('../../memory/runs/run-config.ts')).findMemoryDir(machine, folder);
}
