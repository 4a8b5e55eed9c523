import { join } from 'node:path';
import { dropCheckpoints } from '../agents/transcript-checkpoint.ts';
import { CACHES_OF_FEATURES, pathOfCache } from '../platform/cache-database.ts';
import { dropCache } from '../platform/cache-writer.ts';
import { pathExists } from '../platform/folders.ts';
import { loadSqlDriver } from '../platform/sqlite.ts';
import { readIntact } from '../store/handovers.ts';
import { INDEX } from '../store/index-schema.ts';
import { READINGS, type Store } from '../store/store.ts';
import type { SearchDesk } from './finder.ts';
import { openFinder } from './open-finder.ts';
import { SEARCH } from './search-schema.ts';
import { forgetVectors } from './semantic/forget.ts';

/** To be called before handovers are forgotten: afterwards nothing tells which vectors were made of what they say. */
export function forgetMeaning(store: Store, ids: readonly string[]): void {
  const texts = ids.flatMap((id) => readIntact(store, id)?.facts.map(({ text }) => text) ?? []);
  forgetVectors(store, texts);
}

/** To be called after it: what forgotten handovers say is then in no cache any more, not when somebody searches next. */
export async function forgetInCaches(desk: SearchDesk): Promise<void> {
  const { store } = desk;
  dropCheckpoints(join(store.root, READINGS));
  if (loadSqlDriver(store.machine.env.HANDOVER_SQLITE) === null) {
    // Nothing can be taken out of databases here: they go as they are.
    for (const name of [INDEX.name, ...CACHES_OF_FEATURES])
      if (pathExists(pathOfCache(store, { name }))) dropCache(store, { name });
    return;
  }
  if (!pathExists(pathOfCache(store, SEARCH))) return;
  const finder = await openFinder(desk);
  finder.close();
  if (finder.by === 'scan') dropCache(store, SEARCH);
}
