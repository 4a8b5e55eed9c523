import { isCarriedOver, type Marks } from '../../handover/marks.ts';
import type { Fact, FactKind } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import type { FactDocument, FactFilter, Finder, HandoverRecord } from '../../search/finder.ts';
import { parseQuery } from '../../search/query.ts';

/** The facts that questions are answered from; those of the newest handover first. */
export interface FactSource {
  facts(filter: Pick<FactFilter, 'kinds' | 'fileName'>): AsyncIterable<FactDocument>;
  /** The facts of these kinds that best match words of the text. */
  mentions(text: string, kinds: readonly FactKind[]): Promise<FactDocument[]>;
  /** The facts with these ids in every handover of a project, whatever the scope is. */
  occurrences(ids: readonly string[], project: string): AsyncIterable<FactDocument>;
  marks(project: string): Promise<Marks>;
}

export function openFactSource(finder: Finder, scope: Pick<FactFilter, 'project' | 'agent' | 'sinceMs'>): FactSource {
  return {
    facts: (filter) => finder.facts({ ...scope, ...filter }),
    mentions: async (text, kinds) => {
      const { texts } = await finder.gather({ ...scope, text, kinds, limit: 0 }, parseQuery(text));
      return texts.flatMap((document) => (document.what === 'fact' ? [document] : []));
    },
    occurrences: (ids, id) => finder.facts({ ids, project: { id } }),
    marks: (project) => finder.marks(project),
  };
}

/** A handover that may be about what is asked. */
export type HandoverRef = Pick<HandoverRecord, 'id' | 'agent' | 'session'>;

/** Merges lists of facts, each newest first, into one such list of their handovers, each once. */
export async function* mergeCandidates(lists: readonly AsyncIterable<FactDocument>[]): AsyncIterable<HandoverRef> {
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

function isNewer(a: HandoverRecord, b: HandoverRecord | undefined): boolean {
  return b === undefined || a.at > b.at || (a.at === b.at && a.id > b.id);
}

export async function* filterFacts(
  facts: AsyncIterable<FactDocument> | Iterable<FactDocument>,
  test: (found: FactDocument) => boolean,
): AsyncIterable<FactDocument> {
  for await (const found of facts) if (test(found)) yield found;
}

/** A session by its handovers, newest first; or a handover that was written by hand. */
export type SessionSummary = { newest: Handover; handovers: Handover[] };

export interface QuestionOptions {
  source: FactSource;
  read(id: string): Handover | null;
  /** How many results at most; null for all. */
  limit: number | null;
  home?: string | undefined;
}

/** Reads handovers, the newest first, until there are enough sessions of what is asked. */
export async function gatherSessions(
  refs: AsyncIterable<HandoverRef>,
  { read, accepts, limit }: Pick<QuestionOptions, 'read' | 'limit'> & { accepts(handover: Handover): boolean },
): Promise<{ sessions: SessionSummary[]; hasMore: boolean }> {
  const sessions = new Map<string, SessionSummary>();
  for await (const { id, agent, session } of refs) {
    const handover = read(id);
    if (handover === null || !accepts(handover)) continue;
    const key = session === null ? id : `${agent}\n${session}`;
    const known = sessions.get(key);
    if (known !== undefined) known.handovers.push(handover);
    else if (sessions.size === limit) return { sessions: [...sessions.values()], hasMore: true };
    else sessions.set(key, { newest: handover, handovers: [handover] });
  }
  return { sessions: [...sessions.values()], hasMore: false };
}

/** Where an answer comes from. */
export interface SessionOrigin {
  handover: string;
  agent: string;
  session: string | null;
  project: { id: string; name: string };
  at: string;
  title: string;
}

export function describeOrigin({ newest }: SessionSummary, by: Handover = newest): SessionOrigin {
  return {
    handover: by.id,
    agent: newest.session.agent,
    session: newest.session.id,
    project: { id: newest.project.id, name: newest.project.name },
    at: lastActivityOf(by),
    title: newest.title,
  };
}

export type SessionFact = { fact: Fact; by: Handover };

/** Every fact of the session once, as in its newest handover, without those carried over from another session. */
export function listOwnFacts({ handovers }: SessionSummary): SessionFact[] {
  const own = new Map<string, SessionFact>();
  for (const by of handovers)
    for (const fact of by.facts) if (!own.has(fact.id) && !isCarriedOver(fact)) own.set(fact.id, { fact, by });
  return [...own.values()];
}

/** The request that was worked on, else the title. */
export function findGoal({ facts, title }: Handover): string {
  const goals = facts.filter((fact) => fact.kind === 'goal' && !isCarriedOver(fact));
  const current = goals.find((fact) => fact.detail?.role === 'current') ?? goals[0];
  return current?.text ?? title;
}

export function lastActivityOf({ session, created_at }: Handover): string {
  return session.last_at ?? created_at;
}

/** The line of its session's transcript that a fact is from. */
export function lineOf({ sources: [source] }: Fact): number {
  return source?.line ?? 0;
}
