import { dim, red } from '../../app/describe/styled-text.ts';
import { toHandoverError } from '../../app/failure.ts';
import { EXIT, type ExitStatus } from '../../errors.ts';
import { VERSION } from '../../version.ts';
import type { Output } from './output.ts';

/** The one place where an error becomes a message and an exit status. What it quotes may hold a secret. */
export async function reportFailure(error: unknown, output: Output, asJson: boolean): Promise<ExitStatus> {
  const known = toHandoverError(error);
  if (known === null) return reportBug(error, output);
  const { openPlainRedactor } = await import('../../redact/open-redactor.ts');
  const redactor = openPlainRedactor();
  const message = redactor.redactText(known.message);
  const hint = redactor.redactText(known.hint ?? '');
  if (asJson) {
    const data = redactor.redactRecord(known.data ?? {});
    output.json({ schema: 'error/1', error: { code: known.code, message, hint: hint === '' ? null : hint, ...data } });
  } else {
    // The person's own choice is no error.
    output.line(known.exitStatus === EXIT.cancelled ? dim('cancelled: ') : red('error: '), message);
    if (hint !== '') output.line(dim('  next: '), hint);
  }
  return known.exitStatus;
}

function reportBug(error: unknown, output: Output): ExitStatus {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  output.line(red('error: '), 'this is a bug in agent-handover. Stored handovers are unchanged.');
  output.line(dim('  next: '), `report it with the lines below (agent-handover ${VERSION}, Node ${process.version})`);
  output.block(`${stack}\n`);
  return EXIT.bug;
}
