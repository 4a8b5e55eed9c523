import { HandoverError } from '../../errors.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import { identifyProject } from '../../platform/project.ts';
import type { Catalog } from '../../store/catalog.ts';
import { findLatest, requireHandover, resolveId } from '../../store/find-handover.ts';
import { withCatalogOpener } from '../../store/open-catalog.ts';
import type { Store } from '../../store/store.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { yellow } from './output.ts';

const BRIEF = 'An id, the beginning of one, or latest';
const text = (input: string): string => input;

export const idFlag = {
  kind: 'parsed',
  parse: text,
  optional: true,
  brief: BRIEF,
  placeholder: 'id',
} as const;

export const idPositional = {
  kind: 'tuple',
  parameters: [{ parse: text, optional: true, brief: BRIEF, placeholder: 'id' }],
} as const;

/** The handover that was named; without a name the newest of this project, or else of all, which is then said. */
export async function pickHandover(context: Context, words: string | undefined): Promise<Handover> {
  const store = findStore(context);
  const id = words === undefined ? await pickNewest(context, store) : await pickNamed(store, words);
  return requireHandover(store, id);
}

export async function pickNamed(store: Store, words: string): Promise<string> {
  return await withCatalogOpener(store, (open) => resolveId(store, words, open));
}

async function pickNewest(context: Context, store: Store): Promise<string> {
  const { id, name } = identifyProject('.', context.machine);
  return await withCatalog(context, store, async (catalog) => {
    const own = await findOwn(store, catalog, id);
    if (own !== null) return own;
    const row = await findLatest(store, catalog);
    context.err.line(
      yellow('note: '),
      `nothing is kept of ${name}; this is the newest of all, of ${row.project.name}`,
    );
    return row.id;
  });
}

/** What others sent is not taken for one's own, however new it is: it has to be named. */
async function findOwn(store: Store, catalog: Catalog, projectId: string): Promise<string | null> {
  const id = await findNewest(store, catalog, projectId);
  if (id === null || !isForeign(requireHandover(store, id))) return id;
  for await (const row of catalog.rows({ project: { id: projectId } }))
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
