import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import { readFileChunks, readInputChunks } from '../../../platform/streams.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { redactBytes } from '../../../redact/redact-stream.ts';
import type { CliContext } from '../context.ts';

export interface RedactFlags {
  json: boolean;
}

export const redact: Command<CliContext> = buildCommand<RedactFlags, [string?], CliContext>({
  func: runRedact,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: (input: string): string => input,
          optional: true,
          brief: 'The file; standard input if left out, or -',
          placeholder: 'file',
        },
      ],
    },
    flags: {
      json: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print JSON of what was found instead of the text',
      },
    },
  },
  docs: { brief: 'Print a text without its secrets' },
});

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
