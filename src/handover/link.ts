import { isDeepStrictEqual } from 'node:util';
import {
  computeFactId,
  type Fact,
  type FactKind,
  getFileProbe,
  MAX_FACTS,
  readTold,
  type Source,
} from '../model/fact.ts';
import { isRequest, isUserMessage, NO_AGENT, SETTLED_ROLES } from '../model/fact-roles.ts';
import type { Chain, EndedFacts, Handover, UnstampedDraft } from '../model/handover.ts';
import { countUtf8Bytes, cutInside, cutToBytes } from '../model/text.ts';
import { isSavedByHand } from '../model/time.ts';
import {
  findMark,
  isEnding,
  isNote,
  listPinnedElsewhere,
  type Marks,
  markFacts,
  NO_MARKS,
  STATED_AT,
  type StatedIn,
} from './marks.ts';
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
  for (const sealed of byHand === null ? [previous] : [takeDeclared(byHand), previous]) {
    const earlier = { ...sealed, facts: markFacts(sealed.facts, sealed, marks) };
    const again = new Set([...seen, ...lasting].map((fact) => fact.id));
    for (const [id, reason] of listResolved(sealed, marks))
      outcomes.set(id, again.has(id) ? { end: 'carried' } : { end: 'resolved', reason });
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
  const noted = findNoteTime(draft, [previous, ...(byHand === null ? [] : [byHand])]);
  return { ...draft, ...noted, title, facts, previous: previous.id, chain: { ...chain, ...joined } };
}

/** A session that what was written by hand became part of is as new as that, though its events are older. */
function findNoteTime({ session }: UnstampedDraft, followed: readonly Handover[]): Pick<Handover, 'noted_at'> {
  const times = followed.flatMap(({ session: { id }, created_at, noted_at, facts }) => {
    if (id === null) return [created_at];
    return noted_at !== undefined && (id === session.id || facts.some(isByHuman)) ? [noted_at] : [];
  });
  const [last] = times.sort().reverse();
  return last === undefined || session.last_at === undefined || last <= session.last_at ? {} : { noted_at: last };
}

/** What was written by hand on top of another session's work, without that work. */
function takeDeclared(byHand: Handover): Handover {
  if (byHand.session.id === null) return byHand;
  return { ...byHand, facts: byHand.facts.filter(isByHuman) };
}

/** Whether a human wrote it down for the next session. */
export function isByHuman({ trust, origin }: Fact): boolean {
  return trust === 'declared' && origin === 'human';
}

/**
 * Adds what was written by hand to the handover of the work that it is about: the session, and all of its facts that are
 * not resolved, stay as they are.
 */
export function addByHand(draft: UnstampedDraft, base: Handover, marks: Marks): UnstampedDraft {
  const isCarried = ({ trust }: Fact): boolean => trust === 'declared' || base.session.id === null;
  const earlier = markFacts(base.facts, base, marks).map((fact) => (isCarried(fact) ? carryFact(fact, base) : fact));
  const facts = joinFacts(keepStronger(draft.facts, base), earlier).slice(0, MAX_FACTS);
  const outcomes = new Map<string, Outcome>(base.facts.map(({ id }) => [id, { end: 'holds' }]));
  const kept = new Set(facts.map((fact) => fact.id));
  for (const [id, reason] of listResolved(base, marks))
    if (!kept.has(id)) outcomes.set(id, { end: 'resolved', reason });
  const redactions = new Map(base.redactions.map(({ kind, count }) => [kind, count]));
  for (const { kind, count } of draft.redactions) redactions.set(kind, count + (redactions.get(kind) ?? 0));
  return {
    ...draft,
    session: base.session.id === null ? draft.session : base.session,
    summary: draft.summary === '' ? base.summary : draft.summary,
    facts,
    previous: base.id,
    chain: recordChain(outcomes, kept),
    redactions: [...redactions].map(([kind, count]) => ({ kind, count })),
  };
}

