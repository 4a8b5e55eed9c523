import { join } from 'node:path';
import { parseAny } from '../../agents/shared/json.ts';
import { catchIf, HandoverError, isErrno, isFailure } from '../../errors.ts';
import { printFingerprint } from '../../model/hash.ts';
import {
  appendPrivateLine,
  moveFile,
  trimCacheFolder,
  trimSubfolders,
  writeSmallCacheFile,
} from '../../platform/cache-file.ts';
import { measureRegularFile, readRegularFile } from '../../platform/durable-file.ts';
import { ensurePrivateFolder, listFolder } from '../../platform/folders.ts';
import { CODE_FOLDER } from '../../platform/paths.ts';
import { BRIEFS_BY_HANDOVER, HOOK_STATE, LOG, PREPARED_BRIEFS, SECOND_LOOKS, SPOOL } from '../../store/store.ts';

/** Files are named by keys. The full value is in the file and is compared, so two with one key are never mistaken. */
export const FOLDERS = {
  /** The prepared brief of each captured session. */
  sessions: PREPARED_BRIEFS,
  /** For a handover's id, the file name of its session's prepared brief. */
  handovers: BRIEFS_BY_HANDOVER,
  /** The session last captured in a terminal or worktree. */
  terminals: [HOOK_STATE, 'terminals'],
  worktrees: [HOOK_STATE, 'worktrees'],
  /** Deliveries to a session, numbered. */
  deliveries: [HOOK_STATE, 'given'],
  /** Open sessions: a folder for each worktree. */
  openSessions: [HOOK_STATE, 'begun'],
  /** Deliveries put off until the next prompt. */
  deferred: [HOOK_STATE, 'owed'],
  /** Second looks at briefs that were given. */
  looks: SECOND_LOOKS,
  /** Agents that `handover to` started. */
  launches: [HOOK_STATE, 'started'],
  settings: [HOOK_STATE, 'settings'],
  /** The compiled code of the hook. */
  code: CODE_FOLDER,
  jobs: [SPOOL],
} as const satisfies Record<string, readonly string[]>;

const LIMITS = { files: 500, bytes: 32 * 1024 * 1024 };
const MAX_WORKTREES = 500;

/** Removes the oldest files. Deliveries to sessions with a prepared brief stay: else they would be given it again. */
export function trimFolders(store: string): void {
  const { deliveries, openSessions, settings: _, ...others } = FOLDERS;
  for (const folder of Object.values(others)) trimCacheFolder(join(store, ...folder), LIMITS);
  const prepared = new Set(listFolder(join(store, ...FOLDERS.sessions)).map(keyOfFile));
  trimCacheFolder(join(store, ...deliveries), LIMITS, (name) => prepared.has(keyOfFile(name)));
  trimSubfolders(join(store, ...openSessions), MAX_WORKTREES);
}

/** Only good for naming files. */
export function makeKey(...parts: readonly string[]): string {
  return printFingerprint(parts.join('\n'));
}

export function keyOfSession({ agent, session }: { agent: string; session: string }): string {
  return makeKey(agent, session);
}

/** Names of files begin with a key, followed by a dot. */
export function keyOfFile(name: string): string {
  return name.split('.', 1)[0] ?? '';
}

/** The form of a record: for each field, a check of its value. */
type RecordForm = Readonly<Record<string, (value: unknown) => boolean>>;

/** The type of the records of a form. */
export type RecordOf<F> = {
  -readonly [K in keyof F]: F[K] extends (value: unknown) => value is infer T ? T : never;
};

/** The checks for the fields of a form. */
export const is = {
  text: (value: unknown): value is string => typeof value === 'string',
  textOrNull: (value: unknown): value is string | null => value === null || typeof value === 'string',
  number: (value: unknown): value is number => typeof value === 'number',
  numberOrNull: (value: unknown): value is number | null => value === null || typeof value === 'number',
  flag: (value: unknown): value is boolean => typeof value === 'boolean',
  oneOf,
};

function oneOf<const T extends string>(...known: readonly T[]): (value: unknown) => value is T {
  return (value): value is T => known.some((one) => one === value);
}

export function hasForm<F extends RecordForm>(value: unknown, form: F): value is RecordOf<F> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(form).every(([field, check]) => check(Reflect.get(value, field)));
}

const MAX_BYTES = 1024 * 1024;

/** The text of a small file of ours; null when there is none that can be read. */
export function readSmallFile(path: string): string | null {
  return catchIf(isFailure, null, () => readRegularFile(path, MAX_BYTES).toString('utf8'));
}

/** Null for anything but JSON of that form. */
export function parseRecord<F extends RecordForm>(text: string | null, form: F): RecordOf<F> | null {
  const value = text === null ? undefined : parseAny(text);
  return hasForm(value, form) ? value : null;
}

export function readRecord<F extends RecordForm>(path: string, form: F): RecordOf<F> | null {
  return parseRecord(readSmallFile(path), form);
}

/** Replaces a small file below the store. */
export function writeRecord(
  store: string,
  [folders, name]: readonly [readonly string[], string],
  record: object,
): void {
  writeSmallCacheFile(join(ensurePrivateFolder(store, ...folders), name), JSON.stringify(record));
}

/** A failure of a hook or a worker: nobody was there to see it. `where` is the agent and its event, or the worker. */
const FAILURE = { atMs: is.number, where: is.text, code: is.text, message: is.text };
type LoggedFailure = RecordOf<typeof FAILURE>;

const LOG_NAME = 'hooks.ndjson';
const OLDER_LOG_NAME = 'hooks.1.ndjson';
const MAX_LOG_BYTES = 256 * 1024;
const MAX_MESSAGE = 500;

/** Does nothing where nothing can be written: a hook must not fail because of its log. */
export function logFailure(store: string, failure: LoggedFailure): void {
  catchIf(isFailure, undefined, () => {
    const folder = ensurePrivateFolder(store, LOG);
    const path = join(folder, LOG_NAME);
    if ((measureRegularFile(path) ?? 0) > MAX_LOG_BYTES) moveFile(path, join(folder, OLDER_LOG_NAME));
    appendPrivateLine(path, JSON.stringify({ ...failure, message: failure.message.slice(0, MAX_MESSAGE) }));
  });
}

/** What a message of ours quotes may hold a secret. Of an unexpected error only the name: its message may quote the user's work. */
export async function describeFailure(error: unknown, where: string, atMs: number): Promise<LoggedFailure> {
  if (error instanceof HandoverError) {
    const { openPlainRedactor } = await import('../../redact/open-redactor.ts');
    return { atMs, where, code: error.code, message: openPlainRedactor().redactText(error.message) };
  }
  if (isErrno(error)) return { atMs, where, code: error.code, message: `${error.syscall ?? 'a call'} failed` };
  return { atMs, where, code: 'BUG', message: error instanceof Error ? error.name : typeof error };
}

/** The failures since a time, oldest first. */
export function listFailures(store: string, sinceMs: number): LoggedFailure[] {
  return [OLDER_LOG_NAME, LOG_NAME]
    .flatMap((name) => (readSmallFile(join(store, LOG, name)) ?? '').split('\n'))
    .flatMap((line) => parseRecord(line, FAILURE) ?? [])
    .filter(({ atMs }) => atMs >= sinceMs);
}
