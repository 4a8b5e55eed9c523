import { isDeepStrictEqual } from 'node:util';
import { computeFactId, type Fact, type FactKind, MAX_FACTS, type Source } from '../model/fact.ts';
import { SETTLED_ROLES } from '../model/fact-roles.ts';
import type { Chain, EndedFacts, Handover, UnstampedDraft } from '../model/handover.ts';
import { countUtf8Bytes, cutToBytes } from '../model/text.ts';
import { findMark, listPinnedElsewhere, type Mark, type Marks, markFacts, NO_MARKS, type StatedIn } from './marks.ts';
import { isRule, judgeOutcomes, type Outcome } from './outcome.ts';

/** What a new handover follows. */
export interface Predecessors {
  previous: Handover;
  /** Written by hand after the previous one was captured. */
  byHand: Handover | null;
}

/**
 * Links a draft to what it follows: facts that still hold join those of the draft, and what became of the rest is recorded
 * in `chain`. Marks set since are applied. Linking to a handover made from the same events changes nothing.
 */
export function linkHandover(
  draft: UnstampedDraft,
  predecessors: Predecessors | null,
  marks: Marks = NO_MARKS,
): UnstampedDraft {
  const marked = { ...draft, facts: markFacts(draft.facts, draft, marks) };
  return predecessors === null ? marked : follow(marked, predecessors, marks);
}

/** The handover with its marks applied, and with what is pinned elsewhere in the project. For showing: not sealed. */
export function markHandover(handover: Handover, marks: Marks): Handover {
  const marked = markFacts(handover.facts, handover, marks);
  const facts = marked.filter((fact) => !isContradicted(fact, handover, marks));
  const elsewhere = listPinnedElsewhere(handover.facts, marks);
  const pinned = elsewhere.map(({ fact, by }): Fact => ({ ...carryFact(fact, by), pinned: true }));
  return { ...handover, facts: [...facts, ...pinned] };
}

function follow(draft: UnstampedDraft, { previous, byHand }: Predecessors, marks: Marks): UnstampedDraft {
  const outcomes = new Map<string, Outcome>();
  let seen = draft.facts;
  let lasting: Fact[] = [];
  // What was written by hand is newer than the previous handover, and takes precedence.
  for (const sealed of byHand === null ? [previous] : [byHand, previous]) {
    const earlier = { ...sealed, facts: markFacts(sealed.facts, sealed, marks) };
    for (const [id, reason] of listResolved(sealed, marks)) outcomes.set(id, { end: 'resolved', reason });
    seen = keepStronger(seen, earlier);
    if (earlier.session.id !== draft.session.id)
      lasting = joinFacts(lasting, withoutKnown(extractRules(earlier), seen));
    const judged = judgeOutcomes(earlier, { ...draft, facts: joinFacts(seen, lasting) });
    for (const [id, outcome] of judged) if (outcomes.get(id)?.end !== 'holds') outcomes.set(id, outcome);
    const holding = earlier.facts.filter((fact) => judged.get(fact.id)?.end === 'holds');
    const taken = holding.map((fact) => carryFact(fact, earlier));
    lasting = joinFacts(lasting, taken);
  }
  const { title, facts } = keepRequest(draft, previous, joinFacts(seen, chooseCarried(lasting, seen.length)));
  const chain = recordChain(outcomes, new Set(facts.map((fact) => fact.id)));
  const joined = byHand === null ? {} : { joined: byHand.id };
  return { ...draft, title, facts, previous: previous.id, chain: { ...chain, ...joined } };
}

/** A session that was given nothing but a handover works on the request that the handover was about. */
function keepRequest(draft: UnstampedDraft, previous: Handover, facts: Fact[]): { title: string; facts: Fact[] } {
  const isCurrent = ({ detail }: Fact): boolean => detail?.role === 'current';
  const id = draft.session.id === null || draft.facts.some(isCurrent) ? undefined : previous.facts.find(isCurrent)?.id;
  if (id === undefined || !facts.some((fact) => fact.id === id)) return { title: draft.title, facts };
  const kept = facts.map((fact) => (fact.id === id ? { ...fact, detail: { ...fact.detail, role: 'current' } } : fact));
  return { title: previous.title, facts: kept };
}

const RESOLVED_BY_HAND = 'resolved by hand';
const MAX_REASON_BYTES = 200;

/** What was marked as resolved since, with the reason that was given. */
function listResolved(sealed: Handover, marks: Marks): [id: string, reason: string][] {
  return sealed.facts.flatMap((fact) => {
    const mark = findMark(fact, sealed, marks);
    if (mark?.mark !== 'resolved') return [];
    const because = mark.because === null ? '' : `: ${mark.because}`;
    return [[fact.id, cutToBytes(`${RESOLVED_BY_HAND}${because}`, MAX_REASON_BYTES)]];
  });
}

/** Whether a linked draft says nothing that the previous handover does not say: the same session, read again. */
export function addsNothing(linked: UnstampedDraft, { previous, byHand }: Predecessors): boolean {
  return byHand === null && isDeepStrictEqual(contentOf(linked), contentOf(previous));
}

/** What a handover says, without when it was made and what it follows. */
function contentOf(draft: UnstampedDraft): object {
  const { project, session, workspace, title, summary, facts, redactions } = draft;
  return { project, session, workspace, title, summary, facts, redactions };
}

/** Messages of the user that state a rule, as constraints. */
function extractRules(earlier: Handover): Fact[] {
  return earlier.facts.filter(isRule).map((fact) => ({
    ...carryFact(fact, earlier),
    id: computeFactId('constraint', fact.text),
    kind: 'constraint',
  }));
}

