import type { HookKind } from '../../agents/hook-dialects.ts';
import type { HookInput, StartSource } from '../../agents/hook-input.ts';
import { statFile } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { acceptLaunch, deliver, followUp, gatherDelivery, waitForCapture } from './deliver.ts';
import { type HookCall, openHookCall } from './hook-call.ts';
import * as jobs from './jobs.ts';
import { decide } from './policy.ts';
import { findPointer, openPreparedBrief } from './prepared-briefs.ts';
import { keyOfSession } from './records.ts';
import * as sessions from './session-state.ts';

/** What a hook is to do: print a text for its agent, and start workers, each for the session of its key. */
export interface HookResult {
  output: string | null;
  workers: { key: string; piped: jobs.PipedReply | null }[];
}

const NO_RESULT: HookResult = { output: null, workers: [] };

/** Does everything for a hook except reading, printing and starting workers. Null when nothing may be done. */
export async function handleHook(
  kind: HookKind,
  input: HookInput,
  { machine, program = null }: { machine: Machine; program?: readonly string[] | null },
): Promise<HookResult | null> {
  const { moment, dialect } = kind;
  if (input.isSubAgent) return null;
  if (moment === 'compaction' && !dialect.announcesCompaction && !input.isManual) return null;
  if (moment === 'prompt' && !input.hasPrompt) return null;
  const call = await openHookCall(kind, input, { machine, program });
  if (call === null) return null;
  switch (moment) {
    case 'turn':
    case 'compaction':
    case 'end':
      return handleCapture(call);
    case 'start':
      return handleStart(call);
    case 'prompt':
    case 'tool':
      return handlePrompt(call);
  }
}

function handleCapture(call: HookCall): HookResult {
  const { kind, input, store, key, nowMs } = call;
  if (kind.moment === 'compaction' && input.isManual && !kind.dialect.startsAfterCompaction) defer(call, 'compaction');
  const session = describeSession(call);
  if (kind.moment !== 'end') sessions.recordOpenSession(store, session);
  const job = jobs.describeCaptureJob(session, { moment: kind.moment, atMs: nowMs, lastMs: null });
  return { output: null, workers: queueCapture(call, { key, job, reply: input.lastReply }) };
}

/** A pipe holds this much without a reader. A longer reply is left to the transcript. */
const MAX_REPLY_LENGTH = 48_000;

/** Writes the job before it looks for others: the worker of an older job looks again afterwards and finds this one. */
function queueCapture(
  { store, machine, nowMs }: HookCall,
  { key, job, reply }: { key: string; job: jobs.CaptureJob; reply: string | null },
): HookResult['workers'] {
  const isHanded = reply !== null && reply.trim() !== '' && reply.length <= MAX_REPLY_LENGTH;
  const own = jobs.writeJob(store, key, { job: { ...job, isHanded }, machine });
  if (isHanded) return [{ key, piped: { job: own, reply } }];
  const isExpected = jobs
    .listJobs(store, key)
    .some((name) => name < own && Math.abs(nowMs - jobs.timeOfJob(name)) < jobs.WORKER_STARTS_WITHIN_MS);
  return isExpected ? [] : [{ key, piped: null }];
}

function handleStart(call: HookCall): HookResult {
  const { store, kind, settings } = call;
  const source = findSource(call);
  sessions.recordOpenSession(store, describeSession(call));
  if (source === null) return NO_RESULT;
  const crashed = source === 'new' ? findCrashedSessions(call) : [];
  const workers = crashed.flatMap((one) => queueCapture(call, { ...one, reply: null }));
  if (source === 'new' && acceptLaunch(call)) return { output: null, workers };
  if (!kind.dialect.canDeliver('start', source)) {
    defer(call, source);
    return { output: null, workers };
  }
  if (crashed.length === 0) waitForCapture(call, source);
  const delivery = gatherDelivery(call, { source, deferredMs: null });
  const decision = decide(delivery.start);
  // A session only now found to have crashed is captured in time for the next prompt.
  const isLate =
    crashed.length > 0 &&
    (settings.startup === 'brief' || (settings.startup === 'hint' && decision.kind === 'nothing'));
  const isMissing = source === 'compaction' && delivery.start.own === null && !delivery.hasDamage;
  if (!isLate && !isMissing) return { output: deliver(call, delivery, decision), workers };
  defer(call, source);
  return { output: null, workers };
}

