import type { Machine } from '../../platform/machine.ts';
import { findPause, type Pause, pauseError } from '../../platform/pause.ts';
import { readRunConfig, readUsableConfig } from './run-config.ts';

/** For commands that write without a run. Unreadable settings are an error: they could name a PAUSE file. */
export function assertNotPaused(machine: Machine, root: string): void {
  const pause = findPause(machine, root, readRunConfig(machine, root).pauseFiles);
  if (pause !== null) throw pauseError(pause);
}

/** For commands that mainly read: with unreadable settings only the default PAUSE files count. */
export function findUsualPause(machine: Machine, root: string): Pause | null {
  return findPause(machine, root, readUsableConfig(machine, root)?.pauseFiles ?? []);
}
