import { describeMachine } from '../../platform/machine.ts';
import { describeFailure, logFailure } from '../../relay/log.ts';
import { workOff } from '../../relay/work.ts';
import { openStore } from '../../store/store.ts';

const KEY = /^[0-9a-f]{16}$/;

/** The worker that a hook leaves behind: `hook.cjs --work <key of a session>`. Nobody sees what it prints. */
export async function runWorker(key: string): Promise<void> {
  if (!KEY.test(key)) return;
  const store = openStore(describeMachine(process.env, '/'));
  try {
    await workOff(store, key);
  } catch (error) {
    logFailure(store.root, describeFailure(error, 'worker', store.machine.clock.now()));
  }
}