function defer({ store, key, kind, input, nowMs }: HookCall, source: StartSource): void {
  sessions.deferDelivery(store, key, { agent: kind.agent, session: input.session, source, atMs: nowMs });
}

/** If the agent does not say, a session seen for the first time is new. Null for a session that continues. */
function findSource({ store, kind, input, root, process, terminal }: HookCall): StartSource | null {
  const { agent } = kind;
  const { source, session, mayBeCleared } = input;
  if (source === null) return sessions.isOpenSession(store, { agent, session, root }) ? null : 'new';
  if (!mayBeCleared || process === null || terminal === null) return source;
  // A new session in a process that had another one before was made by clearing that one.
  const before = findPointer(store, 'terminals', terminal);
  return before?.process === process && before.session !== session ? 'clear' : source;
}

function handlePrompt(call: HookCall): HookResult {
  const { store, key, kind } = call;
  if (!kind.dialect.canDeliver(kind.moment, null)) return NO_RESULT;
  sessions.recordOpenSession(store, describeSession(call));
  const output = deliverDeferred(call);
  const { output: told, isAsked } = followUp(call, output !== null);
  return { output: output ?? told, workers: isAsked ? [{ key, piped: null }] : [] };
}

/** Delivers what could not be delivered at the start, and what follows a compaction that no hook reports. */
function deliverDeferred(call: HookCall): string | null {
  const { store, key, kind, input } = call;
  const found = sessions.findDeferred(store, key);
  const deferred = found?.agent === kind.agent && found.session === input.session ? found : null;
  if (deferred === null && kind.dialect.startsAfterCompaction) return null;
  const isCapturing = deferred !== null && waitForCapture(call, deferred.source);
  const source = deferred?.source ?? 'compaction';
  const delivery = gatherDelivery(call, { source, deferredMs: deferred?.atMs ?? null });
  if (deferred === null && !delivery.isCompactedSince) return null;
  const decision = decide(delivery.start);
  if (deferred !== null && !(isCapturing && decision.kind === 'nothing')) sessions.removeDeferred(store, key);
  return deliver(call, delivery, decision);
}

function describeSession({ kind, input, root, terminal, process, nowMs }: HookCall): sessions.OpenSession {
  const { session, cwd, transcript } = input;
  return { agent: kind.agent, session, root, cwd, transcript, terminal, process, atMs: nowMs };
}

const MAX_CRASHED = 3;
/** If it is unknown whether an agent still runs, it counts as ended after so long without output. */
const QUIET_MS = 15 * 60 * 1000;

/** Sessions here that ended without a hook and went on since their capture. Records of other ended ones are removed. */
function findCrashedSessions(call: HookCall): { key: string; job: jobs.CaptureJob }[] {
  const { store, root, input, nowMs: atMs } = call;
  const found: { key: string; job: jobs.CaptureJob }[] = [];
  for (const session of sessions.listOpenSessions(store, root)) {
    if (session.session === input.session || !hasEnded(session, call)) continue;
    const lastMs = findUncapturedTime(store, session);
    if (lastMs === null) sessions.removeOpenSession(store, session);
    else
      found.push({
        key: keyOfSession(session),
        job: jobs.describeCaptureJob(session, { moment: 'end', atMs, lastMs }),
      });
  }
  return found.slice(0, MAX_CRASHED);
}

function hasEnded(session: sessions.OpenSession, { process, nowMs }: HookCall): boolean {
  if (session.process !== null && session.process === process) return false;
  const state = sessions.checkProcess(session.process);
  if (state !== 'unknown') return state === 'ended';
  const stat = session.transcript === null ? null : statFile(session.transcript);
  return nowMs - (stat?.changedMs ?? session.atMs) > QUIET_MS;
}

/** When the session last wrote something that is not captured; null when everything is. */
function findUncapturedTime(store: string, session: sessions.OpenSession): number | null {
  const { prepared } = openPreparedBrief(store, session);
  const transcript = session.transcript ?? prepared?.transcript ?? null;
  const stat = transcript === null ? null : statFile(transcript);
  if (prepared !== null) return stat !== null && stat.size > prepared.transcriptBytes ? stat.changedMs : null;
  return transcript !== null && stat === null ? null : (stat?.changedMs ?? session.atMs);
}
