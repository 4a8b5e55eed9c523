import type { Handover } from '../model/handover.ts';
import { isHandoverId } from '../model/id.ts';
import type { Catalog, CatalogRow } from './catalog.ts';
import { hasHandover, readIntact } from './handovers.ts';
import { latestPlausible } from './journal.ts';
import { listMarked, nameFact } from './marks.ts';
import type { Store } from './store.ts';

export interface Expiry {
  /** What may be removed, newest first. */
  expired: CatalogRow[];
  /** How many are as old and stay, and why. */
  kept: { latest: number; pinned: number };
}

/** Those over `retentionMs`, without the latest of each worktree, last copies of pinned facts and damaged ones. */
export async function findExpired(store: Store, catalog: Catalog, retentionMs: number): Promise<Expiry> {
  const now = store.machine.clock.now();
  const latest = new Map<string, string>();
  const old: CatalogRow[] = [];
  const expiry: Expiry = { expired: [], kept: { latest: 0, pinned: 0 } };
  for await (const row of catalog.rows({ untilMs: latestPlausible(now) })) {
    const worktree = nameWorktree(row);
    const isOld = now - Date.parse(row.created_at) > retentionMs;
    if (latest.has(worktree)) {
      if (isOld) old.push(row);
      continue;
    }
    latest.set(worktree, row.id);
    if (isOld) expiry.kept.latest++;
  }
  const pins = new PinnedFacts(store);
  for (const worktree of new Set(old.map(nameWorktree))) {
    const handover = readIntact(store, latest.get(worktree) ?? '');
    if (handover !== null) pins.addStaying(handover);
  }
  for (const row of old) {
    const handover = readIntact(store, row.id);
    if (handover === null) continue;
    if (pins.needs(handover)) {
      expiry.kept.pinned++;
      pins.addStaying(handover);
    } else expiry.expired.push(row);
  }
  return expiry;
}

function nameWorktree({ project, root }: CatalogRow): string {
  return `${project.id}\n${root}`;
}

/** Which pinned facts are known to be in a handover that stays. */
class PinnedFacts {
  readonly #marked: ReturnType<typeof listMarked>;
  /** Handovers that a pinned fact is shown from. */
  readonly #holders = new Set<string>();
  readonly #safe = new Set<string>();

  constructor(store: Store) {
    this.#marked = listMarked(store);
    for (const [name, { mark, handover }] of this.#marked) {
      if (mark !== 'pinned' || !isHandoverId(handover) || !hasHandover(store, handover)) continue;
      this.#holders.add(handover);
      this.#safe.add(name);
    }
  }

  /** Whether a pinned fact is in this handover and in none that stays, or is shown from it. */
  needs(handover: Handover): boolean {
    return this.#holders.has(handover.id) || this.#list(handover).some((name) => !this.#safe.has(name));
  }

  addStaying(handover: Handover): void {
    for (const name of this.#list(handover)) this.#safe.add(name);
  }

  #list({ project, facts }: Handover): string[] {
    return facts.flatMap((fact) => {
      const name = nameFact(project.id, fact.id);
      const mark = this.#marked.get(name)?.mark;
      const isPinned = mark === undefined ? fact.pinned === true : mark === 'pinned';
      return isPinned ? [name] : [];
    });
  }
}
