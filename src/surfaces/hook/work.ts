import { parseAny } from '../../agents/shared/json.ts';
import { describeFailure, logFailure } from '../../app/automation/log.ts';
import { parseRecord } from '../../app/automation/small-records.ts';
import { HANDED_EXAMPLE, type Handed } from '../../app/automation/spool.ts';
import { workOff } from '../../app/automation/work.ts';
import { describeMachine } from '../../platform/machine.ts';
import { readTimedInput } from '../../platform/timed-input.ts';
import { openStore } from '../../store/store.ts';

const KEY = /^[0-9a-f]{16}$/;
const INPUT = {
  maxBytes: 1024 * 1024,
  waitMs: 2000,
  isWhole: (text: string) => parseAny(text) !== undefined,
};

/**
 * The worker that a hook leaves behind: `hook.cjs --work <key of a session>`. What it is handed is on its standard input.
 * Nobody sees what it prints.
 */
export async function runWorker(key: string): Promise<void> {
  if (!KEY.test(key)) return;
  const store = openStore(describeMachine(process.env, '/'));
  try {
    await workOff(store, key, await readHanded());
  } catch (error) {
    logFailure(store.root, describeFailure(error, 'worker', store.machine.clock.now()));
  }
}

async function readHanded(): Promise<Handed | null> {
  const read = await readTimedInput(INPUT);
  return 'text' in read ? parseRecord(read.text, HANDED_EXAMPLE) : null;
}
