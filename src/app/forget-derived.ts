import { join } from 'node:path';
import { dropCheckpoints } from '../agents/transcript-checkpoint.ts';
import { CACHES_OF_FEATURES, isCacheDamage, pathOfCache } from '../platform/cache-database.ts';
import { removeCacheFolder } from '../platform/cache-file.ts';
import { compactCache, dropCache } from '../platform/cache-writer.ts';
import { isAbandonedTemp, isOwnTempName, removeFile } from '../platform/durable-file.ts';
import { isFolder, listFolder, pathExists } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import type { SearchContext } from '../search/finder.ts';
import { openFinder } from '../search/search.ts';
import { SEARCH_INDEX } from '../search/search-index.ts';
import { digestOf, discardVectors, openVectorStore, VECTORS } from '../search/semantic/vector-store.ts';
import { forgetHandover, readIntact } from '../store/handovers.ts';
import { INDEX } from '../store/index-schema.ts';
import { HANDOVERS, REMOTES, type Store, TRANSCRIPT_CHECKPOINTS } from '../store/store.ts';
import { type Context, withCatalog } from './context.ts';
import { findNotes } from './search.ts';

/** Deletes handovers in which a secret was recognised later, and what was derived from them. */
export async function forgetExposed(store: Store, ids: readonly string[]): Promise<void> {
  forgetVectorsOf(store, ids);
  for (const id of ids) forgetHandover(store, id, 'a secret in it was recognised later');
  await forgetDerived({ machine: store.machine, notify: () => undefined, progress: () => undefined }, store);
}

/** What processes that were killed had begun to write: it may hold the text of anything. */
function removeAbandoned({ root }: Store): void {
  const folders = listFolder(root).filter((name) => name !== HANDOVERS && isFolder(join(root, name)));
  for (const folder of ['', ...folders])
    for (const name of listFolder(join(root, folder))) {
      const path = join(root, folder, name);
      if (isOwnTempName(name) && isAbandonedTemp(path)) removeFile(path);
    }
}

/** The index and the caches hold titles and texts too: they are deleted now, not at the next listing. */
export async function forgetDerived(context: Context, store: Store): Promise<void> {
  removeAbandoned(store);
  await withCatalog(context, store, () => undefined);
  const remotes = join(store.root, REMOTES);
  for (const name of listFolder(remotes)) if (name.endsWith('.git')) removeCacheFolder(join(remotes, name));
  await forgetInCaches({ store, notes: await findNotes(context.machine) });
}

/**
 * Deletes the vectors of handovers' facts, whatever model made them: a vector reveals much of its text. Must be called
 * before the handovers are deleted. A fact that another handover has too is embedded again when it is needed.
 */
export function forgetVectorsOf(store: Store, ids: readonly string[]): void {
  if (!pathExists(join(store.root, VECTORS))) return;
  const texts = ids.flatMap((id) => readIntact(store, id)?.facts.map(({ text }) => text) ?? []);
  try {
    const vectors = openVectorStore(store, { space: '', allowExtension: false });
    try {
      vectors?.forget(texts.map((text) => digestOf(text, 'text')));
    } finally {
      vectors?.close();
    }
    // Without SQLite nothing can be deleted from the file.
    if (vectors === null) discardVectors(store);
  } catch (error) {
    if (!isCacheDamage(error)) throw error;
    discardVectors(store);
  }
}

/** Removes the texts of deleted handovers from every cache now, not at the next search. Must be called after deleting. */
async function forgetInCaches(context: SearchContext): Promise<void> {
  const { store } = context;
  dropCheckpoints(join(store.root, TRANSCRIPT_CHECKPOINTS));
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) {
    // Nothing can be deleted from databases here, so they are dropped.
    return dropCaches(store);
  }
  compactCache(store, driver, INDEX);
  if (!pathExists(pathOfCache(store, SEARCH_INDEX))) return;
  const finder = await openFinder(context);
  finder.close();
  if (finder.by === 'scan') dropCache(store, SEARCH_INDEX);
  else compactCache(store, driver, SEARCH_INDEX);
}

export function dropCaches(store: Store): void {
  for (const name of [INDEX.name, ...CACHES_OF_FEATURES])
    if (pathExists(pathOfCache(store, { name }))) dropCache(store, { name });
}
