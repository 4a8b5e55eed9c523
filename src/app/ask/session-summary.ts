import { splitNote } from '../../handover/link.ts';
import { isCarriedOver, type Marks } from '../../handover/marks.ts';
import type { Fact, FactKind } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { cutAtWord, findFirstLine } from '../../model/text.ts';
import { isSavedByHand, lastWorkOf } from '../../model/time.ts';
import type { FactDocument, FactFilter, FilePage, Finder, HandoverRecord } from '../../search/finder.ts';
import { parseQuery } from '../../search/query.ts';

/** The facts that questions are answered from; those of the newest handover first. */
export interface FactSource {
  facts(filter: Pick<FactFilter, 'kinds' | 'fileName'>): AsyncIterable<FactDocument>;
  files(): Promise<AsyncIterable<FilePage> | null>;
  /** The facts of these kinds that best match words of the text. */
  mentions(text: string, kinds: readonly FactKind[]): Promise<FactDocument[]>;
  /** The facts with these ids in every handover of a project, whatever the scope is. */
  occurrences(ids: readonly string[], project: string): AsyncIterable<FactDocument>;
  marks(project: string): Promise<Marks>;
}

export function openFactSource(finder: Finder, scope: Pick<FactFilter, 'project' | 'agent' | 'sinceMs'>): FactSource {
  return {
    facts: (filter) => finder.facts({ ...scope, ...filter }),
    files: () => finder.files(scope),
    mentions: async (text, kinds) => {
      const { texts } = await finder.gather({ ...scope, text, kinds, limit: 0 }, parseQuery(text));
      return texts.flatMap((document) => (document.what === 'fact' ? [document] : []));
    },
    occurrences: (ids, id) => finder.facts({ ids, project: { id } }),
    marks: (project) => finder.marks(project),
  };
}

/** A handover that may be about what is asked. */
export type HandoverRef = Pick<HandoverRecord, 'id'>;

/** The handovers of facts, each once, those of the newest work first. */
export async function* listHolders(lists: readonly AsyncIterable<FactDocument>[]): AsyncIterable<HandoverRef> {
  const found = new Map<string, HandoverRecord>();
  for (const list of lists) for await (const { handover } of list) found.set(handover.id, handover);
  const name = ({ workedAt, at, id }: HandoverRecord): string => `${workedAt} ${at} ${id}`;
  yield* [...found.values()].sort((a, b) => compareCodeUnits(name(b), name(a)));
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

/** Reads handovers, the newest first, until enough sessions are found. What was added by hand counts as a session of its own. */
export async function gatherSessions(
  refs: AsyncIterable<HandoverRef>,
  { read, accepts, limit }: Pick<QuestionOptions, 'read' | 'limit'> & { accepts(handover: Handover): boolean },
): Promise<{ sessions: SessionSummary[]; hasMore: boolean }> {
  const sessions = new Map<string, SessionSummary>();
  const list = (): SessionSummary[] =>
    [...sessions.values()].sort((a, b) => compareCodeUnits(lastWorkOf(b.newest), lastWorkOf(a.newest)));
  for await (const ref of refs) {
    const whole = read(ref.id);
    for (const handover of whole === null ? [] : splitNote(whole)) {
      if (!accepts(handover)) continue;
      const { agent, id } = handover.session;
      const key = id === null ? ref.id : `${agent}\n${id}`;
      const known = sessions.get(key);
      if (known !== undefined) known.handovers.push(handover);
      else if (sessions.size === limit) return { sessions: list(), hasMore: true };
      else sessions.set(key, { newest: handover, handovers: [handover] });
    }
  }
  return { sessions: list(), hasMore: false };
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
    at: lastWorkOf(by),
    title: findTitle(newest),
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

/** Whether a fact is a request of the human. An answer to a question belongs to what it settled. */
export function isRequest({ detail }: Fact): boolean {
  return typeof detail?.message === 'number' && detail.question === undefined;
}

/** Whether a fact is from the words that ended a turn of the agent. */
export function closesTurn({ detail }: Fact): boolean {
  return detail?.role === 'closing' || detail?.role === 'stopped';
}

/** What the work is about. A handover that was added to by hand has the title of the note. */
export function findTitle(handover: Handover): string {
  const { title, session, facts } = handover;
  if (session.id === null || !isSavedByHand(handover)) return title;
  const asked = facts.find(({ kind }) => kind === 'goal')?.text;
  return asked === undefined ? title : cutAtWord(findFirstLine(asked), MAX_TITLE_BYTES);
}

const MAX_TITLE_BYTES = 100;

/** The request that was worked on, else the title. */
export function findGoal({ facts, title }: Handover): string {
  const goals = facts.filter((fact) => fact.kind === 'goal' && !isCarriedOver(fact));
  const current = goals.find((fact) => fact.detail?.role === 'current') ?? goals[0];
  return current?.text ?? title;
}
