import type { StartSource } from '../../agents/hook-input.ts';
import { readFreshness } from '../../handover/expiry.ts';
import { sleep } from '../../platform/machine.ts';
import { judgeLife, listBegun } from './begun.ts';
import { lookForChanges } from './evidence.ts';
import { keyOfSession } from './folders.ts';
import { claimGiving, type Given, listGiven } from './given.ts';
import { writeBrief, writeChanges, writeHint } from './message.ts';
import type { Decision, Occasion, Offer } from './policy.ts';
import { findPointer, isStillKept, type OpenedReady, openReady, type Pointer } from './ready.ts';
import { judgeResumed } from './resumed.ts';
import { isCaptureDue, JOURNAL_QUEUE, type JournalNote, writeNote } from './spool.ts';
import type { Visit } from './visit.ts';

interface ReadyOffer extends Offer, OpenedReady {}

/** All that is known when it is decided what a session gets. */
export interface Delivery {
  occasion: Occasion<ReadyOffer>;
  /** What the session was given before. */
  before: Given[];
  /** Compactions of this session, with one that is under way. */
  compactions: number;
  /** Whether the session was compacted since it was last given anything. */
  isCompactedSince: boolean;
  /** Whether a ready file was not what was written. */
  isDamaged: boolean;
}

export interface Due {
  source: StartSource;
  /** Since when it is owed; null when it is not. */
  owedMs: number | null;
}

export function prepareDelivery(visit: Visit, { source, owedMs }: Due): Delivery {
  const { store, kind, input, root, terminal, settings, machine } = visit;
  let isDamaged = false;
  const offer = (of: { agent: string; session: string } | null): ReadyOffer | null => {
    const found = of === null ? null : openReady(store, of);
    if (found === null || found.ready === null) {
      isDamaged ||= found?.isDamaged ?? false;
      return null;
    }
    return describeOffer(visit, found);
  };
  const isOwnDue = source === 'compaction' || source === 'resume';
  const own = isOwnDue ? offer({ agent: kind.agent, session: input.session }) : null;
  const before = source === 'clear' && terminal !== null ? findPointer(store, 'terminals', terminal) : null;
  const last = isOwnDue || settings.startup === 'off' ? null : findPointer(store, 'worktrees', root);
  const given = listGiven(store, visit.key);
  const givenAt = given.at(-1)?.compactions ?? null;
  // What lies ready was read before a compaction that a start tells of, and mostly before one that is owed for.
  const isUnread = kind.moment === 'start' || (owedMs !== null && (own?.ready.capturedMs ?? 0) <= owedMs);
  const compactions = (own?.compactions ?? givenAt ?? 0) + (source === 'compaction' && isUnread ? 1 : 0);
  return {
    occasion: {
      source,
      agent: kind.agent,
      session: input.session,
      root,
      isSubAgent: input.isSubAgent,
      isScheduled: visit.isScheduled(),
      keepsContext: kind.dialect.keepsContext,
      resumed: source === 'resume' && own !== null ? judgeResumed(own.ready, input.transcript) : null,
      givenAt,
      startup: settings.startup,
      freshMs: readFreshness(machine.env),
      own,
      before: offer(before),
      last: offer(last),
    },
    before: given,
    compactions,
    isCompactedSince: own !== null && own.compactions > (givenAt ?? 0),
    isDamaged,
  };
}

function describeOffer({ nowMs, process }: Visit, opened: OpenedReady): ReadyOffer {
  const { ready } = opened;
  const { agent, session, root, compactions, capturedMs, isEnded } = ready;
  // A session that was in this very process is over, or this one would not be in it.
  const isReplaced = process !== null && ready.process === process;
  return {
    agent,
    session,
    root,
    compactions,
    ageMs: Math.max(0, nowMs - capturedMs),
    life: isEnded || isReplaced ? 'over' : judgeLife(ready.process),
    ...opened,
  };
}

/** What to print, so that the agent gives it to its model; null for nothing. What happens is noted for the journal. */
export function deliver(
  visit: Visit,
  { before, compactions, isDamaged }: Delivery,
  decision: Decision<ReadyOffer>,
): string | null {
  const { store, kind, input, key, process, nowMs } = visit;
  const brief = decision.give === 'brief' ? readBriefFor(kind.agent, decision.offer) : null;
  const isUnfit = decision.give === 'brief' && brief === null;
  if (isDamaged || isUnfit)
    note(visit, 'rejected_invalid', { handover: `ready/${key}`, reason: 'it is not what was written' });
  if (decision.give === 'nothing' || isUnfit || !isStillKept(store, decision.offer.ready)) return null;
  const { give, why, offer } = decision;
  const { handover } = offer.ready;
  const { agent } = kind;
  const { session } = input;
  const given = { agent, session, handover, form: give, compactions, process, atMs: nowMs };
  if (!claimGiving(store, key, { given, before })) return null;
  if (decision.give === 'hint' && decision.isStale) note(visit, 'rejected_stale', { handover, reason: why });
  note(visit, 'delivered', { handover, reason: `${give}, ${why}` });
  const { ageMs } = offer;
  if (give === 'changes')
    return kind.dialect.write(kind.event, writeChanges(offer.ready, lookForChanges(offer.ready)));
  if (brief === null) return kind.dialect.write(kind.event, writeHint(offer.ready, { ageMs }));
  const text = writeBrief(brief, {
    why,
    ageMs,
    changes: lookForChanges(offer.ready),
    isAgain: before.some((one) => one.handover === handover && one.form === 'brief'),
  });
  return kind.dialect.write(kind.event, text);
}

function readBriefFor(agent: string, offer: ReadyOffer): string | null {
  return offer.readBrief(offer.agent === agent ? 'own' : 'any');
}

function note(
  { store, input, machine, nowMs }: Visit,
  event: JournalNote['event'],
  { handover, reason }: { handover: string; reason: string },
): void {
  const entry: JournalNote = {
    kind: 'journal',
    event,
    handover,
    session: input.session,
    reason,
    atMs: nowMs,
  };
  writeNote(store, JOURNAL_QUEUE, { note: entry, machine });
}

/** A compaction takes far longer than this; a session that is begun at once after another one is rare. */
const LONGEST_WAIT_MS = 2000;
const STEP_MS = 10;

/**
 * Waits for a capture that is under way, if what it makes is to be given now. True when it is still under way. Usually there
 * is none and nothing is waited for.
 */
export function awaitCapture(visit: Visit, source: StartSource): boolean {
  const keys = new Set(findAwaited(visit, source).map(keyOfSession));
  for (let waited = 0; isCaptureDue(visit.store, keys); waited += STEP_MS) {
    if (waited >= LONGEST_WAIT_MS) return true;
    sleep(STEP_MS);
  }
  return false;
}

function findAwaited(
  { store, kind, input, root, terminal, settings }: Visit,
  source: StartSource,
): { agent: string; session: string }[] {
  switch (source) {
    case 'compaction':
    case 'resume':
      return [{ agent: kind.agent, session: input.session }];
    case 'clear': {
      const before: Pointer | null = terminal === null ? null : findPointer(store, 'terminals', terminal);
      return before === null ? [] : [before];
    }
    case 'new':
      return settings.startup === 'brief'
        ? listBegun(store, root).filter(({ session }) => session !== input.session)
        : [];
  }
}
