import { HandoverError } from '../errors.ts';
import type { Handover } from '../model/handover.ts';
import { withCatalogOpener } from './catalog-opener.ts';
import { readHandover } from './handovers.ts';
import { readMarked } from './marks.ts';
import { findLatest } from './resolve.ts';
import type { Store } from './store.ts';

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
