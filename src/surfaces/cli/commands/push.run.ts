import { resolve } from 'node:path';
import { type PublishReport, publishProject } from '../../../exchange/publish/publish-project.ts';
import { assertNotPaused } from '../../../memory/runs/pause-guard.ts';
import { findMemoryDir } from '../../../memory/runs/run-config.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { refuseKeyOnCommandLine } from '../api-key.ts';
import type { CliContext } from '../context.ts';
import { bold, dim, green, type Output, yellow } from '../output.ts';
import type { PushFlags } from './push.ts';

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
