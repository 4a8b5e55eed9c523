import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import { type PublishReport, publishProject } from '../../../exchange/publish/publish-project.ts';
import { assertNotPaused } from '../../../memory/runs/brake.ts';
import { findMemoryDir } from '../../../memory/runs/run-config.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { refuseKeyOnCommandLine } from '../api-key.ts';
import type { CliContext } from '../context.ts';
import { bold, dim, green, type Output, yellow } from '../output.ts';

export interface PushFlags {
  name?: string;
  apiKey?: string;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

/** agent-handoff took it. It is known so that whoever still gives it hears what to do instead. */
export const apiKeyFlag = {
  kind: 'parsed',
  parse: text,
  optional: true,
  hidden: true,
  brief: 'Not taken: other users could see it',
} as const;

export const push: Command<CliContext> = buildCommand<PushFlags, [folder?: string], CliContext>({
  func: runPush,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          brief: 'The folder with HANDOFF.md; this project if left out',
          parse: text,
          placeholder: 'dir',
          optional: true,
        },
      ],
    },
    flags: {
      name: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'What the project is called where it is published',
        placeholder: 'name',
      },
      apiKey: apiKeyFlag,
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only show what would leave' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Publish memory and HANDOFF.md as your config.toml says' },
});

export async function runPush(this: CliContext, flags: PushFlags, folder?: string): Promise<void> {
  const { machine } = this;
  refuseKeyOnCommandLine(flags.apiKey);
  const root = findProjectFolder(resolve(machine.cwd, folder ?? '.'));
  if (!flags.dryRun) assertNotPaused(machine, root);
  const report = await publishProject(
    {
      dryRun: flags.dryRun,
      memory: findMemoryDir(machine, root),
      ...(folder === undefined ? {} : { folder }),
      ...(flags.name === undefined ? {} : { name: flags.name }),
    },
    machine,
  );
  if (flags.json) this.out.json(toJson(report));
  else print(this.out, report);
}

function toJson({ leftOut, ...report }: PublishReport): Record<string, unknown> {
  return { ...report, left_out: leftOut };
}

const SAID: Record<PublishReport['outcome'], string> = {
  published: 'published to',
  'nothing new': 'nothing new for',
  'would publish': 'would publish to',
  off: 'publishing is switched off:',
};

function print(out: Output, report: PublishReport): void {
  const { outcome, destination, backend, changes, waiting, redactions, leftOut, notes, commit } = report;
  out.line(green(SAID[outcome]), ` ${destination}`, dim(` (${backend})`));
  for (const { change, path, bytes } of changes)
    out.line('  ', change.padEnd(8), bold(path), change === 'deleted' ? '' : dim(`  ${bytes} bytes`));
  for (const line of waiting) out.line('  waiting ', line);
  if (commit !== null && outcome === 'published') out.line(dim('  commit  '), commit.slice(0, 12));
  for (const { kind, count } of redactions) out.line(yellow('  taken out: '), `${count} ${kind}`);
  for (const path of leftOut) out.line(yellow('  left out: '), `${path} is no regular file`);
  for (const note of notes) out.line(yellow('  note: '), note);
}
