import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const TRIES = 100;

/** Removes a folder in which a worker that a hook left behind may still be writing. */
export async function removeFolder(folder: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY';
      if (!isBusy || tries === TRIES) throw error;
      await wait(100);
    }
  }
}
