import { type ErrorCode, HandoverError, isErrno } from '../errors.ts';

const DOCTOR = 'Check who may read and write there: handover doctor';
const ERRNO_CODES: Readonly<Record<string, { code: ErrorCode; hint: string }>> = {
  ENOSPC: { code: 'HANDOVER_DISK_FULL', hint: 'Free some space on that disk and try again.' },
  EDQUOT: {
    code: 'HANDOVER_DISK_FULL',
    hint: 'Your quota on that disk is used up: free some space and try again.',
  },
  EROFS: {
    code: 'HANDOVER_READ_ONLY',
    hint: 'That disk is read-only. Set HANDOVER_HOME to a folder that can be written.',
  },
  EACCES: { code: 'HANDOVER_PERMISSION', hint: DOCTOR },
  EPERM: { code: 'HANDOVER_PERMISSION', hint: DOCTOR },
  EMFILE: {
    code: 'HANDOVER_TOO_MANY_OPEN_FILES',
    hint: 'Close some programs, or raise the limit (ulimit -n), and try again.',
  },
  ENFILE: { code: 'HANDOVER_TOO_MANY_OPEN_FILES', hint: 'Close some programs and try again.' },
};
const ANY_ERRNO = { code: 'HANDOVER_IO', hint: 'Check the disk: handover doctor' } as const;

/** An expected failure as such; null for a bug of ours. */
export function toHandoverError(error: unknown): HandoverError | null {
  if (error instanceof HandoverError) return error;
  if (!isErrno(error)) return null;
  const { code, hint } = ERRNO_CODES[error.code] ?? ANY_ERRNO;
  const where = error.path === undefined ? '' : ` ${error.path}`;
  return new HandoverError(code, `${error.code} on ${error.syscall ?? 'a system call'}${where}`, {
    hint,
    cause: error,
  });
}
