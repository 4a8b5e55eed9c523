import type { Catalog, CatalogRow } from './catalog.ts';
import { latestBelievable } from './moment.ts';
import type { Store } from './store.ts';

/** A worktree as handovers name it. */
export interface KnownWorktree {
  /** The project's id. */
  project: string;
  /** As in `workspace.root`, with `~` for the home folder. */
  root: string;
}

/** The handovers of one worktree, newest first. Those of a clock that was far ahead are passed over. */
export async function* listOfWorktree(
  store: Store,
  catalog: Catalog,
  { project, root }: KnownWorktree,
): AsyncIterable<CatalogRow> {
  const untilMs = latestBelievable(store.machine.clock.now());
  for await (const row of catalog.rows({ project: { id: project }, untilMs }))
    if (row.root === root) yield row;
}
