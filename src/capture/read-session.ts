import { type Agent, type FoundSession, type Reading, startReading } from '../agents/agent.ts';
import type { Opening } from '../agents/transcript.ts';
import { type Account, closeAccount, enterEvent, openAccount, settleAccount } from '../distil/account.ts';
import { type Distilled, distilAccount, distilEvents } from '../distil/distil.ts';
import { HandoverError } from '../errors.ts';
import type { Event } from '../model/event.ts';
import { sightFile } from '../platform/foreign-file.ts';
import type { Machine } from '../platform/machine.ts';
import { redactEvent } from '../redact/redact-event.ts';
import type { Redactor } from '../redact/redactor.ts';
import { openStore, type Store } from '../store/store.ts';
import { countEvent, startTally, type Tally, tallyEvents } from './judge-reading.ts';
import {
  findTranscriptReading,
  type KeptReading,
  keepTranscriptReading,
  packTranscriptReading,
  type TranscriptFile,
} from './kept-reading.ts';

export interface SessionRead {
  distilled: Distilled;
  reading: Reading;
  tally: Tally;
}

export interface ReadOptions {
  machine: Machine;
  keeps: boolean;
  redactor: Redactor;
  /** Whether to read all of it, whatever is known from the last time. */
  anew?: boolean;
}

/**
 * Reads a session and distils it, without its secrets. Of a transcript that has grown since the last time only what is new is read, with the
 * same outcome; with `keeps`, that next time is prepared for.
 */
export function readSession(
  agent: Agent,
  session: FoundSession,
  { machine, keeps, redactor, anew = false }: ReadOptions,
): SessionRead {
  const store = openStoreOrNull(machine);
  const sight = agent.openTranscript === undefined || store === null ? null : sightFile(session.path);
  if (store === null || sight === null) return readWhole(agent, session, redactor);
  const file = { agent, session, sight, redactor };
  const known = anew ? null : findTranscriptReading(store, file);
  const keep = keeps ? (data: Buffer) => keepTranscriptReading(store, file, data) : null;
  return (
    (known === null ? null : readFrom(file, { known, keep })) ??
    readFrom(file, { keep }) ??
    readFrom(file, { keep, lookAhead: true }) ??
    readWhole(agent, session, redactor)
  );
}

/** Readings are kept beside handovers. Who only looks may do so without a place for them. */
function openStoreOrNull(machine: Machine): Store | null {
  try {
    return openStore(machine);
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

function readWhole(agent: Agent, session: FoundSession, redactor: Redactor): SessionRead {
  redactor.resume(new Map());
  const reading = startReading();
  const tally = startTally();
  const events = tallyEvents(agent.readEvents(session, reading), tally);
  return { distilled: distilEvents(redactEvents(events, redactor)), reading, tally };
}

function* redactEvents(events: Iterable<Event>, redactor: Redactor): Generator<Event> {
  for (const event of events) yield redactEvent(event, redactor);
}

interface Beginning extends Pick<Opening, 'lookAhead'> {
  known?: KeptReading;
  keep: ((data: Buffer) => void) | null;
}

/** Null when it cannot be done from there. */
function readFrom(file: TranscriptFile, { known, keep, lookAhead = false }: Beginning): SessionRead | null {
  const { agent, session, sight, redactor } = file;
  redactor.resume(known?.found ?? new Map());
  const reading = known?.reading ?? startReading();
  const account: Account = known?.account ?? openAccount();
  const tally = known?.tally ?? startTally();
  const from = known === undefined ? {} : { from: known.bookmark };
  const transcript = agent.openTranscript?.({ session, reading, until: sight.size, lookAhead, ...from });
  const tell = (event: Event): void => {
    countEvent(tally, event);
    enterEvent(account, redactEvent(event, redactor));
  };
  if (!transcript?.read(tell)) return null;
  settleAccount(account);
  const mark = keep === null ? null : transcript.mark();
  const packed =
    mark === null ? null : packTranscriptReading(file, { bookmark: mark, reading, account, tally });
  if (!transcript.finish(tell)) return null;
  if (packed !== null && !redactor.hasLearnt) keep?.(packed);
  closeAccount(account);
  return { distilled: distilAccount(account), reading, tally };
}
