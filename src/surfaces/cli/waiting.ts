import { judgeRestorable, type Restorability, readFreshness } from '../../handover/expiry.ts';
import type { Handover } from '../../model/handover.ts';
import type { Place } from '../../platform/project.ts';
import { listOfWorktree, requireHandover } from '../../store/find-handover.ts';

import { readStatus, type StatusEntry } from '../../store/status.ts';
import { type CliContext, findStore, withCatalog } from './context.ts';
import { isOfTerminal } from './terminal-flag.ts';

/** The handover that would be restored, and whether it may be. */
export interface Waiting {
  handover: Handover;
  status: StatusEntry;
  restorability: Restorability;
}

/** The newest handover of a worktree, or of one of its terminals; null when there is none. */
export async function findWaiting(
  context: CliContext,
  { project, workspace }: Place,
  terminal: string | undefined,
): Promise<Waiting | null> {
  const store = findStore(context);
  const worktree = { project: project.id, root: workspace.root };
  const id = await withCatalog(context, store, async (catalog) => {
    for await (const row of listOfWorktree(store, catalog, worktree))
      if (terminal === undefined || isOfTerminal(row, terminal)) return row.id;
    return null;
  });
  if (id === null) return null;
  const handover = requireHandover(store, id);
  const status = readStatus(store, id);
  const restorability = judgeRestorable(handover, {
    nowMs: context.machine.clock.now(),
    freshnessMs: readFreshness(context.machine.env),
    status: status.status,
  });
  return { handover, status, restorability };
}
