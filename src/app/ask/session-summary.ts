import { isTakenOver, type Marks } from '../../handover/marks.ts';
import type { Fact, FactKind } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import type { FactFilter, Finder, FactDocument } from '../../search/finder.ts';
import { parseQuery } from '../../search/query.ts';

/** A session by what was handed over of it, the newest handover first; or one handover that was written by hand. */
export interface SessionSummary {
  newest: Handover;
  handovers: Handover[];
}

/** A handover that may tell of what is asked about. */
export interface HandoverRef {
  id: string;
  agent: string;
  session: string | null;
}

export interface GatherOptions {
  read(id: string): Handover | null;
  /** Whether a handover tells of what is asked about. */
  accepts(handover: Handover): boolean;
  /** How many sessions at most; null for all. */
  limit: number | null;
}

export interface SessionPage {
  sessions: SessionSummary[];
  hasMore: boolean;
}

/** Reads leads, the newest first, until enough sessions have come together. */
export async function gatherSessions(
  leads: AsyncIterable<HandoverRef>,
  options: GatherOptions,
): Promise<SessionPage> {
  const { read, accepts, limit } = options;
  const sessions = new Map<string, SessionSummary>();
  for await (const { id, agent, session } of leads) {
    const handover = read(id);
    if (handover === null || !accepts(handover)) continue;
    const key = session === null ? id : `${agent}\n${session}`;
    const known = sessions.get(key);
    if (known !== undefined) known.handovers.push(handover);
    else if (limit !== null && sessions.size === limit)
      return { sessions: [...sessions.values()], hasMore: true };
    else sessions.set(key, { newest: handover, handovers: [handover] });
  }
  return { sessions: [...sessions.values()], hasMore: false };
}

/** A fact and the handover that tells it. */
export interface SessionFact {
  fact: Fact;
  by: Handover;
}

/** Every fact of the session once, as its newest handover tells it. What was taken over from another one is left out. */
export function listOwnFacts({ handovers }: SessionSummary): SessionFact[] {
  const told = new Map<string, SessionFact>();
  for (const by of handovers)
    for (const fact of by.facts)
      if (!told.has(fact.id) && !isTakenOver(fact)) told.set(fact.id, { fact, by });
  return [...told.values()];
}

/** What was asked for: the request that was worked on, else the title. */
export function findGoal({ facts, title }: Handover): string {
  const goals = facts.filter((fact) => fact.kind === 'goal' && !isTakenOver(fact));
  const current = goals.find((fact) => fact.detail?.role === 'current') ?? goals[0];
  return current?.text ?? title;
}

/** When the last thing happened that a handover tells of. */
export function lastActivityOf({ session, created_at }: Handover): string {
  return session.last_at ?? created_at;
}

/** Where in the transcript of its session a fact was seen. */
export function lineOf({ sources: [source] }: Fact): number {
  return source?.line ?? 0;
}

/** The bounds within which a question is asked. */
export type Scope = Pick<FactFilter, 'project' | 'agent' | 'sinceMs'>;

/** Where questions get their facts from; those of the newest handover first. */
export interface FactSource {
  facts(filter: Pick<FactFilter, 'kinds' | 'fileName'>): AsyncIterable<FactDocument>;
  /** Facts of these kinds that have words of the text in them: the nearest, as many as a search looks at. */
  mentions(text: string, kinds: readonly FactKind[]): Promise<FactDocument[]>;
  /** Every telling of the facts with these ids in a project, whatever the bounds are. */
  tellings(ids: readonly string[], project: string): AsyncIterable<FactDocument>;
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
export async function* mergeLeads(lists: readonly AsyncIterable<FactDocument>[]): AsyncIterable<HandoverRef> {
  const open = lists.map((list) => list[Symbol.asyncIterator]());
  const heads = await Promise.all(open.map((list) => list.next()));
  const seen = new Set<string>();
  for (;;) {
    let newest = -1;
    for (const [at, head] of heads.entries())
      if (!head.done && isNewer(head.value.handover, heads[newest]?.value?.handover)) newest = at;
    const found: FactDocument | undefined = heads[newest]?.value;
    const list = open[newest];
    if (found === undefined || list === undefined) return;
    heads[newest] = await list.next();
    if (!seen.has(found.handover.id)) yield found.handover;
    seen.add(found.handover.id);
  }
}

type Teller = FactDocument['handover'];

function isNewer(a: Teller, b: Teller | undefined): boolean {
  return b === undefined || a.at > b.at || (a.at === b.at && a.id > b.id);
}

/** What passes the test. */
export async function* filterFacts(
  facts: AsyncIterable<FactDocument> | Iterable<FactDocument>,
  test: (found: FactDocument) => boolean,
): AsyncIterable<FactDocument> {
  for await (const found of facts) if (test(found)) yield found;
}
