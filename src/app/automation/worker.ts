import { join } from 'node:path';
import { AGENT_NAMES, type FoundSession } from '../../agents/agent.ts';
import { findDialect } from '../../agents/hook-dialects.ts';
import { parseRow } from '../../agents/shared/json.ts';
import { loadAgent } from '../../agents/table.ts';
import { catchIf, HandoverError, hasCode } from '../../errors.ts';
import { isHandoverId } from '../../model/id.ts';
import { formatTimestamp } from '../../model/time.ts';
import { removeFile } from '../../platform/durable-file.ts';
import { readTail, statFile } from '../../platform/external-file.ts';
import { ensurePrivateFolder, pathExists } from '../../platform/folders.ts';
import { acquireLock, type LockOptions, withLock } from '../../platform/lock.ts';
import { sleep } from '../../platform/machine.ts';
import { pathOfRemotes } from '../../platform/paths.ts';
import { findWorktreeRoot } from '../../platform/worktree.ts';
import { quarantineCopy } from '../../store/copies.ts';
import { appendEntry, nextTimestamp } from '../../store/journal.ts';
import { moveStatus, type StatusMove } from '../../store/status.ts';
import { LOCKS, type Store, WORKER_LOCK_PREFIX } from '../../store/store.ts';
import { type SessionOfAgent, saveSession } from '../capture/save-session.ts';
import { findSettings, isPaused } from './hook-call.ts';
import * as jobs from './jobs.ts';
import { lookAgain } from './look-again.ts';
import { prepareBriefs } from './prepare-briefs.ts';
import * as records from './records.ts';
import { listDeliveries, removeOpenSession } from './session-state.ts';

const CAPTURE_WAIT_MS = 60_000;
const JOURNAL_WAIT_MS = 5000;
/** A worker that takes longer leaves the rest to the next one. */
const MAX_WORK_MS = 120_000;

/** One worker at a time for a session. Jobs that other workers bring a reply (`piped`) for are left to them. */
export async function processJobs(store: Store, key: string, piped: jobs.PipedReply | null = null): Promise<void> {
  const { clock } = store.machine;
  const until = clock.now() + MAX_WORK_MS;
  let hasCaptured = false;
  // Sixteen locks for all sessions, because each leaves a file behind.
  const lock = acquireLock(describeLock(store, key.slice(0, 1), CAPTURE_WAIT_MS));
  try {
    for (;;) {
      const taken = takeJobs(store, key, piped);
      if (taken.length === 0 || clock.now() > until) break;
      await captureJobs(store, taken, piped);
      hasCaptured = true;
    }
    runJournalJobs(store);
    records.trimFolders(store.root);
    lookAgain(store, key);
  } finally {
    lock.release();
  }
  if (hasCaptured && pathExists(pathOfRemotes(store.machine)))
    await (await import('../sync.ts')).syncAfterCapture(store);
}

function describeLock(store: Store, suffix: string, waitMs: number): LockOptions {
  const folder = ensurePrivateFolder(store.root, LOCKS);
  return { folder, name: `${WORKER_LOCK_PREFIX}${suffix}`, waitMs, clock: store.machine.clock };
}

/** `job` is null for a file that is no job known to this version. */
type TakenJobs = { name: string; job: jobs.CaptureJob | null }[];

/** A hook that is installed twice is called twice at once. */
const DUPLICATE_HOOK_MS = 1000;

/** All jobs of a session, except those that another worker is about to take with a reply. */
function takeJobs(store: Store, key: string, piped: jobs.PipedReply | null): TakenJobs {
  const nowMs = store.machine.clock.now();
  const ownMs = piped === null ? 0 : jobs.timeOfJob(piped.job) + DUPLICATE_HOOK_MS;
  return jobs
    .listJobs(store.root, key)
    .map((name) => ({ name, job: records.readRecord(jobs.pathOfJob(store.root, name), jobs.CAPTURE_JOB) }))
    .filter(({ name, job }) => {
      const atMs = jobs.timeOfJob(name);
      return job?.isHanded !== true || atMs <= ownMs || nowMs - atMs > jobs.WORKER_STARTS_WITHIN_MS;
    });
}

/** Jobs are removed even if the capture fails: the next event of the session makes a new one. */
async function captureJobs(store: Store, taken: TakenJobs, piped: jobs.PipedReply | null): Promise<void> {
  try {
    const known = taken.flatMap(({ job }) => job ?? []);
    const last = known.at(-1);
    const isOwn = taken.some(({ name }) => name === piped?.job);
    if (last !== undefined) await runCapture(store, joinJobs(known, last), isOwn ? piped : null);
  } finally {
    for (const { name, job } of taken) {
      if (job === null) quarantineUnknownJob(store, name);
      removeFile(jobs.pathOfJob(store.root, name));
    }
  }
}

/** Copies and logs a job of another version. One that is not JSON was cut off by a crash: nothing worth keeping. */
function quarantineUnknownJob(store: Store, name: string): void {
  const text = records.readSmallFile(jobs.pathOfJob(store.root, name)) ?? '';
  if (parseRow(text) === null) return;
  const reason = 'a job that this version does not know';
  quarantineCopy(store, { name, bytes: Buffer.from(text), from: `${records.FOLDERS.jobs[0]}/${name}`, reason });
  const atMs = store.machine.clock.now();
  records.logFailure(store.root, { atMs, where: 'worker', code: 'UNKNOWN_JOB', message: `${name}: ${reason}` });
}

/** Several jobs of a session are one capture: that of the latest, and an end if any of them is. */
function joinJobs(all: readonly jobs.CaptureJob[], last: jobs.CaptureJob): jobs.CaptureJob {
  return {
    ...last,
    moment: all.some(({ moment }) => moment === 'end') ? 'end' : last.moment,
    transcript: all.findLast(({ transcript }) => transcript !== null)?.transcript ?? null,
  };
}

