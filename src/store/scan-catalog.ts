import { type HandoverError, isHandoverError, rescue } from '../errors.ts';
import type { Handover } from '../model/handover.ts';
import { formatIdTime } from '../model/id.ts';
import { LATEST_TIME } from '../model/time.ts';
import {
  type Catalog,
  type CatalogRow,
  describeRow,
  describeUnreadable,
  endOfPrefix,
  type Filter,
  foldSearchText,
  listProjectIds,
  type ProjectMatch,
  sortByWork,
  timeOfChange,
  type UnreadableFile,
  withAliases,
} from './catalog.ts';
import { readHandover } from './handovers.ts';
import { listIds, listMonths, pathOfHandover, type Store } from './store.ts';

/** Answers from the files alone. Reads newest first and only as far as asked, so short lists stay cheap. */
export function openScanCatalog(store: Store): Catalog {
  const unreadable = new Map<string, UnreadableFile>();
  return {
    driver: 'scan',
    rows: (filter) => {
      const rows = scanRows(store, filter, unreadable);
      return filter.byWork === true ? sortByWork(rows) : rows;
    },
    captured: async (sessions) => {
      const wanted = new Set(sessions);
      const rows = [...scanHandovers(store, {}, unreadable)].map(({ session: { agent, id } }) => ({
        agent,
        session: id,
      }));
      return rows.filter(({ session }) => session !== null && wanted.has(session));
    },
    unreadable: async () => [...unreadable.values()],
    close: () => undefined,
  };
}

async function* scanRows(store: Store, filter: Filter, unreadable: UnreadableFiles): AsyncIterable<CatalogRow> {
  for (const handover of scanHandovers(store, filter, unreadable)) yield describeRow(handover);
}

type UnreadableFiles = Map<string, UnreadableFile>;

/** Reads handovers newest first, each only when asked for. Files that cannot be read are skipped and added to `unreadable`. */
export function* scanHandovers(store: Store, asked: Filter, unreadable: UnreadableFiles): Iterable<Handover> {
  const filter = withAliases(store, asked);
  for (const ids of groupsOfOneSecond(store, filter)) {
    const handovers = ids
      .map((id) => readOrReport(store, id, unreadable))
      .filter((handover) => handover !== null)
      .filter((handover) => matches(handover, filter));
    const key = ({ created_at, id }: Handover): string => `${created_at} ${id}`;
    yield* handovers.sort((a, b) => (key(a) < key(b) ? 1 : -1));
  }
}

/** Ids sort by second; within one, only the times in the handovers give the order. */
function* groupsOfOneSecond(store: Store, filter: Filter): Iterable<string[]> {
  const from = formatIdTime(filter.sinceMs ?? 0);
  // Work may have been captured at any time after it was done.
  const untilMs = filter.byWork === true ? LATEST_TIME : (filter.untilMs ?? LATEST_TIME);
  const to = endOfPrefix(formatIdTime(untilMs));
  const prefix = filter.idPrefix ?? '';
  for (const month of listMonths(store)) {
    const monthText = month.join('');
    if (monthText < from.slice(0, 6) || monthText > to.slice(0, 6)) continue;
    if (!monthText.startsWith(prefix.slice(0, 6))) continue;
    const groups = new Map<string, string[]>();
    for (const id of listIds(store, month).filter((id) => id >= from && id <= to && id.startsWith(prefix))) {
      const group = groups.get(id.slice(0, 15));
      if (group === undefined) groups.set(id.slice(0, 15), [id]);
      else group.push(id);
    }
    yield* groups.values();
  }
}

function readOrReport(store: Store, id: string, unreadable: UnreadableFiles): Handover | null {
  const report = (error: HandoverError): null => {
    const path = pathOfHandover(store, id);
    unreadable.set(path, { path, ...describeUnreadable(error) });
    return null;
  };
  return rescue(isHandoverError, report, () => readHandover(store, id));
}

function matches(handover: Handover, filter: Filter): boolean {
  const { sinceMs = 0, untilMs = LATEST_TIME, agent, project, query } = filter;
  const at = Date.parse(filter.byWork === true ? timeOfChange(describeRow(handover)) : handover.created_at);
  if (at < sinceMs || at > untilMs) return false;
  if (agent !== undefined && handover.session.agent.toLowerCase() !== agent.toLowerCase()) return false;
  if (project !== undefined && !matchesProject(handover, project)) return false;
  return query === undefined || foldSearchText(handover).includes(query.toLowerCase());
}

function matchesProject(handover: Handover, match: ProjectMatch): boolean {
  return (
    listProjectIds(match).includes(handover.project.id) ||
    handover.project.name.toLowerCase() === match.name?.toLowerCase() ||
    handover.workspace.root === match.root
  );
}
