import { resolve } from 'node:path';
import { HandoverError } from '../errors.ts';
import { type Handover, isForeign } from '../model/handover.ts';
import { PROJECT_ID } from '../model/id.ts';
import { isFolder } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { abbreviateHome } from '../platform/paths.ts';
import { identifyProject, type Place } from '../platform/project.ts';
import type { Catalog, CatalogRow, ProjectMatch } from '../store/catalog.ts';
import { findLatest, listOfWorktree, requireHandover, resolveId } from '../store/find-handover.ts';
import { sortByWork } from '../store/newest.ts';
import { withCatalogOpener } from '../store/open-catalog.ts';
import type { Store } from '../store/store.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { usageError } from './failure.ts';

/** The handover with this id, id prefix or `latest`; without one, the newest of this project, or else of all. */
export async function pickHandover(context: Context, words: string | undefined): Promise<Handover> {
  const store = findStore(context);
  const id = words === undefined ? await pickNewest(context, store) : await findId(store, words);
  return requireHandover(store, id);
}

export async function findId(store: Store, words: string): Promise<string> {
  return await withCatalogOpener(store, (open) => resolveId(store, words, open));
}

async function pickNewest(context: Context, store: Store): Promise<string> {
  const { id, name } = identifyProject('.', context.machine);
  return await withCatalog(context, store, async (catalog) => {
    const own = await findOwn(store, catalog, id);
    if (own !== null) return own;
    const row = await findLatest(store, catalog);
    const text = `${name} has no handover yet; this is the newest of all, from ${row.project.name}`;
    context.notify({ level: 'note', text });
    return row.id;
  });
}

/** The newest handover made here. Imported ones must be named, however new they are. */
async function findOwn(store: Store, catalog: Catalog, projectId: string): Promise<string | null> {
  const id = await findNewest(store, catalog, projectId);
  if (id === null || !isForeign(requireHandover(store, id))) return id;
  for await (const row of sortByWork(catalog.rows({ project: { id: projectId } })))
    if (!isForeign(requireHandover(store, row.id))) return row.id;
  return null;
}

async function findNewest(store: Store, catalog: Catalog, projectId: string): Promise<string | null> {
  try {
    return (await findLatest(store, catalog, { id: projectId })).id;
  } catch (error) {
    if (error instanceof HandoverError && error.code === 'HANDOVER_STORE_EMPTY') return null;
    throw error;
  }
}

/** The newest handover of a worktree whose catalog row passes the test; null for none. */
export async function findNewestHere(
  context: Context,
  { project, workspace }: Place,
  accepts: (row: CatalogRow) => boolean = () => true,
): Promise<Handover | null> {
  const store = findStore(context);
  const worktree = { project: project.id, root: workspace.root };
  const id = await withCatalog(context, store, async (catalog) => {
    for await (const row of listOfWorktree(store, catalog, worktree)) if (accepts(row)) return row.id;
    return null;
  });
  return id === null ? null : requireHandover(store, id);
}

/** A project by its id, its folder or its name. An existing folder matches all worktrees of its project; a missing one only its path. */
export function matchProject(words: string, machine: Machine): ProjectMatch {
  if (words.trim() === '') throw usageError('the project is empty', 'Pass a folder, a name or an id.');
  if (PROJECT_ID.test(words)) return { id: words };
  const folder = resolve(machine.cwd, words);
  if (isFolder(folder)) return { id: identifyProject(folder, machine).id };
  return { name: words, root: abbreviateHome(folder, machine) };
}
