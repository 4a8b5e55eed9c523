import { join } from 'node:path';
import { writeSmallCacheFile } from '../../platform/cache-file.ts';
import { ensurePrivateFolder, listFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { FOLDERS, is, keyOfFile, type RecordOf } from './records.ts';
import type { OpenSession } from './session-state.ts';

export const CAPTURE_JOB = {
  kind: is.oneOf('capture'),
  moment: is.oneOf('start', 'prompt', 'tool', 'turn', 'compaction', 'end'),
  agent: is.text,
  session: is.text,
  cwd: is.textOrNull,
  transcript: is.textOrNull,
  terminal: is.textOrNull,
  /** The agent's process; null where the system does not reveal it. */
  process: is.textOrNull,
  /** Whether a worker has been started for this job, with the agent's last reply. */
  isHanded: is.flag,
  atMs: is.number,
  /** When the session was last active; null for now. */
  lastMs: is.numberOrNull,
};

/** A session to be captured, with what only the hook knew about it. */
export type CaptureJob = RecordOf<typeof CAPTURE_JOB>;

export const JOURNAL_JOB = {
  kind: is.oneOf('journal'),
  event: is.oneOf('delivered', 'rejected_stale', 'rejected_invalid'),
  handover: is.text,
  session: is.text,
  reason: is.text,
  atMs: is.number,
};

/** An event about a handover, to be appended to the journal. */
export type JournalJob = RecordOf<typeof JOURNAL_JOB>;

/** What a hook writes to the standard input of its worker. `job` is the name of the job that the reply belongs to. */
export const PIPED_REPLY = { job: is.text, reply: is.text };

/** The agent's last reply, for the worker. It may contain secrets, so it goes through a pipe and never into a file. */
export type PipedReply = RecordOf<typeof PIPED_REPLY>;

export function describeCaptureJob(
  { agent, session, cwd, transcript, terminal, process }: OpenSession,
  { moment, ...times }: Pick<CaptureJob, 'moment' | 'atMs' | 'lastMs'>,
): CaptureJob {
  const place = { cwd, transcript, terminal, process };
  return { kind: 'capture', moment, agent, session, ...place, isHanded: false, ...times };
}

/** A worker that was started within this time may not have reached its first job yet. */
export const WORKER_STARTS_WITHIN_MS = 10_000;

/** Journal jobs wait for whichever worker comes next. */
export const JOURNAL_QUEUE = 'journal';

/** Adds a job to a queue, named by the key of a session or JOURNAL_QUEUE. Returns the job's name. */
export function writeJob(
  store: string,
  queue: string,
  { job, machine }: { job: CaptureJob | JournalJob; machine: Machine },
): string {
  const folder = ensurePrivateFolder(store, ...FOLDERS.jobs);
  const suffix = Buffer.from(machine.random.bytes(4)).toString('hex');
  const name = `${queue}.${String(job.atMs).padStart(15, '0')}-${suffix}.json`;
  writeSmallCacheFile(join(folder, name), JSON.stringify(job));
  return name;
}

/** The names of the jobs in a queue, oldest first. */
export function listJobs(store: string, queue: string): string[] {
  return listFolder(join(store, ...FOLDERS.jobs))
    .filter((name) => name.startsWith(`${queue}.`) && name.endsWith('.json'))
    .sort();
}

export function pathOfJob(store: string, name: string): string {
  return join(store, ...FOLDERS.jobs, name);
}

/** Whether any of these sessions, given by their keys, still waits to be captured. */
export function isCaptureDue(store: string, keys: ReadonlySet<string>): boolean {
  return listFolder(join(store, ...FOLDERS.jobs)).some((name) => keys.has(keyOfFile(name)));
}

export function timeOfJob(name: string): number {
  return Number(name.split('.')[1]?.split('-')[0] ?? Number.NaN);
}
