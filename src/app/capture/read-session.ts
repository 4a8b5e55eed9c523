import { type Agent, type FoundSession, type Reading, startReading } from '../../agents/agent.ts';
import { toMessageText } from '../../agents/message-text.ts';
import type { Opening } from '../../agents/transcript.ts';
import { type Account, closeAccount, enterEvent, openAccount, settleAccount } from '../../distill/account.ts';
import { type Distilled, distilAccount } from '../../distill/distill.ts';
import { HandoverError } from '../../errors.ts';
import type { Event } from '../../model/event.ts';
import { statFile } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { redactEvent } from '../../redact/redact-event.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { openStore, type Store } from '../../store/store.ts';
import { countEvent, startTally, type Tally } from './judge-reading.ts';
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
  /** What the agent said last: told at the end, unless the transcript tells it. */
  lastReply?: string;
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
  { machine, keeps, redactor, lastReply, anew = false }: ReadOptions,
): SessionRead {
  const store = openStoreOrNull(machine);
  const sight = agent.openTranscript === undefined || store === null ? null : statFile(session.path);
  const told = lastReply === undefined ? {} : { lastReply };
  if (store === null || sight === null) return readWhole(agent, session, { redactor, ...told });
  const file = { agent, session, sight, redactor };
  const known = anew ? null : findTranscriptReading(store, file);
  const keep = keeps ? (data: Buffer) => keepTranscriptReading(store, file, data) : null;
  return (
    (known === null ? null : readFrom(file, { ...told, known, keep })) ??
    readFrom(file, { ...told, keep }) ??
    readFrom(file, { ...told, keep, lookAhead: true }) ??
    readWhole(agent, session, { redactor, ...told })
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

function readWhole(
  agent: Agent,
  session: FoundSession,
  { redactor, lastReply }: Pick<ReadOptions, 'redactor' | 'lastReply'>,
): SessionRead {
  redactor.resume(new Map());
  const reading = startReading();
  const tally = startTally();
  const account = openAccount();
  for (const event of agent.readEvents(session, reading)) {
    countEvent(tally, event);
    enterEvent(account, redactEvent(event, redactor));
  }
  enterLastReply(account, lastReply, redactor);
  closeAccount(account);
  return { distilled: distilAccount(account), reading, tally };
}

/** Enters what the agent said last, if its transcript was behind and the account does not have it. */
function enterLastReply(account: Account, text: string | undefined, redactor: Redactor): void {
  if (text === undefined) return;
  const reply = redactEvent(
    { type: 'reply', at: account.lastAt, ref: { line: 0, id: null }, text: toMessageText(text) },
    redactor,
  );
  const said = reply.type === 'reply' ? squeeze(reply.text) : '';
  const last = squeeze(account.replies.at(-1)?.text ?? '');
  if (said === '' || (last !== '' && (said.includes(last) || last.includes(said)))) return;
  enterEvent(account, reply);
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

interface Beginning extends Pick<Opening, 'lookAhead'>, Pick<ReadOptions, 'lastReply'> {
  known?: KeptReading;
  keep: ((data: Buffer) => void) | null;
}

/** Null when it cannot be done from there. */
function readFrom(
  file: TranscriptFile,
  { known, keep, lookAhead = false, lastReply }: Beginning,
): SessionRead | null {
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
  enterLastReply(account, lastReply, redactor);
  closeAccount(account);
  return { distilled: distilAccount(account), reading, tally };
}
