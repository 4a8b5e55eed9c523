import { HandoverError } from '../errors.ts';
import type { Predecessors } from '../handover/link.ts';
import { type Handover, isForeign, type UnstampedDraft } from '../model/handover.ts';
import { isHandoverId, isIdPrefix } from '../model/id.ts';
import { cleanLine, cutToBytes } from '../model/text.ts';
import { type Catalog, type CatalogRow, describeRow, type ProjectMatch, takeRows } from './catalog.ts';
import { hasHandover, readHandover, readIntact } from './handovers.ts';
import { latestPlausible } from './journal.ts';
import { readMarked } from './marks.ts';
import { sortByWork } from './newest.ts';
import { type CatalogOpener, withCatalogOpener } from './open-catalog.ts';
import { scanHandovers } from './scan-catalog.ts';
import type { Store } from './store.ts';

/** How many of the newest handovers are read before the catalog is opened: the previous one is mostly among them. */
const NEWEST = 5;

/** Older work of the project than this many handovers is not continued. */
const MAX_ROWS = 200;

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
    if (far.isOver || ++looked === MAX_ROWS) break;
  }
  return far.result;
}

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
    const isSameSession =
      session.id !== null && row.session === session.id && row.agent.toLowerCase() === session.agent.toLowerCase();
    if (isSameSession) this.#ofSession = join(readOwn(), this.#byHand);
    else if (row.root !== workspace.root) return;
    else if (row.session === null) this.#byHand ??= readOwn();
    else if (session.started_at !== null && (row.last_at ?? row.created_at) <= session.started_at)
      this.#preceding ??= join(readOwn(), this.#byHand);
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

const MAX_CANDIDATES = 10;

/** The id that a user's words name: `latest`, a whole id, or the beginning of exactly one. */
export async function resolveId(store: Store, words: string, open: CatalogOpener): Promise<string> {
  const text = words.trim().toLowerCase();
  if (text === 'latest') return (await findLatest(store, await open())).id;
  if (isHandoverId(text) && hasHandover(store, text)) return text;
  if (!isIdPrefix(text)) throw unknownIdError(words);
  const candidates = await takeRows((await open()).rows({ idPrefix: text }), MAX_CANDIDATES + 1);
  const [only] = candidates;
  if (only === undefined) throw unknownIdError(words);
  if (candidates.length > 1) throw ambiguousIdError(text, candidates);
  return only.id;
}

export function requireHandover(store: Store, id: string): Handover {
  const handover = readHandover(store, id);
  if (handover === null) throw unknownIdError(id);
  return handover;
}

function unknownIdError(words: string): HandoverError {
  const hint = 'List handovers: handover list';
  return new HandoverError('HANDOVER_NOT_FOUND', `no handover has the id ${quote(words)}`, { hint });
}

function ambiguousIdError(prefix: string, candidates: readonly CatalogRow[]): HandoverError {
  const shown = candidates.slice(0, MAX_CANDIDATES);
  const more = candidates.length > MAX_CANDIDATES ? '\n  …' : '';
  const lines = shown.map((row) => `\n  ${row.id}  ${row.title}`).join('');
  const message = `${quote(prefix)} is the start of more than one id:${lines}${more}`;
  return new HandoverError('HANDOVER_ID_AMBIGUOUS', message, {
    hint: 'Type more of the id, or select one: handover select',
    data: { candidates: shown.map((row) => row.id) },
  });
}

function quote(words: string): string {
  return `"${cutToBytes(cleanLine(words), 80)}"`;
}

/** Which handovers to list. All of them where nothing is named. */
export interface Scope {
  project?: ProjectMatch;
  /** The worktree, as in `workspace.root`, with `~` for the home folder. */
  root?: string;
}

/** Handovers in a scope, those of the newest work first, without those dated more than a day ahead: their clock was wrong. */
async function* listPlausible(store: Store, catalog: Catalog, scope: Scope): AsyncIterable<CatalogRow> {
  const { project, root } = scope;
  const untilMs = latestPlausible(store.machine.clock.now());
  for await (const row of sortByWork(catalog.rows({ ...(project === undefined ? {} : { project }), untilMs })))
    if (root === undefined || row.root === root) yield row;
}

/** The newest handover in a scope that `fits`; null for none. The one home of what "newest" means. */
export async function findNewest(
  store: Store,
  catalog: Catalog,
  { fits = () => true, ...scope }: Scope & { fits?: (row: CatalogRow) => boolean },
): Promise<CatalogRow | null> {
  for await (const row of listPlausible(store, catalog, scope)) if (fits(row)) return row;
  return null;
}

/** The newest handover. One dated more than a day ahead counts only when there is no other. */
export async function findLatest(store: Store, catalog: Catalog, match?: ProjectMatch): Promise<CatalogRow> {
  const scope = match === undefined ? {} : { project: match };
  const row = (await findNewest(store, catalog, scope)) ?? (await takeRows(catalog.rows(scope), 1))[0];
  if (row !== undefined) return row;
  const hint = 'Save one: handover save --summary "where things stand" --next "what to do next"';
  throw new HandoverError('HANDOVER_STORE_EMPTY', 'no handover has been saved yet', { hint });
}

/** The newest handover of a project with its marks applied; null when there is no intact one. */
export async function findNewestHandover(store: Store, project: string): Promise<Handover | null> {
  try {
    return await withCatalogOpener(store, async (open) => {
      const { id } = await findLatest(store, await open(), { id: project });
      return readMarked(store, requireHandover(store, id));
    });
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

/** The plausible handovers of one worktree, newest first. `project` is the project's id. */
export function listOfWorktree(
  store: Store,
  catalog: Catalog,
  { project, root }: { project: string; root: string },
): AsyncIterable<CatalogRow> {
  return listPlausible(store, catalog, { project: { id: project }, root });
}
