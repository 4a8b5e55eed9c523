import type { Handover } from '../model/handover.ts';
import { isHandoverId } from '../model/id.ts';
import type { Catalog, CatalogRow } from './catalog.ts';
import { hasHandover, readIntact } from './handovers.ts';
import { latestPlausible } from './journal.ts';
import { listMarked, nameFact } from './marks.ts';
import type { Store } from './store.ts';

export interface Expiry {
  /** What may go, newest first. */
  expired: CatalogRow[];
  /** What is as old and stays. */
  kept: { latest: number; pinned: number };
}

/**
 * The handovers that are older than `retentionMs`, without the latest of each worktree and without those that a pinned
 * fact would be lost with. Damaged files are not among them: `doctor` deals with these.
 */
export async function findExpired(store: Store, catalog: Catalog, retentionMs: number): Promise<Expiry> {
  const now = store.machine.clock.now();
  const latest = new Map<string, string>();
  const old: CatalogRow[] = [];
  const expiry: Expiry = { expired: [], kept: { latest: 0, pinned: 0 } };
  for await (const row of catalog.rows({ untilMs: latestPlausible(now) })) {
    const worktree = nameWorktree(row);
    const isOld = now - Date.parse(row.created_at) > retentionMs;
    if (!latest.has(worktree)) {
      latest.set(worktree, row.id);
      if (isOld) expiry.kept.latest++;
    } else if (isOld) old.push(row);
  }
  const pins = openPins(store);
  for (const worktree of new Set(old.map(nameWorktree))) {
    const handover = readIntact(store, latest.get(worktree) ?? '');
    if (handover !== null) pins.note(handover);
  }
  for (const row of old) {
    const handover = readIntact(store, row.id);
    if (handover === null) continue;
    if (!pins.isNeeded(handover)) {
      expiry.expired.push(row);
      continue;
    }
    expiry.kept.pinned++;
    pins.note(handover);
  }
  return expiry;
}

function nameWorktree({ project, root }: CatalogRow): string {
  return `${project.id}\n${root}`;
}

/** Which pinned facts are known to be in a handover that stays. */
interface Pins {
  /** Whether a pinned fact is here and in nothing that stays, or is shown from here. */
  isNeeded(handover: Handover): boolean;
  note(handover: Handover): void;
}

function openPins(store: Store): Pins {
  const marked = listMarked(store);
  const held = [...marked].filter(
    ([, { mark, handover }]) => mark === 'pinned' && isHandoverId(handover) && hasHandover(store, handover),
  );
  const shownFrom = new Set(held.map(([, { handover }]) => handover));
  const safe = new Set(held.map(([name]) => name));
  const listPinned = ({ project, facts }: Handover): string[] =>
    facts
      .map((fact) => ({ pinned: fact.pinned === true, name: nameFact(project.id, fact.id) }))
      .filter(({ pinned, name }) => {
        const mark = marked.get(name)?.mark;
        return mark === undefined ? pinned : mark === 'pinned';
      })
      .map(({ name }) => name);
  return {
    isNeeded: (handover) =>
      shownFrom.has(handover.id) || listPinned(handover).some((name) => !safe.has(name)),
    note: (handover) => {
      for (const name of listPinned(handover)) safe.add(name);
    },
  };
}
