import type { Fact } from '../../model/fact.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import type { JournalEntry } from '../../model/journal-entry.ts';
import { locateInProject } from '../../model/paths.ts';
import { lastWorkOf } from '../../model/time.ts';
import { type CatalogRow, type Filter, listByWork } from '../../store/catalog.ts';
import { readIntact } from '../../store/handovers.ts';
import { readEntriesOf } from '../../store/journal.ts';
import { rememberMarks } from '../../store/marks.ts';
import type { Store } from '../../store/store.ts';
import { type Context, withCatalog } from '../context.ts';
import type { Successor } from './find-again.ts';
import { keyOfSession, measureSession, readDebtCache, writeDebtCache } from './measure.ts';

/** What this product delivered to a successor at its start. */
export type DeliveredForm = 'brief' | 'hint' | 'nothing';

/** One successor: a session that follows another, or the part of one after a compaction. */
export interface Debt extends Omit<Successor, 'injected' | 'started_at'> {
  session: string;
  agent: string;
  project: { id: string; name: string };
  /** The newest handover of the session. */
  handover: string;
  title: string;
  at: string;
  given: DeliveredForm;
  /** The session that it follows; its own after a compaction. */
  follows: string;
  /** Facts that could be pinned. */
  facts: { id: string; kind: 'file' | 'command'; text: string; handover: string }[];
}

interface GatherOptions {
  store: Store;
  scope: Filter;
  /** How many sessions at most; null for all. */
  limit: number | null;
  /** Only this session. */
  session?: string | null;
  /** When to stop reading, where somebody waits. */
  untilMs?: number;
}

export interface Debts {
  /** The newest first. */
  debts: Debt[];
  /** Sessions that follow another one, or were compacted, and whose transcripts could not be read. */
  unread: number;
  hasMore: boolean;
}

/** What the successors among captured sessions found out again. */
export async function gatherDebts(context: Context, options: GatherOptions): Promise<Debts> {
  const { store, untilMs = Number.POSITIVE_INFINITY } = options;
  const { rows, hasMore } = await withCatalog(context, store, async (catalog) => {
    return await pickNewest(listByWork(catalog, options.scope), options);
  });
  const cache = readDebtCache(store);
  const before = new Set(cache.values());
  const read = (id: string): Handover | null => (id === '' ? null : readIntact(store, id));
  const delivered = readEntriesOf(store, ['delivered', 'consumed']);
  const progress = context.progress('reading');
  const hasTime = (): boolean => store.machine.clock.now() < untilMs;
  const marksOf = rememberMarks(store);
  const debts: Debt[] = [];
  let unread = 0;
  for (const [done, { id }] of rows.entries()) {
    progress?.(done, rows.length);
    const newest = read(id);
    if (newest === null || newest.session.id === null || isForeign(newest)) continue;
    const marks = marksOf(newest.project.id);
    const known = cache.get(keyOfSession(newest));
    const preceding = known === undefined ? findPreceding(newest, read, hasTime) : read(known.follows ?? '');
    const isQuick = options.untilMs !== undefined;
    const parts =
      preceding === 'no time'
        ? null
        : await measureSession(newest, preceding, { store, cache, marks, isQuick, hasTime });
    if (parts === null || preceding === 'no time') unread++;
    else debts.push(...describeParts(parts, { newest, preceding, delivered, home: store.machine.home }));
  }
  progress?.(rows.length, rows.length);
  if ([...cache.values()].some((one) => !before.has(one))) writeDebtCache(store, cache);
  return { debts, unread, hasMore };
}

async function pickNewest(
  found: AsyncIterable<CatalogRow>,
  { limit, session = null }: GatherOptions,
): Promise<{ rows: CatalogRow[]; hasMore: boolean }> {
  const rows = new Map<string, CatalogRow>();
  for await (const row of found) {
    const key = `${row.agent}\n${row.session}`;
    if (row.session === null || rows.has(key) || (session !== null && row.session !== session)) continue;
    if (rows.size === limit) return { rows: [...rows.values()], hasMore: true };
    rows.set(key, row);
  }
  return { rows: [...rows.values()], hasMore: false };
}

const MAX_HOPS = 10_000;

/** The handover that the first one of a session follows. A long session has many. */
function findPreceding(
  newest: Handover,
  read: (id: string) => Handover | null,
  hasTime: () => boolean,
): Handover | null | 'no time' {
  let { previous } = newest;
  for (let hops = 0; previous !== null && hops < MAX_HOPS; hops++) {
    const handover = hasTime() ? read(previous) : 'no time';
    if (handover === null || handover === 'no time') return handover;
    if (handover.session.id !== null && handover.session.id !== newest.session.id) return handover;
    previous = handover.previous;
  }
  return null;
}

interface Surroundings {
  newest: Handover;
  preceding: Handover | null;
  delivered: readonly JournalEntry[];
  home: string | undefined;
}

function describeParts(parts: readonly Successor[], around: Surroundings): Debt[] {
  const { newest, preceding } = around;
  const own = newest.session.id ?? '';
  const entries = around.delivered.filter(({ session }) => session === own);
  const described = parts.map(({ injected, started_at, ...part }, index): Debt => {
    const [from, to] = [started_at, parts[index + 1]?.started_at ?? null];
    return {
      ...part,
      session: own,
      agent: newest.session.agent,
      project: { id: newest.project.id, name: newest.project.name },
      handover: newest.id,
      title: newest.title,
      at: started_at ?? lastWorkOf(newest),
      given: findDelivered(entries, { from: part.part === 0 ? null : from, to }) ?? injected ?? 'nothing',
      follows: part.part === 0 ? (preceding?.session.id ?? own) : own,
      facts: newest.facts.flatMap((fact) => describeFact(fact, around)),
    };
  });
  return described.reverse();
}

function describeFact(fact: Fact, { newest, home }: Surroundings): Debt['facts'] {
  const { id, kind, text } = fact;
  if (kind === 'file') return [{ id, kind, text: locateInProject(fact, newest.workspace, home), handover: newest.id }];
  return kind === 'command' ? [{ id, kind, text, handover: newest.id }] : [];
}

/** A hook and an agent write their times apart. */
const SLACK_MS = 60_000;

/** What was delivered within a part, by the journal; null for nothing. */
function findDelivered(
  entries: readonly JournalEntry[],
  { from, to }: { from: string | null; to: string | null },
): DeliveredForm | null {
  const isWithin = ({ at }: JournalEntry): boolean =>
    (from === null || Date.parse(at) >= Date.parse(from) - SLACK_MS) &&
    (to === null || Date.parse(at) < Date.parse(to) - SLACK_MS);
  const forms = entries.filter(isWithin).map(({ event, subject, reason = '' }) => {
    // What a hook delivered is consumed only at the end of the turn, which may be in another part.
    if (event === 'consumed')
      return entries.some((other) => other.event === 'delivered' && other.subject === subject) ? null : 'brief';
    return (['brief', 'hint'] as const).find((form) => reason.startsWith(form)) ?? null;
  });
  return forms.find((form) => form === 'brief') ?? forms.find((form) => form !== null) ?? null;
}
