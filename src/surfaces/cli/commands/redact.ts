import { resolve } from 'node:path';
import { readFileChunks, readInputChunks } from '../../../platform/streams.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { redactBytes } from '../../../redact/redact-stream.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, optionalArgument, toggle, tuple } from '../flags.ts';

const flags = { json: toggle('Print JSON of what was found instead of the text') };

export const redact = command('redact', runRedact, {
  positional: tuple(optionalArgument('The file; default, or -: standard input', 'file')),
  flags,
});

async function runRedact(this: CliContext, { json }: FlagValues<typeof flags>, file?: string): Promise<void> {
  const { machine } = this;
  const redactor = openRedactor(machine, { folder: machine.cwd, makesKey: true });
  const chunks = file === undefined || file === '-' ? readInputChunks() : readFileChunks(resolve(machine.cwd, file));
  let bytes = 0;
  for await (const part of redactBytes(chunks, redactor)) {
    bytes += part.length;
    if (!json && !this.out.bytes(part)) return;
  }
  if (json) this.out.json({ bytes, redactions: redactor.redactions });
}
