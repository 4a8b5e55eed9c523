import { findPause, type Pause } from '../../platform/pause.ts';
import { describePause } from '../../run/engine.ts';
import { readRunConfig } from '../../run/run-config.ts';
import type { Call } from './call.ts';

export function findPauseHere({ machine }: Call, root: string): Pause | null {
  return findPause(machine, root, readRunConfig(machine, root).pauseFiles);
}

/** While a PAUSE file is there, this server writes nothing. */
export function refuseWhenPaused(call: Call, root: string): void {
  const pause = findPauseHere(call, root);
  if (pause !== null) throw describePause(pause);
}
