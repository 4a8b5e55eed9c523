import { basename, dirname } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { cleanLine } from '../../model/text.ts';
import { removeFile, syncFolder } from '../../platform/durable-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { pathOfGlobalPause, pathOfProjectPause } from '../../platform/pause.ts';
import { ensureProjectFolder, writeProjectFile } from '../../platform/project-file.ts';

/** The brake of one project, given by its folder, or of everything that this user runs. */
export type PauseReach = { root: string } | 'everywhere';

export function setPause(machine: Machine, reach: PauseReach, why: string): string {
  const path = pathOf(machine, reach);
  const folder = dirname(path);
  ensureProjectFolder(dirname(folder), basename(folder));
  writeProjectFile(path, `${cleanLine(why)}\n`);
  return path;
}

/** False when it was not set. */
export function clearPause(machine: Machine, reach: PauseReach): boolean {
  const path = pathOf(machine, reach);
  const wasSet = removeFile(path);
  if (wasSet) syncFolder(dirname(path));
  return wasSet;
}

function pathOf(machine: Machine, reach: PauseReach): string {
  const path = reach === 'everywhere' ? pathOfGlobalPause(machine) : pathOfProjectPause(reach.root);
  if (path !== null) return path;
  throw new HandoverError('HANDOVER_HOME_UNKNOWN', 'there is no home folder to put a PAUSE file in', {
    hint: 'Set HOME, or pause one project: handover pause',
  });
}
