import { join } from 'node:path';
import { dropCheckpoints } from '../agents/transcript-checkpoint.ts';
import { CACHES_OF_FEATURES, isCacheDamage, pathOfCache } from '../platform/cache-database.ts';
import { dropCache } from '../platform/cache-writer.ts';
import { pathExists } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import { readIntact } from '../store/handovers.ts';
import { INDEX } from '../store/index-schema.ts';
import { type Store, TRANSCRIPT_CHECKPOINTS } from '../store/store.ts';
import type { SearchContext } from './finder.ts';
import { openFinder } from './search.ts';
import { SEARCH_INDEX } from './search-index.ts';
import { digestOf, discardVectors, openVectorStore, VECTORS } from './semantic/vector-store.ts';

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
export async function forgetInCaches(context: SearchContext): Promise<void> {
  const { store } = context;
  dropCheckpoints(join(store.root, TRANSCRIPT_CHECKPOINTS));
  if (loadSqlDriver(store.machine.env.HANDOVER_SQLITE) === null) {
    // Nothing can be deleted from databases here, so they are dropped.
    for (const name of [INDEX.name, ...CACHES_OF_FEATURES])
      if (pathExists(pathOfCache(store, { name }))) dropCache(store, { name });
    return;
  }
  if (!pathExists(pathOfCache(store, SEARCH_INDEX))) return;
  const finder = await openFinder(context);
  finder.close();
  if (finder.by === 'scan') dropCache(store, SEARCH_INDEX);
}
