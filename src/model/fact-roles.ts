import type { Fact, FactKind } from './fact.ts';

const PROGRESS: ReadonlySet<unknown> = new Set(['state', 'log', 'work', 'working']);

/** Whether a note tells how far a session was when it was captured: the next capture replaces it, and nobody looks for it. */
export function isProgressNote({ kind, detail }: Pick<Fact, 'kind' | 'detail'>): boolean {
  return kind === 'note' && PROGRESS.has(detail?.role);
}

/** How the structure of a session shows that something was settled. */
export const SETTLED_ROLES: ReadonlySet<unknown> = new Set(['answer', 'choice', 'plan']);

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
