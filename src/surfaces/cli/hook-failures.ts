import { listFailures } from '../../app/automation/records.ts';
import { cleanLine } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import type { Finding } from '../../store/doctor/check-files.ts';
import type { Store } from '../../store/store.ts';

const LOOKED_BACK_MS = 7 * 24 * 60 * 60 * 1000;

/** What went wrong in hooks lately: one finding for each kind, as nobody was there to be told. */
export function findHookFailures(store: Store): Finding[] {
  const failures = listFailures(store.root, store.machine.clock.now() - LOOKED_BACK_MS);
  const kinds = new Map<string, typeof failures>();
  for (const failure of failures) {
    const kind = `${failure.where} ${failure.code}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), failure]);
  }
  return [...kinds].map(([kind, of]) => {
    const last = of.at(-1);
    const times = of.length === 1 ? 'once' : `${of.length} times`;
    const message = `the hook ${cleanLine(kind)} failed ${times} in the last week, last at ${formatTimestamp(last?.atMs ?? 0)}: ${cleanLine(last?.message ?? '')}`;
    return { code: 'hook-failure', level: 'warning', path: null, message, remedy: null };
  });
}
