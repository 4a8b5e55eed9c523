import { isAbsolute } from 'node:path';
import { HandoverError, notFoundError } from '../errors.ts';
import { isByHuman, type Predecessors } from '../handover/link.ts';
import { isCarriedOver } from '../handover/marks.ts';
import type { Fact } from '../model/fact.ts';
import { type Handover, isForeign, type UnstampedDraft } from '../model/handover.ts';
import { isHandoverId, isIdPrefix } from '../model/id.ts';
import { quoteInput } from '../model/text.ts';
import { isFolder } from '../platform/folders.ts';
import { listAliases } from '../platform/known-projects.ts';
import { expandHome } from '../platform/paths.ts';
import {
  type Catalog,
  type CatalogRow,
  describeRow,
  listByWork,
  type ProjectMatch,
  takeRows,
  timeOfChange,
} from './catalog.ts';
import { hasHandover, readHandover, readIntact } from './handovers.ts';
import { latestPlausible } from './journal.ts';
import { readMarked } from './marks.ts';
import { type CatalogOpener, withCatalogOpener } from './open-catalog.ts';
import { scanHandovers } from './scan-catalog.ts';
import type { Store } from './store.ts';

/** How many of the newest handovers are read before the catalog is opened: the previous one is mostly among them. */
const NEWEST = 5;

/** Older work of the project than this many handovers is not continued. */
const MAX_ROWS = 200;

/**
 * What a captured handover follows: the newest of the same session; else the newest of the same worktree whose session
 * was over when this one began and does not run now, so that sessions side by side do not follow each other. The newest one written by hand in
 * the worktree since then joins; where nothing was captured before, it is the previous one. Imported handovers are never
 * followed. Costs a few files, or one query to the catalog.
 */
export async function findPrevious(
  store: Store,
  draft: UnstampedDraft,
  { open, running = new Set() }: { open: CatalogOpener; running?: ReadonlySet<string> },
): Promise<Predecessors | null> {
  const projects = new Set(listAliases(store.machine, draft.project.id));
  const isGone = rememberGone(store);
  const near = new Search(draft, { projects, running, isGone });
  let met = 0;
  for (const handover of scanHandovers(store, {}, new Map())) {
    if (near.isOver || met++ === NEWEST) break;
    near.look(describeRow(handover), () => handover);
  }
  if (near.isOver || met <= NEWEST) return near.result;
  const far = new Search(draft, { projects, running, isGone });
  let looked = 0;
  for await (const row of (await open()).rows({ project: { id: draft.project.id } })) {
    far.look(row, () => readIntact(store, row.id));
    if (far.isOver || ++looked === MAX_ROWS) break;
  }
  return far.result;
}

class Search {
  readonly #draft: UnstampedDraft;
  readonly #projects: ReadonlySet<string>;
  readonly #running: ReadonlySet<string>;
  readonly #isGone: (root: string) => boolean;
  #byHand: Handover | null = null;
  /** The newest of an earlier session. One of the same session may still come. */
  #preceding: Predecessors | null = null;
  #ofSession: Predecessors | null = null;
  /** The newest in a folder of the project that is gone. One of this worktree may still come. */
  #moved: Predecessors | null = null;
  /** All that follow are older than the session, so none of them is of it. */
  #isBeforeSession = false;

  constructor(
    draft: UnstampedDraft,
    looked: { projects: ReadonlySet<string>; running: ReadonlySet<string>; isGone: (root: string) => boolean },
  ) {
    this.#draft = draft;
    this.#projects = looked.projects;
    this.#running = looked.running;
    this.#isGone = looked.isGone;
  }

