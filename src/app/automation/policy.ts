import type { StartSource } from '../../agents/hook-input.ts';
/**
 * What is delivered to a session without being asked for:
 *
 * | the session                                       | gets                                                    |
 * |---------------------------------------------------|---------------------------------------------------------|
 * | continues after a compaction                      | its own brief                                           |
 * | is resumed with its whole context                 | nothing; one line about changes since, if there are any |
 * | is resumed, and was compacted                     | its own brief; as above if that is still in its context |
 * | is resumed, and its transcript is gone            | its own brief                                           |
 * | follows another one in its terminal, after /clear | the brief of that one                                   |
 * | is new in a worktree                              | a hint at the last session there, or its brief, or      |
 * |                                                   | nothing, as `[restore] startup` says                    |
 * | is a sub-agent's, or was started by a timer       | nothing                                                 |
 *
 * Only within one worktree. A brief older than the freshness window is replaced by a hint. Nothing is delivered about a
 * session that still runs in another terminal.
 */

export type Startup = 'brief' | 'hint' | 'off';

/** What hooks may do without being asked. */
export interface AutomationSettings {
  isEnabled: boolean;
  startup: Startup;
  /** A PAUSE file besides the usual ones; empty for none. */
  pauseFile: string;
}

/** What a resumed session can continue from. */
export interface ResumeState {
  /** Whether its agent still has its transcript, and so its context. */
  hasTranscript: boolean;
  /** Whether somebody else changed its files or HEAD since it was captured. */
  hasChanges: boolean;
}

/** A session whose prepared brief could be delivered, as far as the policy needs to know it. */
export interface Candidate {
  agent: string;
  session: string;
  root: string;
  /** Since it was captured. */
  ageMs: number;
  /** Since the last event of the session, which may be long before. */
  workAgeMs: number;
  compactions: number;
  state: 'running' | 'ended' | 'unknown';
}

/** The session that a hook was called for, and what could be delivered to it. */
export interface SessionStart<T extends Candidate> {
  source: StartSource;
  agent: string;
  session: string;
  root: string;
  isSubAgent: boolean;
  isScheduled: boolean;
  /** Whether a resumed session still has in its context what was delivered to it before. */
  keepsContext: boolean;
  /** Null unless the session is resumed and has a prepared brief. */
  resumed: ResumeState | null;
  /** How many compactions of this session were known at the last delivery to it; null without one. */
  compactionsAtDelivery: number | null;
  startup: Startup;
  freshMs: number;
  own: T | null;
  /** The session before it in its terminal. */
  before: T | null;
  /** The session last captured in its worktree. */
  last: T | null;
}

export type Decision<T extends Candidate> =
  | { kind: 'nothing'; why: string }
  | { kind: 'brief'; candidate: T; why: string }
  /** The changes since the session was captured. */
  | { kind: 'changes'; candidate: T; why: string }
  /** `isStale`: instead of a brief that is too old. */
  | { kind: 'hint'; candidate: T; why: string; isStale: boolean };

const MAX_HINT_AGE_MS = 7 * 24 * 60 * 60 * 1000;

export function decide<T extends Candidate>(start: SessionStart<T>): Decision<T> {
  if (start.isSubAgent) return nothing('a sub-agent gets its task from its agent');
  if (start.isScheduled) return nothing('it was started by a timer');
  switch (start.source) {
    case 'compaction':
      return deliverOwn(start, 'after compaction');
    case 'resume':
      return deliverResumed(start);
    case 'clear':
      return deliverBefore(start) ?? deliverLast(start);
    case 'new':
      return deliverLast(start);
  }
}

function deliverOwn<T extends Candidate>(start: SessionStart<T>, why: string): Decision<T> {
  const { own, root } = start;
  if (own?.root !== root) return nothing('there is no prepared brief of this session');
  return deliverIfFresh(start, own, why);
}

function deliverResumed<T extends Candidate>(start: SessionStart<T>): Decision<T> {
  const { own, root, resumed, keepsContext, compactionsAtDelivery: atDelivery } = start;
  if (resumed?.hasTranscript === false) return deliverOwn(start, 'resumed, its transcript is gone');
  // Never compacted, as far as known: the last capture may be older than a compaction that a hook reported.
  const isWhole = (own?.compactions ?? 0) === 0 && (atDelivery ?? 0) === 0;
  const hasDelivery = keepsContext && own !== null && atDelivery !== null && own.compactions <= atDelivery;
  if (!isWhole && !hasDelivery) return deliverOwn(start, 'resumed');
  return own !== null && own.root === root && resumed?.hasChanges === true
    ? { kind: 'changes', candidate: own, why: 'resumed' }
    : nothing('it still has all of it');
}

/** Null when there was none. */
function deliverBefore<T extends Candidate>(start: SessionStart<T>): Decision<T> | null {
  const { before, root, agent, session } = start;
  if (before?.root !== root || before.agent !== agent || before.session === session) return null;
  return deliverIfFresh(start, before, 'after /clear');
}

const NEW = 'a new session';

function deliverLast<T extends Candidate>(start: SessionStart<T>): Decision<T> {
  const { last, startup, root, agent, session, freshMs } = start;
  if (startup === 'off') return nothing('restore.startup is off');
  if (last?.root !== root) return nothing('there is no prepared brief in this worktree');
  if (last.agent === agent && last.session === session) return nothing('the last session here is this one');
  if (last.state === 'running') return nothing('the last session here is still running');
  if (startup === 'brief' && last.state === 'ended')
    return last.workAgeMs <= freshMs ? { kind: 'brief', candidate: last, why: NEW } : hint(last, NEW, true);
  return hint(last, NEW, false);
}

function deliverIfFresh<T extends Candidate>({ freshMs }: SessionStart<T>, candidate: T, why: string): Decision<T> {
  return candidate.ageMs <= freshMs ? { kind: 'brief', candidate, why } : hint(candidate, why, true);
}

function hint<T extends Candidate>(candidate: T, why: string, isStale: boolean): Decision<T> {
  if (candidate.workAgeMs > MAX_HINT_AGE_MS) return nothing('it is older than a week');
  return { kind: 'hint', candidate, why, isStale };
}

function nothing(why: string): { kind: 'nothing'; why: string } {
  return { kind: 'nothing', why };
}
