import { join } from 'node:path';
import { isHandoverError, rescue } from '../../errors.ts';
import { backUpDocument } from '../../memory/documents.ts';
import { DOCUMENT_NAMES, listRunFiles } from '../../memory/layout.ts';
import { listArchives, listNotesMonths, listNotesOfMonth, readState } from '../../memory/read-memory.ts';
import { Checkpoint } from '../../memory/runs/checkpoint.ts';
import { findMemoryDir, readRunConfig } from '../../memory/runs/run-config.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { countNouns } from '../../model/text.ts';
import { listFolder, pathExists } from '../../platform/folders.ts';
import { identifyProject } from '../../platform/project.ts';
import { pathOfCheckpoint } from '../../platform/project-folder.ts';
import type { Store } from '../../store/store.ts';

/** A file or folder of the older tools in a project, and what becomes of it. */
interface WorkspaceFile {
  path: string;
  /** `in use`: read and written where it is. `kept`: also copied to the store. */
  outcome: 'in use' | 'kept' | 'would keep' | 'refused';
  note: string | null;
}

/** What the older Python tools left in a folder is used as it is; the three documents are also copied to the store. */
export function adoptWorkspace(store: Store, folder: string, options: { dryRun: boolean }): WorkspaceFile[] {
  return [
    ...adoptConfig(store, folder),
    ...adoptMemory(store, folder),
    ...adoptCheckpoint(store, folder),
    ...adoptDocuments(store, folder, options),
  ];
}

/** An invalid file is reported with the reason; the others are adopted. */
function attempt(path: string, work: () => WorkspaceFile): WorkspaceFile {
  return rescue(isHandoverError, ({ message }) => ({ path, outcome: 'refused', note: message }), work);
}

function adoptConfig({ machine }: Store, folder: string): WorkspaceFile[] {
  return listRunFiles(folder).map((path) =>
    attempt(path, () => {
      const { steps } = readRunConfig(machine, folder, path);
      return { path, outcome: 'in use', note: countNouns(steps.length, 'step') };
    }),
  );
}

function adoptMemory({ machine }: Store, folder: string): WorkspaceFile[] {
  const root = findMemoryDir(machine, folder);
  if (!pathExists(root)) return [];
  const memory = { root, machine };
  const months = listNotesMonths(memory);
  const notes = months.flatMap((month) => listNotesOfMonth(memory, month));
  const known = new Set(notes.map(({ path }) => path));
  const misnamed = months
    .map((month) => join(root, 'layer1', month))
    .flatMap((month) => listFolder(month).map((name) => join(month, name)))
    .filter((path) => path.endsWith('.md') && !known.has(path))
    .sort(compareCodeUnits)
    .map((path) => ({ path, outcome: 'refused', note: 'its name has no tag and date' }) as const);
  const state = readState(memory) === null ? 'no current state' : 'a current state';
  const note = `${countNouns(notes.length, 'file')} of notes, ${state}, ${countNouns(listArchives(memory).length, 'archive')}`;
  return [{ path: root, outcome: 'in use', note }, ...misnamed];
}

function adoptCheckpoint({ machine }: Store, folder: string): WorkspaceFile[] {
  const path = pathOfCheckpoint(folder);
  if (!pathExists(path)) return [];
  const use = () => ({ path, outcome: 'in use', note: new Checkpoint(path, machine).load().status }) as const;
  return [attempt(path, use)];
}

function adoptDocuments(store: Store, folder: string, { dryRun }: { dryRun: boolean }): WorkspaceFile[] {
  const project = identifyProject(folder, store.machine).id;
  return DOCUMENT_NAMES.filter((name) => pathExists(join(folder, name))).map((name) => {
    const path = join(folder, name);
    return attempt(path, () => {
      if (dryRun) return { path, outcome: 'would keep', note: null };
      return { path, outcome: 'kept', note: backUpDocument(store, { folder, project }, name) };
    });
  });
}