  look(row: CatalogRow, read: () => Handover | null): void {
    const { session, workspace } = this.#draft;
    this.#isBeforeSession = session.started_at !== null && row.created_at < session.started_at;
    if (!this.#projects.has(row.project.id)) return;
    const readOwn = (): Handover | null => {
      const handover = read();
      return handover === null || isForeign(handover) ? null : handover;
    };
    const isSameSession =
      session.id !== null && row.session === session.id && row.agent.toLowerCase() === session.agent.toLowerCase();
    const isOver = row.session === null || !this.#running.has(row.session);
    const isBefore = isOver && session.started_at !== null && (row.last_at ?? row.created_at) <= session.started_at;
    if (isSameSession) this.#ofSession = join(readOwn(), this.#byHand);
    else if (row.root !== workspace.root) {
      if (isBefore && row.session !== null && this.#isGone(row.root)) this.#moved ??= join(readOwn(), this.#byHand);
    } else if (row.session === null) this.#byHand ??= readOwn();
    else if (isBefore) this.#preceding ??= join(readOwn(), this.#byHand);
    else if (this.#byHand === null) this.#byHand = findNote(readOwn());
  }

  get isOver(): boolean {
    return this.#ofSession !== null || (this.#preceding !== null && this.#isBeforeSession);
  }

  get result(): Predecessors | null {
    const alone = this.#byHand?.session.id === null ? this.#byHand : null;
    return this.#ofSession ?? this.#preceding ?? this.#moved ?? join(alone, null);
  }
}

function join(previous: Handover | null, byHand: Handover | null): Predecessors | null {
  return previous === null ? null : { previous, byHand };
}

/** A handover of a session side by side with this one, if a human wrote something down in it for whoever goes on. */
function findNote(handover: Handover | null): Handover | null {
  const isNote = (fact: Fact): boolean => isByHuman(fact) && fact.kind !== 'goal' && !isCarriedOver(fact);
  return handover !== null && handover.previous !== null && handover.facts.some(isNote) ? handover : null;
}

const MAX_CANDIDATES = 10;

/** The id that a user's words name: `latest`, a whole id, or the beginning or the end of exactly one. */
export async function resolveId(store: Store, words: string, open: CatalogOpener): Promise<string> {
  const text = words.trim().toLowerCase();
  if (text === 'latest') return (await findLatest(store, await open())).id;
  if (isHandoverId(text) && hasHandover(store, text)) return text;
  const starting = isIdPrefix(text) ? await takeRows((await open()).rows({ idPrefix: text }), MAX_CANDIDATES + 1) : [];
  const candidates = starting.length > 0 ? starting : await findByEnd(text, open);
  const [only] = candidates;
  if (only === undefined) throw unknownIdError(words);
  if (candidates.length > 1) throw ambiguousIdError(text, candidates);
  return only.id;
}

/** The rows whose ids end so: the last four characters differ between handovers of the same second. */
async function findByEnd(end: string, open: CatalogOpener): Promise<CatalogRow[]> {
  const found: CatalogRow[] = [];
  if (!/^[0-9a-z-]{4,20}$/.test(end)) return found;
  for await (const row of (await open()).rows({}))
    if (row.id.endsWith(end) && found.length <= MAX_CANDIDATES) found.push(row);
  return found;
}

export function requireHandover(store: Store, id: string): Handover {
  const handover = readHandover(store, id);
  if (handover === null) throw unknownIdError(id);
  return handover;
}

/** What is longer is something else, such as a text with a secret: it is not repeated. */
const LONGEST_ID = 60;

function unknownIdError(words: string): HandoverError {
  const hint = 'List handovers: handover list';
  return notFoundError(
    words.length > LONGEST_ID ? 'no handover has this id' : `no handover has the id ${quoteInput(words)}`,
    hint,
  );
}

function ambiguousIdError(prefix: string, candidates: readonly CatalogRow[]): HandoverError {
  const shown = candidates.slice(0, MAX_CANDIDATES);
  const more = candidates.length > MAX_CANDIDATES ? '\n  …' : '';
  const lines = shown.map((row) => `\n  ${row.id}  ${row.title}`).join('');
  const part = candidates.every(({ id }) => id.startsWith(prefix)) ? 'start' : 'end';
  const message = `${quoteInput(prefix)} is the ${part} of more than one id:${lines}${more}`;
  return new HandoverError('HANDOVER_ID_AMBIGUOUS', message, {
    hint: 'Type more of the id, or select one: handover select',
    data: { candidates: shown.map((row) => row.id) },
  });
}

/** Which handovers to list. All of them where nothing is named. */
export interface Scope {
  project?: ProjectMatch;
  /** The worktree, as in `workspace.root`, with `~` for the home folder. */
  root?: string;
}

/** Handovers in a scope, those of the newest work first, without those dated more than a day ahead: their clock was wrong. */
export async function* listPlausible(store: Store, catalog: Catalog, scope: Scope): AsyncIterable<CatalogRow> {
  const { project, root } = scope;
  const untilMs = latestPlausible(store.machine.clock.now());
  for await (const row of listByWork(catalog, { ...(project === undefined ? {} : { project }), untilMs }))
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

/** The newest handover; null for none. One dated more than a day ahead counts only when there is no other. */
export async function findLatestRow(store: Store, catalog: Catalog, match?: ProjectMatch): Promise<CatalogRow | null> {
  const scope = match === undefined ? {} : { project: match };
  return (await findNewest(store, catalog, scope)) ?? (await takeRows(catalog.rows(scope), 1))[0] ?? null;
}

export async function findLatest(store: Store, catalog: Catalog, match?: ProjectMatch): Promise<CatalogRow> {
  const row = await findLatestRow(store, catalog, match);
  if (row !== null) return row;
  const hint = 'Save one: handover save --summary "where things stand" --next "what to do next"';
  throw new HandoverError('HANDOVER_STORE_EMPTY', 'no handover has been saved yet', { hint });
}

/** The newest handover that joined this one to another line of work, and `fits`; null for none. */
export async function findMergeOf(
  { store, catalog }: { store: Store; catalog: Catalog },
  { id, created_at, project }: Handover,
  fits: (merge: Handover) => boolean = () => true,
): Promise<Handover | null> {
  for await (const row of catalog.rows({ project: { id: project.id } })) {
    if (row.created_at < created_at) break;
    const handover = readIntact(store, row.id);
    if (handover?.chain?.joined === id && fits(handover)) return handover;
  }
  return null;
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

/** The newest handover of a worktree that was made here and `fits`, or of a folder of the project that is gone. */
export async function findNewestOwn(
  store: Store,
  { project, root }: { project: string; root: string },
  fits: (row: CatalogRow) => boolean,
): Promise<Handover | null> {
  const near = findAmongNewest(store, (row) => row.project.id === project && row.root === root && fits(row));
  if (near !== null) return near;
  return await withCatalogOpener(store, async (open) => {
    const isGone = rememberGone(store);
    let moved: Handover | null = null;
    for await (const row of listPlausible(store, await open(), { project: { id: project } })) {
      const isHere = row.root === root;
      if (!fits(row) || !(isHere || (moved === null && isGone(row.root)))) continue;
      const handover = readIntact(store, row.id);
      if (handover === null || isForeign(handover)) continue;
      if (isHere) return handover;
      moved = handover;
    }
    return moved;
  });
}

/** Without the catalog. Null where none of the newest few fits, or older ones may be of later work. */
function findAmongNewest(store: Store, fits: (row: CatalogRow) => boolean): Handover | null {
  let best: { handover: Handover; worked: string } | null = null;
  let met = 0;
  const untilMs = latestPlausible(store.machine.clock.now());
  for (const handover of scanHandovers(store, { untilMs }, new Map())) {
    if (met++ === NEWEST) break;
    const row = describeRow(handover);
    const worked = timeOfChange(row);
    if (!isForeign(handover) && fits(row) && worked > (best?.worked ?? '')) best = { handover, worked };
    // No work is newer than its capture.
    if (best !== null && best.worked >= row.created_at) return best.handover;
  }
  return null;
}

/** Whether the folder of a worktree, as in handovers, is not on this machine. Bundles do not say where it was. */
export function rememberGone({ machine }: Store): (root: string) => boolean {
  const known = new Map<string, boolean>();
  return (root) => {
    const path = expandHome(root, machine);
    const isGone = known.get(root) ?? !(isAbsolute(path) && isFolder(path));
    known.set(root, isGone);
    return isGone;
  };
}
