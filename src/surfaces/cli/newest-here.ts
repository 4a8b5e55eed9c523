import { type CatchUpResult, catchUp } from '../../app/capture/catch-up.ts';
import { HandoverError } from '../../errors.ts';
import { findUsualPause } from '../../memory/runs/pause-guard.ts';
import type { Handover } from '../../model/handover.ts';
import type { Place } from '../../platform/project.ts';
import { findProjectFolder } from '../../platform/project-file.ts';
import { listOfWorktree, requireHandover } from '../../store/find-handover.ts';
import { type Context, findStore, noteJournalFailure, withCatalog } from './context.ts';
import { reportOddRows } from './drift.ts';
import { dim } from './output.ts';

/** Captures what sessions of this worktree did since they were captured, and says so. Not while there is a PAUSE file. */
export async function catchUpHere(
  context: Context,
  { project, root }: Place,
  except: ReadonlySet<string> = new Set(),
): Promise<CatchUpResult[]> {
  const pause = findUsualPause(context.machine, findProjectFolder(root));
  if (pause !== null) {
    context.err.line(dim(`paused by ${pause.path}: no session is captured`));
    return [];
  }
  const caughtUp = await catchUp(findStore(context), { project: project.id, root }, except);
  reportCaughtUp(context, caughtUp);
  return caughtUp;
}

/** What was kept of itself is said, and what could not be. */
function reportCaughtUp(context: Context, caughtUp: readonly CatchUpResult[]): void {
  for (const { session, kept } of caughtUp) {
    reportOddRows(context.err, session.agent, kept.judgement);
    if (kept.outcome !== 'kept') continue;
    noteJournalFailure(context, kept);
    context.err.line(
      dim(`saved handover ${kept.handover.id} of a session of ${session.agent} that was not captured`),
    );
  }
}

/** The newest handover of this worktree, and not of a session that is left out, such as the one that asks; null for none. */
export async function findNewestHere(
  context: Context,
  { project, workspace }: Place,
  leftOut: ReadonlySet<string> = new Set(),
): Promise<Handover | null> {
  const store = findStore(context);
  const worktree = { project: project.id, root: workspace.root };
  const id = await withCatalog(context, store, async (catalog) => {
    for await (const row of listOfWorktree(store, catalog, worktree))
      if (row.session === null || !leftOut.has(row.session)) return row.id;
    return null;
  });
  return id === null ? null : requireHandover(store, id);
}

export function refuseUnknown({ project, workspace }: Place): HandoverError {
  return new HandoverError('HANDOVER_NOT_FOUND', `nothing is kept of ${project.name} in ${workspace.root}`, {
    hint: 'See what is kept with: handover list; make one with: handover save --summary "where things stand"',
  });
}
