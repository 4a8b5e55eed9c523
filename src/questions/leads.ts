import type { Catalog, Filter } from '../store/catalog.ts';
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
