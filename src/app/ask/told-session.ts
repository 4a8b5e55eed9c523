import { isTakenOver } from '../../handover/marks.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';

/** A session by what was handed over of it, the newest handover first; or one handover that was written by hand. */
export interface ToldSession {
  newest: Handover;
  handovers: Handover[];
}

/** A handover that may tell of what is asked about. */
export interface Lead {
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

export interface Gathered {
  sessions: ToldSession[];
  hasMore: boolean;
}

/** Reads leads, the newest first, until enough sessions have come together. */
export async function gatherSessions(leads: AsyncIterable<Lead>, options: GatherOptions): Promise<Gathered> {
  const { read, accepts, limit } = options;
  const sessions = new Map<string, ToldSession>();
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
export interface Telling {
  fact: Fact;
  by: Handover;
}

/** Every fact of the session once, as its newest handover tells it. What was taken over from another one is left out. */
export function listOwnFacts({ handovers }: ToldSession): Telling[] {
  const told = new Map<string, Telling>();
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
export function lastMomentOf({ session, created_at }: Handover): string {
  return session.last_at ?? created_at;
}

/** Where in the transcript of its session a fact was seen. */
export function lineOf({ sources: [source] }: Fact): number {
  return source?.line ?? 0;
}
