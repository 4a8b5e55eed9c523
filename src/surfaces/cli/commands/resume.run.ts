import { compileBrief } from '../../../brief/compile.ts';
import { type CaughtUp, catchUp } from '../../../capture/catch-up.ts';
import { HandoverError } from '../../../errors.ts';
import { findChanges } from '../../../handover/find-changes.ts';
import type { ChangesSince } from '../../../model/changes-since.ts';
import type { Handover } from '../../../model/handover.ts';
import { readMarked } from '../../../store/marks.ts';
import { requireHandover } from '../../../store/resolve.ts';
import { listOfWorktree } from '../../../store/worktree.ts';
import { describePlace, type Place } from '../../../workspace/place.ts';
import { listRunningSessions } from '../agents.ts';
import { type CliContext, findStore, noteJournalFailure, withCatalog } from '../context.ts';
import { reportOddRows } from '../drift.ts';
import { dim } from '../output.ts';
import { readBriefFlags } from '../readers.ts';
import type { ResumeFlags } from './resume.ts';

export async function runResume(this: CliContext, flags: ResumeFlags, folder = '.'): Promise<void> {
  const { reader, options } = readBriefFlags(flags);
  const store = findStore(this);
  const place = describePlace(folder, this.machine);
  const running = listRunningSessions(this.machine.env);
  const caughtUp = await catchUp(store, { project: place.project.id, root: place.root }, running);
  reportCaughtUp(this, caughtUp);
  const handover = await findNewest(this, place, running);
  const changes = findChanges(handover, place, this.machine);
  const brief = compileBrief(readMarked(store, handover), reader, { ...options, changes });
  if (!flags.json) {
    this.out.block(brief.text);
    return;
  }
  this.out.json({
    id: handover.id,
    target: reader.agent,
    budget: options.budget,
    tokens: brief.tokens,
    left_out: brief.leftOut.map((fact) => fact.id),
    changed: changesToJson(changes),
    caught_up: caughtUp.map(({ session, kept }) => ({
      agent: session.agent,
      session: session.id,
      outcome: kept.outcome,
      id: kept.outcome === 'refused' ? null : kept.handover.id,
    })),
    text: brief.text,
  });
}

function changesToJson({ ageMs, branch, head, files }: ChangesSince): unknown {
  return { age_seconds: Math.floor(ageMs / 1000), branch, head, files };
}

/** What was kept of itself is said, and what could not be. */
function reportCaughtUp(context: CliContext, caughtUp: readonly CaughtUp[]): void {
  for (const { session, kept } of caughtUp) {
    reportOddRows(context.err, session.agent, kept.judgement);
    if (kept.outcome !== 'kept') continue;
    noteJournalFailure(context, kept);
    context.err.line(
      dim(`saved handover ${kept.handover.id} of a session of ${session.agent} that was not captured`),
    );
  }
}

/** Of this worktree, and not of the session that asks. */
async function findNewest(
  context: CliContext,
  { project, workspace }: Place,
  running: ReadonlySet<string>,
): Promise<Handover> {
  const store = findStore(context);
  const worktree = { project: project.id, root: workspace.root };
  const id = await withCatalog(context, store, async (catalog) => {
    for await (const row of listOfWorktree(store, catalog, worktree))
      if (row.session === null || !running.has(row.session)) return row.id;
    return null;
  });
  if (id !== null) return requireHandover(store, id);
  throw new HandoverError('HANDOVER_NOT_FOUND', `nothing is kept of ${project.name} in ${workspace.root}`, {
    hint: 'See what is kept with: handover list; make one with: handover save --summary "where things stand"',
  });
}
