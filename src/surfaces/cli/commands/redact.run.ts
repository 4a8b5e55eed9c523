import { resolve } from 'node:path';
import { readFileChunks, readInputChunks } from '../../../platform/streams.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { redactBytes } from '../../../redact/redact-stream.ts';
import type { CliContext } from '../context.ts';
import type { RedactFlags } from './redact.ts';

export async function runRedact(this: CliContext, { json }: RedactFlags, file?: string): Promise<void> {
  const { machine } = this;
  const redactor = openRedactor(machine, { folder: machine.cwd, makesKey: true });
  const chunks =
    file === undefined || file === '-' ? readInputChunks() : readFileChunks(resolve(machine.cwd, file));
  let bytes = 0;
  for await (const part of redactBytes(chunks, redactor)) {
    bytes += part.length;
    if (!json && !this.out.bytes(part)) return;
  }
  if (json) this.out.json({ bytes, redactions: redactor.redactions });
}
