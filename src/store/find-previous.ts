import type { Predecessors } from '../handover/link.ts';
import { type Handover, isForeign, type UnstampedDraft } from '../model/handover.ts';
import { type CatalogRow, describeRow } from './catalog.ts';
import { readIntact } from './handovers.ts';
import type { CatalogOpener } from './open-catalog.ts';
import { scanHandovers } from './scan-catalog.ts';
import type { Store } from './store.ts';

/** What a line goes on from is mostly among the newest, which need no index to be found. */
const NEWEST = 5;

/** A line of work that was left for so many handovers of its project is not taken up again. */
const ROWS_LOOKED_AT = 200;

/**
 * What a captured handover follows: the newest kept of the same session; else the newest of the same worktree whose
 * session was over when this one began. What came in a bundle is never followed. Sessions that ran side by side do not follow each other. The newest that was
 * written by hand in the worktree since then joins; where nothing was captured before, it is what is followed.
 * Costs a few files, or one question to the catalog.
 */
export async function findPrevious(
  store: Store,
  draft: UnstampedDraft,
  open: CatalogOpener,
): Promise<Predecessors | null> {
  const near = startSearch(draft);
  let met = 0;
  for (const handover of scanHandovers(store, {}, new Map())) {
    if (isOver(near) || met++ === NEWEST) break;
    look(near, describeRow(handover), () => ownOrNull(handover));
  }
  if (isOver(near) || met <= NEWEST) return conclude(near);
  const far = startSearch(draft);
  let looked = 0;
  for await (const row of (await open()).rows({ project: { id: draft.project.id } })) {
    look(far, row, () => ownOrNull(readIntact(store, row.id)));
    if (isOver(far) || ++looked === ROWS_LOOKED_AT) break;
  }
  return conclude(far);
}

/** A walk over handovers from the newest on. */
interface Search {
  draft: UnstampedDraft;
  byHand: Handover | null;
  /** The newest of an earlier session. One of the same session may still come. */
  preceding: Predecessors | null;
  /** Of the same session. */
  own: Predecessors | null;
  /** All that come now are older than the session, so none of them is of it. */
  isBeforeSession: boolean;
}

function startSearch(draft: UnstampedDraft): Search {
  return { draft, byHand: null, preceding: null, own: null, isBeforeSession: false };
}

function look(search: Search, row: CatalogRow, read: () => Handover | null): void {
  const { session, workspace, project } = search.draft;
  search.isBeforeSession = session.started_at !== null && row.created_at < session.started_at;
  if (row.project.id !== project.id) return;
  if (isSameSession(row, search.draft)) search.own = makeLine(read(), search.byHand);
  else if (row.root !== workspace.root) return;
  else if (row.session === null) search.byHand ??= read();
  else if (wasOver(row, session.started_at)) search.preceding ??= makeLine(read(), search.byHand);
}

function isOver({ own, preceding, isBeforeSession }: Search): boolean {
  return own !== null || (preceding !== null && isBeforeSession);
}

function conclude({ own, preceding, byHand }: Search): Predecessors | null {
  return own ?? preceding ?? makeLine(byHand, null);
}

function makeLine(previous: Handover | null, byHand: Handover | null): Predecessors | null {
  return previous === null ? null : { previous, byHand };
}

function isSameSession(row: CatalogRow, { session }: UnstampedDraft): boolean {
  if (session.id === null || row.session !== session.id) return false;
  return row.agent.toLowerCase() === session.agent.toLowerCase();
}

function wasOver(row: CatalogRow, startedAt: string | null): boolean {
  return startedAt !== null && (row.last_at ?? row.created_at) <= startedAt;
}

/** What came in a bundle is somebody else's, and not followed. */
function ownOrNull(handover: Handover | null): Handover | null {
  return handover === null || isForeign(handover) ? null : handover;
}
