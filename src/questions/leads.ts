import type { Fact, FactKind } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import type { Catalog, Filter } from '../store/catalog.ts';
import { readIntact } from '../store/handovers.ts';
import type { Store } from '../store/store.ts';
import { shapeError } from './error-shape.ts';
import type { FoundFact } from './found-fact.ts';
import type { Lead } from './told-session.ts';

/** The handovers within these bounds that have one of the texts somewhere, the newest first. An empty text is in all of them. */
export async function* listLeads(
  catalog: Catalog,
  scope: Filter,
  texts: readonly string[],
): AsyncIterable<Lead> {
  const wanted = texts.includes('') ? [undefined] : [...new Set(texts)];
  yield* mergeLeads(wanted.map((query) => catalog.rows(query === undefined ? scope : { ...scope, query })));
}

/** Several lists, each with the newest first, as one, with each handover once. */
async function* mergeLeads(lists: readonly AsyncIterable<Lead>[]): AsyncIterable<Lead> {
  const open = lists.map((list) => list[Symbol.asyncIterator]());
  const heads = await Promise.all(open.map((list) => list.next()));
  const seen = new Set<string>();
  for (;;) {
    let first = -1;
    for (const [at, head] of heads.entries())
      if (!head.done && (first === -1 || isNewer(head.value, heads[first]?.value))) first = at;
    const lead = heads[first]?.value;
    const list = open[first];
    if (lead === undefined || list === undefined) return;
    heads[first] = await list.next();
    if (!seen.has(lead.id)) yield lead;
    seen.add(lead.id);
  }
}

function isNewer(a: Lead, b: Lead | undefined): boolean {
  return b === undefined || a.created_at > b.created_at || (a.created_at === b.created_at && a.id > b.id);
}

/** The facts of these kinds, or with one of these ids, that are told within these bounds; those of the newest handover first. */
export async function* listFacts(
  { store, catalog }: { store: Store; catalog: Catalog },
  scope: Filter,
  wanted: { kinds?: readonly FactKind[]; ids?: readonly string[] },
): AsyncIterable<FoundFact> {
  for await (const { id } of catalog.rows(scope)) {
    const handover = readIntact(store, id);
    for (const fact of handover?.facts ?? [])
      if (handover !== null && isWanted(fact, wanted)) yield describeFound(fact, handover);
  }
}

function isWanted(
  { id, kind }: Fact,
  { kinds, ids }: { kinds?: readonly FactKind[]; ids?: readonly string[] },
): boolean {
  return (kinds === undefined || kinds.includes(kind)) && (ids === undefined || ids.includes(id));
}

function describeFound(fact: Fact, handover: Handover): FoundFact {
  const { id, kind, text, trust, origin, status, sources } = fact;
  const [source] = sources;
  return {
    fact: {
      id,
      kind,
      text,
      trust,
      origin,
      status: status ?? null,
      line: source?.line ?? null,
      from: source?.session ?? null,
      ref: source?.ref ?? null,
    },
    handover: {
      id: handover.id,
      at: handover.created_at,
      agent: handover.session.agent,
      session: handover.session.id,
      project: { id: handover.project.id, name: handover.project.name },
      root: handover.workspace.root,
      folder: handover.workspace.folder,
    },
  };
}

const SHORTEST_WORD = 4;

/** The longest word of a line that does not change from one time to the next: whatever is like the line has it. */
export function findTelling(line: string): string {
  const { text } = shapeError(line);
  const words = text.match(/(?<![<\p{L}])[\p{L}_][\p{L}\p{N}_]{3,}(?!>)/gu) ?? [];
  const longest = words.reduce((best, word) => (word.length > best.length ? word : best), '');
  return longest.length < SHORTEST_WORD ? '' : longest;
}
