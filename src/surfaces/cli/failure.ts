import { type ErrorCode, EXIT, type ExitStatus, HandoverError, isErrno } from '../../errors.ts';
import { VERSION } from '../../version.ts';
import { dim, type Output, red } from './output.ts';

/** The one place where an error becomes words and an exit status. What it quotes may hold a secret. */
export async function reportFailure(error: unknown, output: Output, asJson: boolean): Promise<ExitStatus> {
  const known = toHandoverError(error);
  if (known === null) return reportBug(error, output);
  const { openPlainRedactor } = await import('../../redact/open-redactor.ts');
  const redactor = openPlainRedactor();
  const message = redactor.redactText(known.message);
  const hint = redactor.redactText(known.hint ?? '');
  if (asJson) {
    const data = redactor.redactRecord(known.data ?? {});
    output.json({ error: { code: known.code, message, hint: hint === '' ? null : hint, ...data } });
  } else {
    output.line(red('error: '), message);
    if (hint !== '') output.line(dim('  next: '), hint);
  }
  return known.exitStatus;
}

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
  EACCES: { code: 'HANDOVER_PERMISSION', hint: 'Check who may read and write there: handover doctor' },
  EPERM: { code: 'HANDOVER_PERMISSION', hint: 'Check who may read and write there: handover doctor' },
  EMFILE: {
    code: 'HANDOVER_TOO_MANY_OPEN_FILES',
    hint: 'Close some programs, or raise the limit (ulimit -n), and try again.',
  },
  ENFILE: { code: 'HANDOVER_TOO_MANY_OPEN_FILES', hint: 'Close some programs and try again.' },
};
const ANY_ERRNO = { code: 'HANDOVER_IO', hint: 'See whether the disk is in order: handover doctor' } as const;

/** Null for what is a bug of ours. */
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

function reportBug(error: unknown, output: Output): ExitStatus {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  output.line(
    red('error: '),
    'agent-handover met a case that it does not know. Nothing that was kept is changed.',
  );
  output.line(
    dim('  next: '),
    `report this with the lines below (agent-handover ${VERSION}, Node ${process.version})`,
  );
  output.block(`${stack}\n`);
  return EXIT.bug;
}
