import type { Marks } from '../../handover/marks.ts';
import type { FactKind } from '../../model/fact.ts';
import type { FactFilter, Finder, FoundFact } from '../../search/finder.ts';
import { parseQuery } from '../../search/parsed-query.ts';
import type { Lead } from './told-session.ts';

/** The bounds within which a question is asked. */
export type Scope = Pick<FactFilter, 'project' | 'agent' | 'sinceMs'>;

/** Where questions get their facts from; those of the newest handover first. */
export interface FactSource {
  facts(filter: Pick<FactFilter, 'kinds' | 'fileName'>): AsyncIterable<FoundFact>;
  /** Facts of these kinds that have words of the text in them: the nearest, as many as a search looks at. */
  mentions(text: string, kinds: readonly FactKind[]): Promise<FoundFact[]>;
  /** Every telling of the facts with these ids in a project, whatever the bounds are. */
  tellings(ids: readonly string[], project: string): AsyncIterable<FoundFact>;
  marks(project: string): Promise<Marks>;
}

export function openFactSource(finder: Finder, scope: Scope): FactSource {
  return {
    facts: (filter) => finder.facts({ ...scope, ...filter }),
    mentions: async (text, kinds) => {
      const query = { ...scope, text, kinds, limit: 0 };
      const { texts } = await finder.gather(query, parseQuery(text));
      return texts.flatMap((searched) => (searched.what === 'fact' ? [searched] : []));
    },
    tellings: (ids, id) => finder.facts({ ids, project: { id } }),
    marks: (project) => finder.marks(project),
  };
}

/** The handovers of several lists of facts, each with the newest first, as one such list, with each handover once. */
export async function* mergeLeads(lists: readonly AsyncIterable<FoundFact>[]): AsyncIterable<Lead> {
  const open = lists.map((list) => list[Symbol.asyncIterator]());
  const heads = await Promise.all(open.map((list) => list.next()));
  const seen = new Set<string>();
  for (;;) {
    let newest = -1;
    for (const [at, head] of heads.entries())
      if (!head.done && isNewer(head.value.handover, heads[newest]?.value?.handover)) newest = at;
    const found: FoundFact | undefined = heads[newest]?.value;
    const list = open[newest];
    if (found === undefined || list === undefined) return;
    heads[newest] = await list.next();
    if (!seen.has(found.handover.id)) yield found.handover;
    seen.add(found.handover.id);
  }
}

type Teller = FoundFact['handover'];

function isNewer(a: Teller, b: Teller | undefined): boolean {
  return b === undefined || a.at > b.at || (a.at === b.at && a.id > b.id);
}

/** What passes the test. */
export async function* filterFacts(
  facts: AsyncIterable<FoundFact> | Iterable<FoundFact>,
  test: (found: FoundFact) => boolean,
): AsyncIterable<FoundFact> {
  for await (const found of facts) if (test(found)) yield found;
}
