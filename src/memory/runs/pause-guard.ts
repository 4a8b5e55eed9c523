import type { Machine } from '../../platform/machine.ts';
import { findPause, type Pause, pauseError } from '../../platform/pause.ts';
import { readRunConfig, readUsableConfig } from './run-config.ts';

/** For what writes by itself and is no run. Settings that cannot be read are an error: they could name a brake. */
export function assertNotPaused(machine: Machine, root: string): void {
  const pause = findPause(machine, root, readRunConfig(machine, root).pauseFiles);
  if (pause !== null) throw pauseError(pause);
}

/** For what reads, and only writes besides: with settings that cannot be read, the usual PAUSE files count. */
export function findUsualPause(machine: Machine, root: string): Pause | null {
  return findPause(machine, root, readUsableConfig(machine, root)?.pauseFiles ?? []);
}