/** A handover that something was added to by hand, as two: the session's work as it was, and what was added, of its own time. */
export function splitNote(handover: Handover): Handover[] {
  const notes = handover.facts.filter((fact) => isNote(fact, handover));
  if (!isSavedByHand(handover)) return [handover];
  const { last_at: _, ...session } = { ...handover.session, id: null, started_at: null };
  const agent = notes.some((fact) => (readTold(fact) ?? fact).origin === 'agent') ? session.agent : NO_AGENT;
  const work = handover.facts.filter((fact) => !notes.includes(fact));
  return [
    { ...handover, session: { ...session, agent }, facts: notes },
    { ...handover, facts: work },
  ];
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
export function listResolved(sealed: Handover, marks: Marks): [id: string, reason: string][] {
  return sealed.facts.flatMap((fact) => {
    const mark = findMark(fact, sealed, marks);
    if (mark?.mark !== 'resolved') return [];
    const because = mark.because === null ? '' : `: ${mark.because}`;
    return [[fact.id, cutToBytes(`${RESOLVED_BY_HAND}${because}`, MAX_REASON_BYTES)]];
  });
}

/**
 * Whether a linked draft says nothing that the previous handover does not say: the same session, read again. That may
 * have been written on by hand, which gave it a title and a time of its own, and a hook may know the terminal.
 */
export function addsNothing(linked: UnstampedDraft, { previous, byHand }: Predecessors): boolean {
  if (byHand !== null || (linked.session.last_at ?? '') > (previous.session.last_at ?? '')) return false;
  const declared = new Map(previous.facts.filter(isDeclared).map((fact) => [fact.id, fact]));
  const isNew = ({ id, detail }: Fact): boolean =>
    !declared.has(id) || declared.get(id)?.detail?.[STATED_AT] !== detail?.[STATED_AT];
  if (linked.facts.filter(isDeclared).some(isNew)) return false;
  return isDeepStrictEqual(contentOf(linked), contentOf(previous));
}

function isDeclared({ trust }: Fact): boolean {
  return trust === 'declared';
}

/** What was seen of a session, without when it was seen and what it follows. */
function contentOf(draft: UnstampedDraft): object {
  const { project, workspace, facts, redactions } = draft;
  const { agent, id, model, transcript, started_at } = draft.session;
  const seen = facts.filter((fact) => !isDeclared(fact)).map(({ probe: _, ...rest }) => rest);
  return { project, workspace, redactions, agent, id, model, transcript, started_at, seen };
}

/** Messages of the user that state a rule, as constraints. */
export function extractRules(earlier: Handover): Fact[] {
  return earlier.facts
    .filter(isRule)
    .map((fact) => carryFact({ ...fact, id: computeFactId('constraint', fact.text), kind: 'constraint' }, earlier));
}

function withoutKnown(facts: readonly Fact[], known: readonly Fact[]): Fact[] {
  const ids = new Set(known.map((fact) => fact.id));
  return facts.filter((fact) => !ids.has(fact.id));
}

export function joinFacts(first: readonly Fact[], second: readonly Fact[]): Fact[] {
  return [...first, ...withoutKnown(second, first)];
}

/** A pin stays with its fact, and a declared fact is not weakened by an agent that repeats it in passing. */
function keepStronger(facts: readonly Fact[], earlier: Handover): Fact[] {
  const known = new Map(earlier.facts.map((fact) => [fact.id, fact]));
  return facts.map((fact) => {
    const before = known.get(fact.id);
    if (before?.trust === 'declared' && fact.trust === 'quoted' && fact.origin === 'agent')
      return carryFact(before, earlier);
    const probed = { ...fact, ...keepProbe(fact, before) };
    return before?.pinned === true ? { ...probed, pinned: true } : probed;
  });
}

/** What was checked while the session ran is known; later the file may have changed. */
function keepProbe({ probe, detail }: Fact, before: Fact | undefined): Pick<Fact, 'probe'> {
  const isSame = before?.detail?.edits === detail?.edits && before?.detail?.reads === detail?.reads;
  if (probe === undefined) return before?.probe !== undefined && isSame ? { probe: before.probe } : {};
  // A session that only read the file found the same in it.
  const [held, now] = [before === undefined ? null : getFileProbe(before), getFileProbe({ probe })];
  const isRead = held !== null && now !== null && held.sha256 === now.sha256;
  return isRead ? { probe: { ...held, ...now } } : {};
}

const MAX_CARRIED = 100;
const MAX_TAKEN_BYTES = 256 * 1024;
/** Of the user's messages, and of one of them. */
const MAX_MESSAGES_BYTES = 64 * 1024;
const MAX_MESSAGE_BYTES = 4000;

/**
 * Keeps a long chain of handovers from growing without end. What was declared comes first, then what the user settled, then
 * the user's requests and lists, then the agent's words; of equals those of the previous session before those that it had
 * carried over itself.
 */
function chooseCarried(candidates: readonly Fact[], seen: number): Fact[] {
  const ranked = candidates
    .map((fact, index) => ({ fact, index, rank: rankOf(fact) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index);
  const room = Math.min(MAX_CARRIED, MAX_FACTS - seen);
  const taken: Fact[] = [];
  let bytes = 0;
  let messageBytes = 0;
  const counts = new Map<number, number>();
  for (const { fact, rank } of ranked) {
    const size = countUtf8Bytes(fact.text);
    const count = (counts.get(rank) ?? 0) + 1;
    if (taken.length >= room || bytes + size > MAX_TAKEN_BYTES || count > (MOST_OF_RANK.get(rank) ?? room)) continue;
    const said = isUserMessage(fact) ? size : 0;
    if (messageBytes + said > MAX_MESSAGES_BYTES) continue;
    messageBytes += said;
    counts.set(rank, count);
    bytes += size;
    taken.push(fact);
  }
  return taken;
}

const [REQUEST, BY_AGENT, MESSAGE] = [4, 5, 6];
const MOST_OF_RANK: ReadonlyMap<number, number> = new Map([
  [REQUEST, 40],
  [BY_AGENT, 30],
  [MESSAGE, 20],
]);

function rankOf(fact: Fact): number {
  if (fact.pinned === true) return 0;
  if (fact.trust === 'declared') return fact.origin === 'human' ? 1 : 3;
  if (isUserMessage(fact)) return isRequest(fact) ? REQUEST : MESSAGE;
  return fact.origin === 'human' ? 2 : BY_AGENT;
}

/** The place and weight of a fact in its own session mean nothing in another. How something was settled stays known. */
const OF_ITS_SESSION: ReadonlySet<string> = new Set(['role', 'message', 'names']);

/** What is to be done, and looks as if it were asked today: it keeps the day of its session, like the user's messages. */
const DATED: ReadonlySet<FactKind> = new Set(['goal', 'task']);

/**
 * The fact with a reference to where it comes from; a long message of the user without its middle. Carrying it over again
 * changes nothing.
 */
export function carryFact(fact: Fact, from: Handover): Fact {
  const { detail, ...rest } = fact;
  const isMessage = isUserMessage(fact);
  const kept = Object.entries(detail ?? {}).filter(
    ([name, value]) => !OF_ITS_SESSION.has(name) || SETTLED_ROLES.has(value),
  );
  const isDated =
    (DATED.has(fact.kind) || isMessage) && fact.sources.some(({ line, session }) => line !== undefined && !session);
  const of = isDated && from.session.last_at !== undefined ? [['of', from.session.last_at.slice(0, 10)]] : [];
  return {
    ...rest,
    ...(isMessage && fact.pinned !== true ? { text: cutInside(fact.text, MAX_MESSAGE_BYTES) } : {}),
    sources: nameSources(fact.sources, from),
    ...(kept.length + of.length === 0 ? {} : { detail: Object.fromEntries([...kept, ...of]) }),
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

export function recordChain(outcomes: ReadonlyMap<string, Outcome>, kept: ReadonlySet<string>): Chain {
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
/** Whether the same words of the agent were resolved or refuted as another kind of fact: agents repeat themselves. */
function isContradicted(fact: Fact, stated: StatedIn, marks: Marks): boolean {
  if (fact.origin !== 'agent' || marks.size === 0 || marks.has(fact.id)) return false;
  return STATEMENTS.some((kind) => {
    const id = computeFactId(kind, fact.text);
    return marks.has(id) && isEnding(findMark({ ...fact, id }, stated, marks)?.mark);
  });
}