async function runCapture(store: Store, job: jobs.CaptureJob, piped: jobs.PipedReply | null): Promise<void> {
  const { machine } = store;
  const root = findWorktreeRoot(job.cwd ?? machine.cwd);
  if (root === null) return;
  const { pauseFile } = await findSettings(store.root, root, machine);
  if (isPaused(root, machine, pauseFile)) return;
  const found = await findJobSession(store, job);
  if (found !== null) {
    const { agent, session: before } = found;
    waitForTranscript(before.path, job, piped?.reply ?? null);
    const now = agent.inspectFile(before.path);
    const session = now?.id === before.id ? { ...now, cwd: before.cwd } : before;
    const known = { terminal: job.terminal ?? undefined, lastReply: piped?.reply };
    const saved = await saveSession(store, { agent, session }, known);
    if (saved.outcome === 'refused') {
      const message = `nothing in the transcript of a session of ${job.agent} was understood`;
      throw new HandoverError('HANDOVER_TRANSCRIPT_DRIFTED', message);
    }
    prepareBriefs(store, { job, root, session, ...saved });
    recordConsumed(store, job);
  }
  if (job.moment === 'end') removeOpenSession(store.root, { ...job, root });
}

/** The session of a job: by its transcript where the hook named one, else by its id. Null when there is none yet. */
async function findJobSession(store: Store, job: jobs.CaptureJob): Promise<SessionOfAgent | null> {
  const name = AGENT_NAMES.find((one) => one === job.agent);
  if (name === undefined) return null;
  const agent = await loadAgent(name);
  const inspected = job.transcript === null ? null : agent.inspectFile(job.transcript);
  const complete = (one: FoundSession): SessionOfAgent => ({ agent, session: { ...one, cwd: one.cwd ?? job.cwd } });
  // Only the transcript of opencode holds several sessions.
  if (inspected !== null && (inspected.id === job.session || name !== 'opencode')) return complete(inspected);
  for (const session of agent.findSessions(store.machine)) if (session.id === job.session) return complete(session);
  return null;
}

const STEP_MS = 50;
const MAX_WAIT_MS = 1500;
/** A transcript is complete when it did not grow for so long. */
const QUIET_MS = 600;
const TAIL_BYTES = 512 * 1024;

/** Some agents report a turn before it is written: waits until the last reply is there, or the file stopped growing. */
function waitForTranscript(path: string, { agent, moment }: jobs.CaptureJob, reply: string | null): void {
  if (moment !== 'turn') return;
  if (reply !== null) {
    const words = JSON.stringify(reply.trim()).slice(1, -1).slice(-200);
    waitUntil(() => readTail(path, TAIL_BYTES)?.includes(words) ?? true);
  } else if (findDialect(agent)?.writesLate === true) {
    let quiet = 0;
    let size = statFile(path)?.size;
    waitUntil(() => {
      const now = statFile(path)?.size;
      quiet = now === size ? quiet + STEP_MS : 0;
      size = now;
      return quiet >= QUIET_MS;
    });
  }
}

function waitUntil(isDone: () => boolean): void {
  for (let waited = 0; waited < MAX_WAIT_MS && !isDone(); waited += STEP_MS) sleep(STEP_MS);
}

/** Appends the queued journal entries, one worker at a time. A kill may append an entry twice, but never loses one. */
function runJournalJobs(store: Store): void {
  if (jobs.listJobs(store.root, jobs.JOURNAL_QUEUE).length === 0) return;
  withLock(describeLock(store, 'journal', JOURNAL_WAIT_MS), () => {
    for (const name of jobs.listJobs(store.root, jobs.JOURNAL_QUEUE)) {
      const job = records.readRecord(jobs.pathOfJob(store.root, name), jobs.JOURNAL_JOB);
      if (job === null) quarantineUnknownJob(store, name);
      else runJournalJob(store, job);
      removeFile(jobs.pathOfJob(store.root, name));
    }
  });
}

function runJournalJob(store: Store, { event, handover, session, reason }: jobs.JournalJob): void {
  if (event !== 'delivered' && isHandoverId(handover)) {
    moveStatusOnce(store, handover, { to: event, session, reason });
    return;
  }
  const at = formatTimestamp(nextTimestamp(store));
  appendEntry(store, { at, event, subject: handover, session, reason });
}

/** How many deliveries to a session have been recorded as consumed. */
const CONSUMED = { count: records.is.number };

/** What was delivered to a session is consumed once the session made a turn with it. */
function recordConsumed(store: Store, { agent, session, atMs }: jobs.CaptureJob): void {
  const key = records.keyOfSession({ agent, session });
  const deliveries = listDeliveries(store.root, key).filter((one) => one.atMs < atMs);
  const name = `${key}.consumed.json`;
  const done = records.readRecord(join(store.root, ...records.FOLDERS.deliveries, name), CONSUMED)?.count ?? 0;
  if (deliveries.length <= done) return;
  for (const { handover, form } of deliveries.slice(done))
    if (form === 'brief') moveStatusOnce(store, handover, { to: 'consumed', session });
  records.writeRecord(store.root, [records.FOLDERS.deliveries, name], { count: deliveries.length });
}

/** A status is final: a later move changes nothing, and is no failure. */
function moveStatusOnce(store: Store, handover: string, move: StatusMove): void {
  const isFinal = (error: unknown): boolean => hasCode(error, 'HANDOVER_STATUS_FINAL');
  catchIf(isFinal, undefined, () => moveStatus(store, handover, move));
}
