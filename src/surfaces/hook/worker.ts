import { parseAny } from '../../agents/shared/json.ts';
import { PIPED_REPLY } from '../../app/automation/jobs.ts';
import { describeFailure, logFailure, parseRecord } from '../../app/automation/records.ts';
import { processJobs } from '../../app/automation/worker.ts';
import { describeMachine } from '../../platform/machine.ts';
import { readTimedInput } from '../../platform/timed-input.ts';
import { openStore } from '../../store/store.ts';

const KEY = /^[0-9a-f]{16}$/;
const INPUT = { maxBytes: 1024 * 1024, waitMs: 2000, isWhole: (text: string) => parseAny(text) !== undefined };

/** The worker that a hook starts: `hook.cjs --work <key of a session>`. The reply to process comes on its input. */
export async function runWorker(key: string): Promise<void> {
  if (!KEY.test(key)) return;
  const store = openStore(describeMachine(process.env, '/'));
  try {
    const read = await readTimedInput(INPUT);
    await processJobs(store, key, 'text' in read ? parseRecord(read.text, PIPED_REPLY) : null);
  } catch (error) {
    logFailure(store.root, await describeFailure(error, 'worker', store.machine.clock.now()));
  }
}
