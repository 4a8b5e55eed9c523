import { HandoverError, notFoundError } from '../errors.ts';
import { type Brief, type BriefOptions, compileBrief } from '../handover/brief/compile.ts';
import type { Reader } from '../handover/brief/reader.ts';
import { judgeRestorable, type Restorability, readFreshness } from '../handover/expiry.ts';
import type { Handover } from '../model/handover.ts';
import { describePlace, type Place } from '../platform/project.ts';
import type { CatalogRow } from '../store/catalog.ts';
import { readMarked } from '../store/marks.ts';
import { moveStatus, readStatus, type StatusEntry } from '../store/status.ts';
import { type Context, findStore, listRunningSessions } from './context.ts';
import { findNewestHere, isFromTerminal, suggestNext } from './find-handover.ts';
import { findChangesHere } from './resume.ts';

/** The handover that `restore` would take, and whether it may. */
export interface RestoreCandidate {
  handover: Handover;
  status: StatusEntry;
  restorability: Restorability;
}

/** The newest handover of a worktree, or of one of its terminals; null when there is none. */
export async function findRestoreCandidate(
  context: Context,
  place: Place,
  terminal: string | undefined,
): Promise<RestoreCandidate | null> {
  const accepts = (row: CatalogRow): boolean => terminal === undefined || isFromTerminal(row, terminal);
  const handover = await findNewestHere(context, place, { accepts });
  if (handover === null) return null;
  const status = readStatus(findStore(context), handover.id);
  const { clock, env } = context.machine;
  const state = { nowMs: clock.now(), freshnessMs: readFreshness(env), status: status.status };
  return { handover, status, restorability: judgeRestorable(handover, state) };
}

/** Takes the newest handover of this worktree, once: its status moves before the brief is handed out. */
export async function restoreHere(
  context: Context,
  { terminal, reader, options }: { terminal: string | undefined; reader: Reader; options: BriefOptions },
): Promise<{ handover: Handover; brief: Brief }> {
  const store = findStore(context);
  const place = describePlace('.', context.machine);
  const candidate = await findRestoreCandidate(context, place, terminal);
  if (candidate === null)
    throw notFoundError(`${place.project.name} has no handover to restore`, await suggestNext(store, { folder: '.' }));
  const { handover, restorability } = candidate;
  const [session] = listRunningSessions(context.machine.env);
  if (!restorability.ok) {
    const { reason, becomes } = restorability;
    if (becomes !== null) moveStatus(store, handover.id, { to: becomes, session, reason });
    throw new HandoverError(
      becomes === null ? 'HANDOVER_STATUS_FINAL' : 'HANDOVER_STALE',
      `handover ${handover.id} is not restored: ${reason}`,
      { hint: 'To read it anyway, with what changed since: handover resume', data: { id: handover.id } },
    );
  }
  const changes = findChangesHere(handover, place, context.machine);
  const brief = compileBrief(readMarked(store, handover), reader, { ...options, changes });
  moveStatus(store, handover.id, { to: 'consumed', session });
  return { handover, brief };
}
