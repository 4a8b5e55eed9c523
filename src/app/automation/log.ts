import { join } from 'node:path';
import { HandoverError, isErrno } from '../../errors.ts';
import { appendPrivateLine, moveFile } from '../../platform/cache-file.ts';
import { measureRegularFile } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { LOG } from '../../store/store.ts';
import { parseRecord, readSmallFile } from './small-records.ts';

/** Something that went wrong where nobody could be told. */
export interface LoggedFailure {
  atMs: number;
  /** The agent and its event, or the worker. */
  where: string;
  code: string;
  message: string;
}

const EXAMPLE: LoggedFailure = { atMs: 0, where: '', code: '', message: '' };
const NAME = 'hooks.ndjson';
const OLDER = 'hooks.1.ndjson';
const MAX_BYTES = 256 * 1024;
const MAX_MESSAGE = 500;

/** Does nothing where nothing can be written: a hook must not fail over its log. */
export function logFailure(store: string, failure: LoggedFailure): void {
  try {
    const folder = ensurePrivateFolder(store, LOG);
    const path = join(folder, NAME);
    if ((measureRegularFile(path) ?? 0) > MAX_BYTES) moveFile(path, join(folder, OLDER));
    appendPrivateLine(path, JSON.stringify({ ...failure, message: failure.message.slice(0, MAX_MESSAGE) }));
  } catch (error) {
    if (!isErrno(error) && !(error instanceof HandoverError)) throw error;
  }
}

/** An unexpected error is told by its name alone: its words may hold what was being worked on. */
export function describeFailure(error: unknown, where: string, atMs: number): LoggedFailure {
  if (error instanceof HandoverError) return { atMs, where, code: error.code, message: error.message };
  if (isErrno(error))
    return { atMs, where, code: error.code, message: `${error.syscall ?? 'a call'} failed` };
  return { atMs, where, code: 'BUG', message: error instanceof Error ? error.name : typeof error };
}

/** The failures since a time, oldest first. */
export function listFailures(store: string, sinceMs: number): LoggedFailure[] {
  return [OLDER, NAME]
    .flatMap((name) => (readSmallFile(join(store, LOG, name)) ?? '').split('\n'))
    .flatMap((line) => parseRecord(line === '' ? null : line, EXAMPLE) ?? [])
    .filter(({ atMs }) => atMs >= sinceMs);
}
