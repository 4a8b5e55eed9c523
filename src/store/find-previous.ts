import type { Predecessors } from '../handover/link.ts';
import { type Handover, isForeign, type UnstampedDraft } from '../model/handover.ts';
import { type CatalogRow, describeRow } from './catalog.ts';
import { readIntact } from './handovers.ts';
import type { CatalogOpener } from './open-catalog.ts';
import { scanHandovers } from './scan-catalog.ts';
import type { Store } from './store.ts';

/** How many of the newest handovers are read before the catalog is opened: the previous one is mostly among them. */
const NEWEST = 5;

/** Older work of the project than this many handovers is not continued. */
const ROWS_LOOKED_AT = 200;

/**
 * What a captured handover follows: the newest of the same session; else the newest of the same worktree whose session
 * was over when this one began, so that sessions side by side do not follow each other. The newest one written by hand in
 * the worktree since then joins; where nothing was captured before, it is the previous one. Imported handovers are never
 * followed. Costs a few files, or one query to the catalog.
 */
export async function findPrevious(
  store: Store,
  draft: UnstampedDraft,
  open: CatalogOpener,
): Promise<Predecessors | null> {
  const near = new Search(draft);
  let met = 0;
  for (const handover of scanHandovers(store, {}, new Map())) {
    if (near.isOver || met++ === NEWEST) break;
    near.look(describeRow(handover), () => handover);
  }
  if (near.isOver || met <= NEWEST) return near.result;
  const far = new Search(draft);
  let looked = 0;
  for await (const row of (await open()).rows({ project: { id: draft.project.id } })) {
    far.look(row, () => readIntact(store, row.id));
    if (far.isOver || ++looked === ROWS_LOOKED_AT) break;
  }
  return far.result;
}

/** A walk over handovers from the newest on. */
class Search {
  readonly #draft: UnstampedDraft;
  #byHand: Handover | null = null;
  /** The newest of an earlier session. One of the same session may still come. */
  #preceding: Predecessors | null = null;
  #ofSession: Predecessors | null = null;
  /** All that follow are older than the session, so none of them is of it. */
  #isBeforeSession = false;

  constructor(draft: UnstampedDraft) {
    this.#draft = draft;
  }

  look(row: CatalogRow, read: () => Handover | null): void {
    const { session, workspace, project } = this.#draft;
    this.#isBeforeSession = session.started_at !== null && row.created_at < session.started_at;
    if (row.project.id !== project.id) return;
    const readOwn = (): Handover | null => {
      const handover = read();
      return handover === null || isForeign(handover) ? null : handover;
    };
    if (isSameSession(row, this.#draft)) this.#ofSession = join(readOwn(), this.#byHand);
    else if (row.root !== workspace.root) return;
    else if (row.session === null) this.#byHand ??= readOwn();
    else if (wasOver(row, session.started_at)) this.#preceding ??= join(readOwn(), this.#byHand);
  }

  get isOver(): boolean {
    return this.#ofSession !== null || (this.#preceding !== null && this.#isBeforeSession);
  }

  get result(): Predecessors | null {
    return this.#ofSession ?? this.#preceding ?? join(this.#byHand, null);
  }
}

function join(previous: Handover | null, byHand: Handover | null): Predecessors | null {
  return previous === null ? null : { previous, byHand };
}

function isSameSession(row: CatalogRow, { session }: UnstampedDraft): boolean {
  if (session.id === null || row.session !== session.id) return false;
  return row.agent.toLowerCase() === session.agent.toLowerCase();
}

function wasOver(row: CatalogRow, startedAt: string | null): boolean {
  return startedAt !== null && (row.last_at ?? row.created_at) <= startedAt;
}
