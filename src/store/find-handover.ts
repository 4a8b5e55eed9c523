import { HandoverError } from '../errors.ts';
import type { Handover } from '../model/handover.ts';
import { isHandoverId, isIdPrefix } from '../model/id.ts';
import { cleanLine, cutToBytes } from '../model/text.ts';
import { type Catalog, type CatalogRow, type ProjectMatch, takeRows } from './catalog.ts';
import { hasHandover, readHandover } from './handovers.ts';
import { latestPlausible } from './journal.ts';
import { readMarked } from './marks.ts';
import { type CatalogOpener, withCatalogOpener } from './open-catalog.ts';
import type { Store } from './store.ts';

const MAX_CANDIDATES = 10;

/** The id that a user's words stand for: `latest`, a whole id, or the beginning of exactly one. */
export async function resolveId(store: Store, words: string, open: CatalogOpener): Promise<string> {
  const text = words.trim().toLowerCase();
  if (text === 'latest') return (await findLatest(store, await open())).id;
  if (isHandoverId(text) && hasHandover(store, text)) return text;
  if (!isIdPrefix(text)) throw unknownId(words);
  const candidates = await takeRows((await open()).rows({ idPrefix: text }), MAX_CANDIDATES + 1);
  const [only] = candidates;
  if (only === undefined) throw unknownId(words);
  if (candidates.length > 1) throw ambiguousId(text, candidates);
  return only.id;
}

/**
 * The newest handover. One dated more than a day ahead comes from a clock that was wrong, and counts only when
 * there is no other.
 */
export async function findLatest(
  store: Store,
  catalog: Catalog,
  project?: ProjectMatch,
): Promise<CatalogRow> {
  const filter = project === undefined ? {} : { project };
  const untilMs = latestPlausible(store.machine.clock.now());
  const [believable] = await takeRows(catalog.rows({ ...filter, untilMs }), 1);
  const row = believable ?? (await takeRows(catalog.rows(filter), 1))[0];
  if (row !== undefined) return row;
  throw new HandoverError('HANDOVER_STORE_EMPTY', 'no handover is kept here yet', {
    hint: 'Save one with: handover save --summary "where things stand" --next "what to do next"',
  });
}

/** Reads what `resolveId` found. */
export function requireHandover(store: Store, id: string): Handover {
  const handover = readHandover(store, id);
  if (handover === null) throw unknownId(id);
  return handover;
}

function unknownId(words: string): HandoverError {
  return new HandoverError('HANDOVER_NOT_FOUND', `no handover has the id ${quote(words)}`, {
    hint: 'See what is kept with: handover list',
  });
}

function ambiguousId(prefix: string, candidates: readonly CatalogRow[]): HandoverError {
  const shown = candidates.slice(0, MAX_CANDIDATES);
  const more = candidates.length > MAX_CANDIDATES ? '\n  …' : '';
  const lines = shown.map((row) => `\n  ${row.id}  ${row.title}`).join('');
  return new HandoverError(
    'HANDOVER_ID_AMBIGUOUS',
    `${quote(prefix)} is the beginning of more than one id:${lines}${more}`,
    {
      hint: 'Type more of the id, or pick one with: handover select',
      data: { candidates: shown.map((row) => row.id) },
    },
  );
}

function quote(words: string): string {
  return `"${cutToBytes(cleanLine(words), 80)}"`;
}

/** The newest handover of a project as it stands now, with its marks; null when there is none that is whole. */
export async function findNewestHandover(store: Store, project: string): Promise<Handover | null> {
  try {
    return await withCatalogOpener(store, async (open) => {
      const { id } = await findLatest(store, await open(), { id: project });
      const handover = readHandover(store, id);
      return handover === null ? null : readMarked(store, handover);
    });
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

/** A worktree as handovers name it. */
export interface Worktree {
  /** The project's id. */
  project: string;
  /** As in `workspace.root`, with `~` for the home folder. */
  root: string;
}

/** The handovers of one worktree, newest first. Those of a clock that was far ahead are passed over. */
export async function* listOfWorktree(
  store: Store,
  catalog: Catalog,
  { project, root }: Worktree,
): AsyncIterable<CatalogRow> {
  const untilMs = latestPlausible(store.machine.clock.now());
  for await (const row of catalog.rows({ project: { id: project }, untilMs }))
    if (row.root === root) yield row;
}
