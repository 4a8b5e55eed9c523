import type { Fact, FactKind } from './fact.ts';
import { hasList } from './message-lines.ts';

/** The agent of what a human wrote, where none is named. */
export const NO_AGENT = 'manual';

/** What a session did to a file, of those that change it. `committed`: it is in a commit, and no edit of it was seen. */
export const FILE_CHANGES: ReadonlySet<unknown> = new Set(['created', 'edited', 'deleted', 'committed']);

const PROGRESS: ReadonlySet<unknown> = new Set(['state', 'log', 'work', 'working']);

/** Whether a note describes how far a session was when it was captured: the next capture replaces it, and no search finds it. */
export function isProgressNote({ kind, detail }: Pick<Fact, 'kind' | 'detail'>): boolean {
  return kind === 'note' && PROGRESS.has(detail?.role);
}

/** How the structure of a session shows that something was settled. */
export const SETTLED_ROLES: ReadonlySet<unknown> = new Set(['answer', 'choice', 'plan']);

/** Whether it is what a user said in a session, other than an answer to a question. */
export function isUserMessage({
  kind,
  trust,
  origin,
  detail,
}: Pick<Fact, 'kind' | 'trust' | 'origin' | 'detail'>): boolean {
  return (
    (kind === 'goal' || kind === 'note') && trust === 'quoted' && origin === 'human' && detail?.question === undefined
  );
}

/** Whether it says what the session was to do: a request, or a list in any message. */
export function isRequest(fact: Pick<Fact, 'kind' | 'trust' | 'origin' | 'detail' | 'text'>): boolean {
  return isUserMessage(fact) && (fact.kind === 'goal' || hasList(fact.text));
}

const GUESSED: ReadonlySet<FactKind> = new Set(['decision', 'constraint', 'rejected', 'blocker', 'next']);

/**
 * Whether a sentence of the agent was taken for more by its words alone, as in handovers of earlier versions. Nobody
 * settled it. What was pinned or refuted since, somebody has looked at.
 */
export function isGuess({
  kind,
  trust,
  origin,
  status,
  pinned,
  detail,
}: Omit<Fact, 'id' | 'text' | 'sources'>): boolean {
  if (!GUESSED.has(kind) || trust !== 'quoted' || origin !== 'agent') return false;
  return !SETTLED_ROLES.has(detail?.role) && pinned !== true && status !== 'refuted';
}

/** Whether no sender told that it is done. */
export function isUnresolved({ status }: Fact): boolean {
  return status !== 'resolved';
}
