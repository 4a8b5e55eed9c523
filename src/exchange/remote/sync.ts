import { findWriter, type Handover } from '../../model/handover.ts';
import { formatTimestamp } from '../../model/time.ts';
import { withAsyncLock } from '../../platform/async-lock.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { finishForgetting } from '../../store/handovers.ts';
import { finishImports } from '../../store/pending-imports.ts';
import { LOCKS } from '../../store/store.ts';
import { pullOthers, pullOwn } from './pull.ts';
import { isOwnOf, listOutgoing, type Outgoing, push, sendAgain } from './push.ts';
import type { Waiting } from './state.ts';
import { agentOf, type SyncOptions, type SyncReport, SyncRun } from './sync-run.ts';

export type SyncResult = SyncReport & {
  /** Projects that the remote does not let this store write, and of which something was to be sent. */
  refused: string[];
  waiting: Waiting[];
  missing: number;
};

/**
 * Syncs a store with a remote. It may be killed at any point: the next sync continues. Stores converge because nothing that was
 * written is changed: handovers are identified by id, journal entries by their content, and forgotten handovers stay forgotten.
 * One sync at a time in a store: what was forgotten through one remote must not come back through another.
 */
export async function syncStore(options: SyncOptions): Promise<SyncResult> {
  const { store } = options;
  const { clock } = store.machine;
  const folder = ensurePrivateFolder(store.root, LOCKS);
  return await withAsyncLock({ folder, name: 'sync', clock, onWait: options.onWait }, async () => {
    finishImports(store);
    finishForgetting(store);
    const run = new SyncRun(options, (await options.remote.listPermitted?.()) ?? null);
    const heads = await options.remote.listLogs();
    await pullOwn(run, heads);
    await push(run);
    if (options.verifies && (await sendAgain(run)) > 0) run.note('what was missing or damaged there was sent again');
    await pullOthers(run, heads);
    run.state.last_sync = formatTimestamp(clock.now());
    run.save({ isSent: true });
    return {
      ...run.report,
      refused: [...run.refused],
      waiting: run.state.waiting,
      missing: run.state.missing.length + run.state.holes.length,
    };
  });
}

/** Whether this handover is on the remote once it was synced: it is sent from here, or comes from a writer who is there. */
export function isShared(options: SyncOptions, handover: Handover): boolean {
  const run = new SyncRun(options);
  const { id: project } = handover.project;
  if (isOwnOf(run, handover)) return run.maySend(project, agentOf(handover));
  const writer = findWriter(handover);
  return writer !== null && run.findCursor({ writer, project }).number > 0;
}

/** What would be sent. Writes nothing and contacts nobody, so it includes what another store with the same key has sent. */
export async function previewSync(options: SyncOptions): Promise<Outgoing[]> {
  const items: Outgoing[] = [];
  for await (const item of listOutgoing(new SyncRun(options))) items.push({ ...item, body: null });
  return items;
}
