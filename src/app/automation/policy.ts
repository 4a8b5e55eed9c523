import type { StartSource } from '../../agents/hook-input.ts';
import type { Resumed } from './resumed.ts';

/**
 * What a session gets by itself, and when. This is the whole of it:
 *
 * | the session                                       | gets                                                    |
 * |---------------------------------------------------|---------------------------------------------------------|
 * | goes on after a compaction                        | its own brief                                           |
 * | is resumed, and has all of itself in its context  | nothing; a line on what changed since, if anything did  |
 * | is resumed, and was compacted                     | its own brief; the same as above if it still has that   |
 * | is resumed, and its transcript is gone            | its own brief                                           |
 * | follows another one in its terminal, after /clear | the brief of that one                                   |
 * | is new in a worktree                              | a hint at the last session there, or its brief, or      |
 * |                                                   | nothing, as `[restore] startup` says                    |
 * | is a sub-agent's, or was begun by a timer         | nothing                                                 |
 *
 * Always within one worktree. A brief that is older than the freshness window is not given: a hint at it is. Nothing is
 * given of a session that still runs in another terminal.
 */

export type Startup = 'brief' | 'hint' | 'off';

/** A session that something is ready of, as far as the policy has to know it. */
export interface Offer {
  agent: string;
  session: string;
  root: string;
  ageMs: number;
  compactions: number;
  /** Whether its agent still runs: `unknown` where the system does not tell. */
  life: 'running' | 'over' | 'unknown';
}

export interface Occasion<T extends Offer> {
  source: StartSource;
  agent: string;
  session: string;
  root: string;
  isSubAgent: boolean;
  isScheduled: boolean;
  /** Whether what was given to a session before is still there when it is resumed. */
  keepsContext: boolean;
  /** Of a session that is resumed and that something is ready of; null for any other. */
  resumed: Resumed | null;
  /** How many compactions of this session were known when it was last given something; null when it never was. */
  givenAt: number | null;
  startup: Startup;
  freshMs: number;
  /** Of this session itself. */
  own: T | null;
  /** Of the session before it in its terminal. */
  before: T | null;
  /** Of the session that was last captured in its worktree. */
  last: T | null;
}

export type Decision<T extends Offer> =
  | { give: 'nothing'; why: string }
  | { give: 'brief'; offer: T; why: string }
  /** What changed since the session of the offer was captured. */
  | { give: 'changes'; offer: T; why: string }
  /** `isStale`: it would have been a brief, but that is too old. */
  | { give: 'hint'; offer: T; why: string; isStale: boolean };

/** The morning after, and the week after a holiday, work is still gone on with. */
const LONGEST_HINT_MS = 7 * 24 * 60 * 60 * 1000;

export function decide<T extends Offer>(occasion: Occasion<T>): Decision<T> {
  if (occasion.isSubAgent) return nothing('a sub-agent gets its task from its agent');
  if (occasion.isScheduled) return nothing('it was begun by a timer');
  switch (occasion.source) {
    case 'compaction':
      return giveOwn(occasion, 'after compaction');
    case 'resume':
      return giveResumed(occasion);
    case 'clear':
      return giveBefore(occasion) ?? giveLast(occasion);
    case 'new':
      return giveLast(occasion);
  }
}

function giveOwn<T extends Offer>(occasion: Occasion<T>, why: string): Decision<T> {
  const { own } = occasion;
  if (own === null || own.root !== occasion.root) return nothing('nothing is ready of this session');
  return giveWhileFresh(occasion, own, why);
}

function giveResumed<T extends Offer>(occasion: Occasion<T>): Decision<T> {
  const { own, root, resumed } = occasion;
  if (resumed?.hasTranscript === false) return giveOwn(occasion, 'resumed, its transcript is gone');
  if (!isWhole(occasion) && !isStillThere(occasion)) return giveOwn(occasion, 'resumed');
  return own !== null && own.root === root && resumed?.isOvertaken === true
    ? { give: 'changes', offer: own, why: 'resumed' }
    : nothing('it still has all of it');
}

/** Never compacted, as far as is known: what was captured last may be older than a compaction that was told of. */
function isWhole<T extends Offer>({ own, givenAt }: Occasion<T>): boolean {
  return (own?.compactions ?? 0) === 0 && (givenAt ?? 0) === 0;
}

function isStillThere<T extends Offer>({ own, givenAt, keepsContext }: Occasion<T>): boolean {
  if (givenAt === null || own === null) return false;
  return keepsContext && own.compactions <= givenAt;
}

/** Null when there was none. */
function giveBefore<T extends Offer>(occasion: Occasion<T>): Decision<T> | null {
  const { before } = occasion;
  if (before === null || before.root !== occasion.root || before.agent !== occasion.agent) return null;
  if (before.session === occasion.session) return null;
  return giveWhileFresh(occasion, before, 'after /clear');
}

function giveLast<T extends Offer>(occasion: Occasion<T>): Decision<T> {
  const { last, startup } = occasion;
  if (startup === 'off') return nothing('restore.startup is off');
  if (last === null || last.root !== occasion.root) return nothing('nothing is ready of this worktree');
  if (last.agent === occasion.agent && last.session === occasion.session)
    return nothing('the last session here is this one');
  if (last.life === 'running') return nothing('the last session here still runs');
  if (startup === 'brief' && last.life === 'over') return giveWhileFresh(occasion, last, 'a new session');
  return hint(last, 'a new session', false);
}

function giveWhileFresh<T extends Offer>({ freshMs }: Occasion<T>, offer: T, why: string): Decision<T> {
  return offer.ageMs <= freshMs ? { give: 'brief', offer, why } : hint(offer, why, true);
}

function hint<T extends Offer>(offer: T, why: string, isStale: boolean): Decision<T> {
  if (offer.ageMs > LONGEST_HINT_MS) return nothing('it is older than a week');
  return { give: 'hint', offer, why, isStale };
}

function nothing(why: string): { give: 'nothing'; why: string } {
  return { give: 'nothing', why };
}
