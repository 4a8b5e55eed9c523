import { findDialect } from '../../agents/hook-dialects.ts';
import { readTail, statFile } from '../../platform/external-file.ts';
import { sleep } from '../../platform/machine.ts';
import type { CaptureNote } from './spool.ts';

const STEP_MS = 50;
const LONGEST_MS = 1500;
/** An agent that writes behind its hook has written all when it wrote nothing for so long. */
const QUIET_MS = 600;
const TAIL_BYTES = 512 * 1024;

/**
 * Agents call a hook when a turn is over, some of them before they have written it down. Waits until the transcript holds
 * the last answer, or has come to rest. Nobody waits for the worker.
 */
export function awaitTranscript(path: string, { agent, moment }: CaptureNote, reply: string | null): void {
  if (moment !== 'turn') return;
  if (reply !== null) {
    const words = JSON.stringify(reply.trim()).slice(1, -1).slice(-200);
    waitUntil(() => readTail(path, TAIL_BYTES)?.includes(words) ?? true);
  } else if (findDialect(agent)?.lags === true) {
    let quiet = 0;
    let size = statFile(path)?.size;
    waitUntil(() => {
      const now = statFile(path)?.size;
      quiet = now === size ? quiet + STEP_MS : 0;
      size = now;
      return quiet >= QUIET_MS;
    });
  }
}

function waitUntil(isDone: () => boolean): void {
  for (let waited = 0; waited < LONGEST_MS && !isDone(); waited += STEP_MS) sleep(STEP_MS);
}
