import type { HookHost } from '../../agents/hook-host.ts';
import { isFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { findOnPath, readProgramVersion } from '../../platform/processes.ts';

/** What tells of an agent on this machine. No program is started. */
export interface Detection {
  /** The folder with its settings, if there is one. */
  folder: string | null;
  /** Its program in PATH. */
  program: string | null;
  version: string | null;
}

export function detectAgent(host: HookHost, machine: Machine): Detection {
  const home = host.findHome(machine);
  const program = findOnPath(host.program, machine);
  return {
    folder: home !== null && isFolder(home) ? home : null,
    program,
    version: program === null ? null : readProgramVersion(program),
  };
}

export function isDetected({ folder, program }: Detection): boolean {
  return folder !== null || program !== null;
}
