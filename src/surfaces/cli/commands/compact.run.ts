import { resolve } from 'node:path';
import { type Compaction, compactMemory } from '../../../memory/compact.ts';
import { assertNotPaused } from '../../../memory/runs/pause-guard.ts';
import { readRunConfig } from '../../../memory/runs/run-config.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import type { CliContext } from '../context.ts';
import { bold, dim, yellow } from '../output.ts';
import type { CompactFlags } from './compact.ts';

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
