import { resolve } from 'node:path';
import { bold, dim, green, yellow } from '../../../app/describe/styled-text.ts';
import { usageError } from '../../../errors.ts';
import { API_KEY_VARIABLE } from '../../../exchange/publish/memory-vault.ts';
import { type PublishReport, publishProject } from '../../../exchange/publish/publish-project.ts';
import { assertNotPaused, findMemoryDir } from '../../../memory/runs/run-config.ts';
import { countNouns } from '../../../model/text.ts';
import { findProjectFolder } from '../../../platform/project-folder.ts';
import type { CliContext } from '../context.ts';
import { apiKeyFlag, command, type FlagValues, json, optionalArgument, text, toggle, tuple } from '../flags.ts';
import type { Output } from '../output.ts';

const flags = {
  name: text('The project’s name where it is published', 'name'),
  apiKey: apiKeyFlag,
  dryRun: toggle('Show what would be published, publish nothing'),
  json,
};

export const push = command('push', runPush, {
  positional: tuple(optionalArgument('The folder with HANDOFF.md; default: this project', 'dir')),
  flags,
});

async function runPush(this: CliContext, values: FlagValues<typeof flags>, folder?: string): Promise<void> {
  const { machine } = this;
  const { name, dryRun } = values;
  assertNoApiKey(values.apiKey);
  const root = findProjectFolder(resolve(machine.cwd, folder ?? '.'));
  if (!dryRun) assertNotPaused(machine, root);
  const report = await publishProject({ dryRun, memory: findMemoryDir(machine, root), folder, name }, machine);
  if (values.json) {
    const { leftOut, ...rest } = report;
    this.out.json({ ...rest, left_out: leftOut });
  } else print(this.out, report);
}

export function assertNoApiKey(key: string | undefined): void {
  if (key === undefined) return;
  const hint = `Put it into ${API_KEY_VARIABLE}, or into a file that only you can read: token_file under [publish.memoryvault] in your config.toml.`;
  throw usageError('a key is not accepted on the command line, where other users can see it', hint);
}

const HEADLINES: Record<PublishReport['outcome'], string> = {
  published: 'published to',
  'nothing new': 'nothing new for',
  'would publish': 'would publish to',
  off: 'publishing is switched off:',
};

function print(out: Output, report: PublishReport): void {
  const { outcome, destination, backend, changes, waiting, redactions, leftOut, notes, commit } = report;
  out.line(green(HEADLINES[outcome]), ` ${destination}`, dim(` (${backend})`));
  for (const { change, path, bytes } of changes)
    out.line('  ', change.padEnd(8), bold(path), change === 'deleted' ? '' : dim(`  ${countNouns(bytes, 'byte')}`));
  for (const line of waiting) out.line('  waiting ', line);
  if (commit !== null && outcome === 'published') out.line(dim('  commit  '), commit.slice(0, 12));
  for (const { kind, count } of redactions) out.line(yellow('  redacted: '), `${count} ${kind}`);
  for (const path of leftOut) out.line(yellow('  left out: '), `${path} is not a regular file`);
  for (const note of notes) out.line(yellow('  note: '), note);
}
