import type { HookKind } from '../../agents/hook-dialects.ts';
import type { HookInput, StartSource } from '../../agents/hook-input.ts';
import type { Machine } from '../../platform/machine.ts';
import { type Begun, isMarkedBegun, markBegun } from './begun.ts';
import { awaitCapture, deliver, prepareDelivery } from './deliver.ts';
import { findOwed, owe, settleOwed } from './owed.ts';
import { decide } from './policy.ts';
import { findPointer } from './ready.ts';
import { findSettings, isPaused } from './settings.ts';
import { findSilentEnds } from './silent-ends.ts';
import {
  type CaptureNote,
  describeCapture,
  type Handed,
  listNotes,
  timeOfNote,
  WORKER_STARTS_WITHIN_MS,
  writeNote,
} from './spool.ts';
import { receive, type Visit } from './visit.ts';

/** What a hook is to do: print a text for its agent, and start these workers. */
export interface Answer {
  output: string | null;
  work: Work[];
}

/** A session to be captured. */
interface Work {
  key: string;
  handed: Handed | null;
}

const NOTHING: Answer = { output: null, work: [] };

/** Everything that happens when an agent calls a hook, but reading, printing and starting a worker. Null when nothing may. */
export async function answerHook(kind: HookKind, input: HookInput, machine: Machine): Promise<Answer | null> {
  const { moment, dialect } = kind;
  if (input.isSubAgent) return null;
  if (moment === 'compaction' && !dialect.announcesCompaction && !input.isManual) return null;
  if (moment === 'prompt' && !input.hasPrompt) return null;
  const received = receive(kind, input, machine);
  if (received === null || isPaused(received.root, machine)) return null;
  const settings = await findSettings(received.store, received.root, machine);
  if (!settings.isEnabled || isPaused(received.root, machine, settings.pauseFile)) return null;
  const visit: Visit = { ...received, settings };
  switch (moment) {
    case 'turn':
    case 'compaction':
    case 'end':
      return noteCapture(visit);
    case 'start':
      return await answerStart(visit);
    case 'prompt':
    case 'tool':
      return await answerOwed(visit);
  }
}

function noteCapture(visit: Visit): Answer {
  const { kind, input, store, key, nowMs } = visit;
  if (kind.moment === 'compaction' && input.isManual && !kind.dialect.startsAfterCompaction) {
    owe(store, key, { agent: kind.agent, session: input.session, source: 'compaction', atMs: nowMs });
  }
  const begun = describeBegun(visit);
  if (kind.moment !== 'end') markBegun(store, begun);
  const note = describeCapture(begun, { moment: kind.moment, atMs: nowMs, lastMs: null });
  return { output: null, work: spool(visit, { key, note, reply: visit.input.lastReply }) };
}

/** What is longer is left to the transcript: a worker is handed what a pipe holds, so that nobody waits for it. */
const LONGEST_HANDED = 48_000;

/**
 * Leaves the note first, then looks for others: whoever finds an older one knows that its worker will look again after
 * that, and needs none of its own, unless there is something to hand over.
 */
function spool(
  { store, machine, nowMs }: Visit,
  { key, note, reply }: { key: string; note: CaptureNote; reply: string | null },
): Work[] {
  const isHanded = reply !== null && reply.trim() !== '' && reply.length <= LONGEST_HANDED;
  const own = writeNote(store, key, { note: { ...note, isHanded }, machine });
  if (isHanded) return [{ key, handed: { note: own, reply } }];
  const isExpected = listNotes(store, key).some(
    (name) => name < own && Math.abs(nowMs - timeOfNote(name)) < WORKER_STARTS_WITHIN_MS,
  );
  return isExpected ? [] : [{ key, handed: null }];
}

async function answerStart(visit: Visit): Promise<Answer> {
  const { store, kind, input, key, nowMs, settings } = visit;
  const source = findSource(visit);
  markBegun(store, describeBegun(visit));
  if (source === null) return NOTHING;
  const owed = { agent: kind.agent, session: input.session, source, atMs: nowMs };
  const silent = source === 'new' ? findSilentEnds(visit) : [];
  const work = silent.flatMap((one) => spool(visit, { ...one, reply: null }));
  if (!kind.dialect.reaches('start', source)) {
    owe(store, key, owed);
    return { output: null, work };
  }
  if (silent.length === 0) awaitCapture(visit, source);
  const delivery = prepareDelivery(visit, { source, owedMs: null });
  const decision = decide(delivery.occasion);
  // Of a session that was only now found to be over, the whole can be told with the next prompt.
  const isLate =
    silent.length > 0 &&
    (settings.startup === 'brief' || (settings.startup === 'hint' && decision.give === 'nothing'));
  const isMissing = source === 'compaction' && delivery.occasion.own === null && !delivery.isDamaged;
  if (isLate || isMissing) {
    owe(store, key, owed);
    return { output: null, work };
  }
  return { output: deliver(visit, delivery, decision), work };
}

/** Where the agent does not say: a session that is met for the first time is new. */
function findSource(visit: Visit): StartSource | null {
  const { store, kind, input, root, process, terminal } = visit;
  const { agent } = kind;
  const { source, session } = input;
  if (source === null) return isMarkedBegun(store, { agent, session, root }) ? null : 'new';
  if (source !== 'new' || process === null || terminal === null) return source;
  // A new session in a process that had another one before was made by clearing that one.
  const before = findPointer(store, 'terminals', terminal);
  const isCleared = before !== null && before.process === process && before.session !== session;
  return isCleared ? 'clear' : source;
}

/** The next chance for what could not be given at the start, and for what follows a compaction that no hook tells of. */
async function answerOwed(visit: Visit): Promise<Answer> {
  const { store, key, kind, input } = visit;
  if (!kind.dialect.reaches(kind.moment, null)) return NOTHING;
  markBegun(store, describeBegun(visit));
  const found = findOwed(store, key);
  const owed = found?.agent === kind.agent && found.session === input.session ? found : null;
  if (owed === null && kind.dialect.startsAfterCompaction) return NOTHING;
  const isDue = owed !== null && awaitCapture(visit, owed.source);
  const source = owed?.source ?? 'compaction';
  const delivery = prepareDelivery(visit, { source, owedMs: owed?.atMs ?? null });
  if (owed === null && !delivery.isCompactedSince) return NOTHING;
  const decision = decide(delivery.occasion);
  if (owed !== null && !(isDue && decision.give === 'nothing')) settleOwed(store, key);
  return { output: deliver(visit, delivery, decision), work: [] };
}

function describeBegun({ kind, input, root, terminal, process, nowMs }: Visit): Begun {
  const { session, cwd, transcript } = input;
  return { agent: kind.agent, session, root, cwd, transcript, terminal, process, atMs: nowMs };
}
