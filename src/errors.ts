/** Exit statuses, after sysexits. Only `check` has other ones. */
export const EXIT = {
  done: 0,
  usage: 64,
  data: 65,
  notFound: 66,
  unavailable: 69,
  bug: 70,
  io: 74,
  tryAgain: 75,
  refused: 77,
  config: 78,
  /** As the shell has it for a program that Ctrl-C ended. */
  cancelled: 130,
} as const;

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Every failure that a user can meet, with the exit status it ends in. Anything else is a bug and ends in 70. */
const STATUS_OF_CODE = {
  HANDOVER_USAGE: EXIT.usage,
  HANDOVER_TEXT_TOO_LARGE: EXIT.data,
  HANDOVER_INPUT_INVALID: EXIT.data,
  HANDOVER_JSON_INVALID: EXIT.data,
  HANDOVER_RECORD_DAMAGED: EXIT.data,
  HANDOVER_RECORD_NEWER: EXIT.data,
  HANDOVER_STORE_DAMAGED: EXIT.data,
  HANDOVER_TRANSCRIPT_DRIFTED: EXIT.data,
  HANDOVER_CHECKPOINT_DAMAGED: EXIT.data,
  HANDOVER_CHECKPOINT_UNREADABLE: EXIT.io,
  HANDOVER_BUNDLE_INVALID: EXIT.data,
  HANDOVER_BUNDLE_CONFLICT: EXIT.data,
  HANDOVER_NOT_FOUND: EXIT.notFound,
  HANDOVER_KEY_MISSING: EXIT.notFound,
  HANDOVER_STORE_EMPTY: EXIT.notFound,
  HANDOVER_ID_AMBIGUOUS: EXIT.usage,
  HANDOVER_BUDGET_TOO_SMALL: EXIT.usage,
  HANDOVER_PROJECT_MISSING: EXIT.notFound,
  HANDOVER_GIT_FAILED: EXIT.unavailable,
  HANDOVER_GIT_BUSY: EXIT.tryAgain,
  HANDOVER_GIT_DETACHED: EXIT.refused,
  HANDOVER_GIT_HOOK_FAILED: EXIT.refused,
  HANDOVER_GIT_IDENTITY_MISSING: EXIT.config,
  HANDOVER_REMOTE_UNREACHABLE: EXIT.unavailable,
  HANDOVER_REMOTE_BUSY: EXIT.tryAgain,
  HANDOVER_REMOTE_REFUSED: EXIT.refused,
  HANDOVER_PUBLISH_CONFLICT: EXIT.data,
  HANDOVER_PUBLISH_DIVERGED: EXIT.tryAgain,
  HANDOVER_PUBLISH_UNASKED: EXIT.refused,
  HANDOVER_PUBLISH_UNCONFIGURED: EXIT.config,
  HANDOVER_PROGRAM_MISSING: EXIT.unavailable,
  HANDOVER_PROGRAM_TIMEOUT: EXIT.tryAgain,
  HANDOVER_LOCKED: EXIT.tryAgain,
  HANDOVER_TOO_MANY_OPEN_FILES: EXIT.tryAgain,
  HANDOVER_CANCELLED: EXIT.cancelled,
  HANDOVER_PAUSED: EXIT.tryAgain,
  HANDOVER_STEP_FAILED: EXIT.tryAgain,
  HANDOVER_IO: EXIT.io,
  HANDOVER_DISK_FULL: EXIT.io,
  HANDOVER_READ_ONLY: EXIT.io,
  HANDOVER_PERMISSION: EXIT.refused,
  HANDOVER_PATH_UNSAFE: EXIT.refused,
  HANDOVER_STATUS_FINAL: EXIT.refused,
  HANDOVER_STALE: EXIT.refused,
  HANDOVER_TASK_HELD: EXIT.tryAgain,
  HANDOVER_TASK_LATE: EXIT.refused,
  HANDOVER_BUNDLE_REFUSED: EXIT.refused,
  HANDOVER_BUNDLE_LOCKED: EXIT.refused,
  HANDOVER_HOME_UNKNOWN: EXIT.config,
  HANDOVER_CONFIG_INVALID: EXIT.config,
  HANDOVER_MEANING_UNCONFIGURED: EXIT.config,
} as const satisfies Record<string, ExitStatus>;

export type ErrorCode = keyof typeof STATUS_OF_CODE;

export interface ErrorContext {
  /** The next thing to type or to do. */
  hint?: string;
  cause?: unknown;
  /** Facts for `--json`, such as the candidates of an ambiguous id. */
  data?: Record<string, unknown>;
}

/** An expected failure: what is wrong and where (message), what to do next (hint), what it came from (cause). */
export class HandoverError extends Error {
  override readonly name = 'HandoverError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.hint = context.hint;
    this.data = context.data;
  }

  get exitStatus(): ExitStatus {
    return STATUS_OF_CODE[this.code];
  }
}

export function usageError(message: string, hint: string): HandoverError {
  return new HandoverError('HANDOVER_USAGE', message, { hint });
}

export function notFoundError(message: string, hint: string): HandoverError {
  return new HandoverError('HANDOVER_NOT_FOUND', message, { hint });
}

export function hasErrno(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

/** What `work` returns, or what `handle` makes of an expected failure. */
export function rescue<T, U, E>(
  isExpected: (error: unknown) => error is E,
  handle: (error: E) => U,
  work: () => T,
): T | U {
  try {
    return work();
  } catch (error) {
    if (isExpected(error)) return handle(error);
    throw error;
  }
}

/** What `work` returns, or `instead` where it fails in an expected way. */
export function catchIf<T, U>(isExpected: (error: unknown) => boolean, instead: U, work: () => T): T | U {
  const isCaught = (error: unknown): error is unknown => isExpected(error);
  return rescue(isCaught, () => instead, work);
}

/** The same for asynchronous work. */
export async function catchAsync<T, U>(
  isExpected: (error: unknown) => boolean,
  instead: U,
  work: () => Promise<T>,
): Promise<T | U> {
  try {
    return await work();
  } catch (error) {
    if (isExpected(error)) return instead;
    throw error;
  }
}

/** What `work` returns, or `instead` where it fails with an error of this class. */
export function catchError<T, U>(kind: new (...values: never[]) => Error, instead: U, work: () => T): T | U {
  return catchIf((error) => error instanceof kind, instead, work);
}

/** What `work` returns, or `instead` where it fails with one of these codes. */
export function catchErrno<T, U>(codes: readonly string[], instead: U, work: () => T): T | U {
  return catchIf((error) => hasErrno(error, ...codes), instead, work);
}

/** False where the work fails with one of these codes. */
export function attempt(work: () => void, ...codes: readonly string[]): boolean {
  return catchErrno(codes, false, () => {
    work();
    return true;
  });
}

export function isErrno(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

export function messageOf({ message }: Error): string {
  return message;
}

export function isHandoverError(error: unknown): error is HandoverError {
  return error instanceof HandoverError;
}

export function hasCode(error: unknown, code: ErrorCode): error is HandoverError {
  return error instanceof HandoverError && error.code === code;
}

/** A failure that is no bug: one of ours, or of the file system or another process. */
export function isFailure(error: unknown): error is Error {
  return error instanceof HandoverError || isErrno(error);
}
