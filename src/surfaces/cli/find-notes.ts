import type { Machine } from '../../platform/machine.ts';
import { findMemoryDir } from '../../run/run-config.ts';
import type { NotesPlace } from '../../search/notes.ts';
import { findWorktreeRoot } from '../../workspace/worktree-root.ts';

/** Where the notes of the project are that a command runs in; null when its folder cannot be reached. */
export function findNotes(machine: Machine): NotesPlace | null {
  const folder = findWorktreeRoot(machine.cwd);
  return folder === null ? null : { folder, memoryDir: findMemoryDir(machine, folder) };
}
