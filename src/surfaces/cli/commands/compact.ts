import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import { type Compaction, compactMemory } from '../../../memory/compact.ts';
import { assertNotPaused } from '../../../memory/runs/brake.ts';
import { readRunConfig } from '../../../memory/runs/run-config.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import type { CliContext } from '../context.ts';
import { bold, dim, yellow } from '../output.ts';

export interface CompactFlags {
  month?: string;
  memory?: string;
  dryRun: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const compact: Command<CliContext> = buildCommand<CompactFlags, [], CliContext>({
  func: runCompact,
  parameters: {
    flags: {
      month: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'As 2026-10; all that are over if left out',
        placeholder: 'month',
      },
      memory: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The folder of the memory; that of the project if left out',
        placeholder: 'folder',
      },
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would be done' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Merge the notes of months that are over into archives' },
});

export function runCompact(this: CliContext, flags: CompactFlags): void {
  const { machine } = this;
  const project = findProjectFolder(machine.cwd);
  if (!flags.dryRun) assertNotPaused(machine, project);
  const root =
    flags.memory === undefined
      ? readRunConfig(machine, project).memoryDir
      : resolve(machine.cwd, flags.memory);
  const done = compactMemory(
    { root, machine },
    { dryRun: flags.dryRun, ...(flags.month === undefined ? {} : { month: flags.month }) },
  );
  if (flags.json) this.out.json({ memory: root, dry_run: flags.dryRun, compacted: done });
  else print(this, done, flags.dryRun);
}

function count(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? '' : 's'}`;
}

function print({ out, err }: CliContext, done: readonly Compaction[], dryRun: boolean): void {
  for (const { month, tag, notes, repeats, archive, unreadable } of done) {
    const words = `${count(notes, 'note')}, ${count(repeats, 'repeat')} left out`;
    out.line(bold(`${month} ${tag}`), `  ${words}  `, dim(archive));
    for (const path of unreadable) err.line(yellow('note: '), `${path} is no text, and stays as it is`);
  }
  if (done.length === 0) out.line('nothing to merge: no month that is over has notes');
  else if (dryRun) out.line(dim('nothing was written'));
}
