import { type ErrorCode, HandoverError, isErrno } from '../errors.ts';

const DOCTOR = 'Check the permissions: handover doctor';
const ERRNO_CODES: Readonly<Record<string, readonly [code: ErrorCode, hint: string]>> = {
  ENOSPC: ['HANDOVER_DISK_FULL', 'Free some space on that disk and try again.'],
  EDQUOT: ['HANDOVER_DISK_FULL', 'Your quota on that disk is used up: free some space and try again.'],
  EROFS: ['HANDOVER_READ_ONLY', 'That disk is read-only. Set HANDOVER_HOME to a writable folder.'],
  EACCES: ['HANDOVER_PERMISSION', DOCTOR],
  EPERM: ['HANDOVER_PERMISSION', DOCTOR],
  EMFILE: ['HANDOVER_TOO_MANY_OPEN_FILES', 'Close some programs, or raise the limit (ulimit -n), and try again.'],
  ENFILE: ['HANDOVER_TOO_MANY_OPEN_FILES', 'Close some programs and try again.'],
};
const ANY_ERRNO = ['HANDOVER_IO', 'Check the disk: handover doctor'] as const;

/** Our own errors unchanged, system errors with a code and a hint; null for anything else, which is a bug. */
export function toHandoverError(error: unknown): HandoverError | null {
  if (error instanceof HandoverError) return error;
  if (!isErrno(error)) return null;
  const [code, hint] = ERRNO_CODES[error.code] ?? ANY_ERRNO;
  const where = error.path === undefined ? '' : ` ${error.path}`;
  const message = `${error.code} on ${error.syscall ?? 'a system call'}${where}`;
  return new HandoverError(code, message, { hint, cause: error });
}