function withoutKnown(facts: readonly Fact[], known: readonly Fact[]): Fact[] {
  const ids = new Set(known.map((fact) => fact.id));
  return facts.filter((fact) => !ids.has(fact.id));
}

function joinFacts(first: readonly Fact[], second: readonly Fact[]): Fact[] {
  return [...first, ...withoutKnown(second, first)];
}

/** A pin stays with its fact, and a declared fact is not weakened by an agent that repeats it in passing. */
function keepStronger(facts: readonly Fact[], earlier: Handover): Fact[] {
  const known = new Map(earlier.facts.map((fact) => [fact.id, fact]));
  return facts.map((fact) => {
    const before = known.get(fact.id);
    if (before?.trust === 'declared' && fact.trust === 'quoted' && fact.origin === 'agent')
      return carryFact(before, earlier);
    return before?.pinned === true ? { ...fact, pinned: true } : fact;
  });
}

const MAX_CARRIED = 100;
const MAX_TAKEN_FROM_AGENT = 30;
const MAX_TAKEN_BYTES = 256 * 1024;

/**
 * Keeps a long chain of handovers from growing without end. What was declared comes first, then the user's words, then the
 * agent's; of equals those of the previous session before those that it had carried over itself.
 */
function chooseCarried(candidates: readonly Fact[], seen: number): Fact[] {
  const ranked = candidates
    .map((fact, index) => ({ fact, index, rank: rankOf(fact) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index);
  const room = Math.min(MAX_CARRIED, MAX_FACTS - seen);
  const taken: Fact[] = [];
  let bytes = 0;
  let passing = 0;
  for (const { fact, rank } of ranked) {
    const size = countUtf8Bytes(fact.text);
    if (taken.length >= room || bytes + size > MAX_TAKEN_BYTES) continue;
    if (rank === PASSING && ++passing > MAX_TAKEN_FROM_AGENT) continue;
    bytes += size;
    taken.push(fact);
  }
  return taken;
}

/** The rank of statements that were only made in passing. */
const PASSING = 4;

function rankOf(fact: Fact): number {
  if (fact.pinned === true) return 0;
  if (fact.trust === 'declared') return fact.origin === 'human' ? 1 : 3;
  return fact.origin === 'human' ? 2 : PASSING;
}

/** The place and weight of a fact in its own session mean nothing in another. How something was settled stays known. */
const OF_ITS_SESSION: ReadonlySet<string> = new Set(['role', 'message', 'names']);

/** The fact with a reference to where it comes from. Carrying it over again changes nothing. */
function carryFact(fact: Fact, from: Handover): Fact {
  const { detail, ...rest } = fact;
  const kept = Object.entries(detail ?? {}).filter(
    ([name, value]) => !OF_ITS_SESSION.has(name) || SETTLED_ROLES.has(value),
  );
  return {
    ...rest,
    sources: nameSources(fact.sources, from),
    ...(kept.length === 0 ? {} : { detail: Object.fromEntries(kept) }),
  };
}

/** A line number needs its session. */
function nameSources(sources: readonly Source[], { id, session }: Handover): Source[] {
  if (sources.length === 0) return [{ ref: id }];
  return sources.map((source) => {
    if (source.line === undefined || source.session !== undefined) return source;
    return session.id === null ? { ref: source.ref ?? id } : { session: session.id, ...source };
  });
}

const NO_ROOM = 'no room among what is taken over';

function recordChain(outcomes: ReadonlyMap<string, Outcome>, kept: ReadonlySet<string>): Chain {
  const chain: Chain = { carried: 0, resolved: [], superseded: [], dropped: [] };
  for (const [id, outcome] of outcomes) {
    if (outcome.end === 'superseded' && kept.has(outcome.by))
      chain.superseded.push({ id, by: outcome.by, reason: outcome.reason });
    else if (outcome.end === 'resolved') addToGroup(chain.resolved, id, outcome.reason);
    else if (outcome.end === 'dropped') addToGroup(chain.dropped, id, outcome.reason);
    else if (kept.has(id)) chain.carried++;
    else addToGroup(chain.dropped, id, NO_ROOM);
  }
  return chain;
}

function addToGroup(groups: EndedFacts[], id: string, reason: string): void {
  const group = groups.find((one) => one.reason === reason);
  if (group === undefined) groups.push({ reason, ids: [id] });
  else group.ids.push(id);
}

/** What a handover records of the facts of its previous one. Facts that are not named were carried. */
export function readOutcomes({ resolved, superseded, dropped }: Chain): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const { reason, ids } of resolved) for (const id of ids) outcomes.set(id, { end: 'resolved', reason });
  for (const { id, by, reason } of superseded) outcomes.set(id, { end: 'superseded', by, reason });
  for (const { reason, ids } of dropped) for (const id of ids) outcomes.set(id, { end: 'dropped', reason });
  return outcomes;
}

const STATEMENTS: readonly FactKind[] = ['decision', 'rejected', 'blocker', 'question', 'next', 'note'];
const ENDING: ReadonlySet<Mark['mark'] | undefined> = new Set(['resolved', 'refuted']);

/** Whether the same words of the agent were resolved or refuted as another kind of fact: agents repeat themselves. */
function isContradicted(fact: Fact, stated: StatedIn, marks: Marks): boolean {
  if (fact.origin !== 'agent' || marks.size === 0 || marks.has(fact.id)) return false;
  return STATEMENTS.some((kind) => {
    const id = computeFactId(kind, fact.text);
    return marks.has(id) && ENDING.has(findMark({ ...fact, id }, stated, marks)?.mark);
  });
}
