import { HandoverError } from '../errors.ts';
import type { Handover } from '../model/handover.ts';
import { formatIdTime } from '../model/id.ts';
import { LATEST_TIME } from '../model/time.ts';
import {
  type Catalog,
  type DamagedFile,
  describeRow,
  endOfPrefix,
  type Filter,
  foldSearchText,
  type ProjectMatch,
} from './catalog.ts';
import { readHandover } from './handovers.ts';
import { listIds, listMonths, pathOfHandover, type Store } from './store.ts';

/** Answers from the files alone. The newest come first and the rest is not read, so short lists stay cheap. */
export function openScanCatalog(store: Store): Catalog {
  const damaged = new Map<string, string>();
  return {
    driver: 'scan',
    rows: async function* (filter) {
      for (const handover of scanHandovers(store, filter, damaged)) yield describeRow(handover);
    },
    damaged: async () => [...damaged].map(([path, reason]): DamagedFile => ({ path, reason })),
    close: () => undefined,
  };
}

/** Reads handovers newest first, each only when it is asked for. Files that are damaged are noted and passed over. */
export function* scanHandovers(
  store: Store,
  filter: Filter,
  damaged: Map<string, string>,
): Iterable<Handover> {
  for (const ids of groupsOfOneSecond(store, filter)) {
    const handovers = ids
      .map((id) => readOrNote(store, id, damaged))
      .filter((handover) => handover !== null)
      .filter((handover) => matches(handover, filter));
    yield* handovers.sort(compareNewestFirst);
  }
}

/** Ids sort by second; within one, only the handovers themselves know the order. */
function* groupsOfOneSecond(store: Store, filter: Filter): Iterable<string[]> {
  const from = formatIdTime(filter.sinceMs ?? 0);
  const to = endOfPrefix(formatIdTime(filter.untilMs ?? LATEST_TIME));
  const prefix = filter.idPrefix ?? '';
  for (const month of listMonths(store)) {
    const monthText = month.join('');
    if (monthText < from.slice(0, 6) || monthText > to.slice(0, 6)) continue;
    if (!monthText.startsWith(prefix.slice(0, 6))) continue;
    const ids = listIds(store, month).filter((id) => id >= from && id <= to && id.startsWith(prefix));
    yield* splitBySecond(ids);
  }
}

function* splitBySecond(ids: readonly string[]): Iterable<string[]> {
  let group: string[] = [];
  for (const id of ids) {
    const [first] = group;
    if (first !== undefined && first.slice(0, 15) !== id.slice(0, 15)) {
      yield group;
      group = [];
    }
    group.push(id);
  }
  if (group.length > 0) yield group;
}

function readOrNote(store: Store, id: string, damaged: Map<string, string>): Handover | null {
  try {
    return readHandover(store, id);
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    damaged.set(pathOfHandover(store, id), error.message);
    return null;
  }
}

function matches(handover: Handover, filter: Filter): boolean {
  const at = Date.parse(handover.created_at);
  if (filter.sinceMs !== undefined && at < filter.sinceMs) return false;
  if (filter.untilMs !== undefined && at > filter.untilMs) return false;
  if (filter.agent !== undefined && handover.session.agent.toLowerCase() !== filter.agent.toLowerCase())
    return false;
  if (filter.project !== undefined && !matchesProject(handover, filter.project)) return false;
  return filter.query === undefined || foldSearchText(handover).includes(filter.query.toLowerCase());
}

function matchesProject(handover: Handover, match: ProjectMatch): boolean {
  return (
    handover.project.id === match.id ||
    handover.project.name.toLowerCase() === match.name?.toLowerCase() ||
    handover.workspace.root === match.root
  );
}

function compareNewestFirst(a: Handover, b: Handover): number {
  const key = (handover: Handover): string => `${handover.created_at} ${handover.id}`;
  return key(a) < key(b) ? 1 : -1;
}
