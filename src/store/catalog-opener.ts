import type { Catalog } from './catalog.ts';
import type { Store } from './store.ts';

/** Called only when something cannot be found by the files alone. */
export type CatalogOpener = () => Promise<Catalog>;

/** For work that may need the catalog: it is opened when it is asked for, and closed after use. */
export async function withCatalogOpener<T>(
  store: Store,
  work: (open: CatalogOpener) => Promise<T>,
): Promise<T> {
  const opened: Catalog[] = [];
  try {
    return await work(async () => {
      const { openCatalog } = await import('./open-catalog.ts');
      const { catalog } = await openCatalog(store);
      opened.push(catalog);
      return catalog;
    });
  } finally {
    for (const catalog of opened) catalog.close();
  }
}
