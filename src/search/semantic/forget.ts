import { join } from 'node:path';
import { isCacheDamage } from '../../platform/cache-database.ts';
import { pathExists } from '../../platform/folders.ts';
import type { Store } from '../../store/store.ts';
import { digestOf } from './digest.ts';
import { discardVectorFile, openVectorFile, VECTORS } from './vector-file.ts';

/**
 * Forgets the vectors of texts, whatever model made them: a vector tells much of what its text says. One that is still
 * said elsewhere is embedded again when it is needed.
 */
export function forgetVectors(store: Store, texts: readonly string[]): void {
  if (!pathExists(join(store.root, VECTORS))) return;
  try {
    const vectors = openVectorFile(store, { space: '', allowExtension: false });
    try {
      vectors?.forget(texts.map((text) => digestOf(text, 'text')));
    } finally {
      vectors?.close();
    }
    // Without SQLite nothing can be taken out of the file.
    if (vectors === null) discardVectorFile(store);
  } catch (error) {
    if (!isCacheDamage(error)) throw error;
    discardVectorFile(store);
  }
}
