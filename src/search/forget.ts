import { join } from 'node:path';
import { CACHES_OF_FEATURES, isCacheDamage, pathOfCache } from '../platform/cache-database.ts';
import { dropCache } from '../platform/cache-writer.ts';
import { pathExists } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import { readIntact } from '../store/handovers.ts';
import { INDEX } from '../store/index-schema.ts';
import { dropReadings } from '../store/readings.ts';
import type { Store } from '../store/store.ts';
import type { SearchContext } from './finder.ts';
import { openFinder } from './search.ts';
import { SEARCH_INDEX } from './search-index.ts';
import { digestOf, discardVectors, openVectorStore, VECTORS } from './semantic/vector-store.ts';

/**
 * Forgets the vectors of texts, whatever model made them: a vector tells much of what its text says. One that is still
 * said elsewhere is embedded again when it is needed.
 */
export function forgetVectors(store: Store, texts: readonly string[]): void {
  if (!pathExists(join(store.root, VECTORS))) return;
  try {
    const vectors = openVectorStore(store, { space: '', allowExtension: false });
    try {
      vectors?.forget(texts.map((text) => digestOf(text, 'text')));
    } finally {
      vectors?.close();
    }
    // Without SQLite nothing can be taken out of the file.
    if (vectors === null) discardVectors(store);
  } catch (error) {
    if (!isCacheDamage(error)) throw error;
    discardVectors(store);
  }
}

/** To be called before handovers are forgotten: afterwards nothing tells which vectors were made of what they say. */
export function forgetVectorsOf(store: Store, ids: readonly string[]): void {
  const texts = ids.flatMap((id) => readIntact(store, id)?.facts.map(({ text }) => text) ?? []);
  forgetVectors(store, texts);
}

/** To be called after it: what forgotten handovers say is then in no cache any more, not when somebody searches next. */
export async function forgetInCaches(desk: SearchContext): Promise<void> {
  const { store } = desk;
  dropReadings(store);
  if (loadSqlDriver(store.machine.env.HANDOVER_SQLITE) === null) {
    // Nothing can be taken out of databases here: they go as they are.
    for (const name of [INDEX.name, ...CACHES_OF_FEATURES])
      if (pathExists(pathOfCache(store, { name }))) dropCache(store, { name });
    return;
  }
  if (!pathExists(pathOfCache(store, SEARCH_INDEX))) return;
  const finder = await openFinder(desk);
  finder.close();
  if (finder.by === 'scan') dropCache(store, SEARCH_INDEX);
}
