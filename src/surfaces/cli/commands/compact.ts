import { resolve } from 'node:path';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { type Compaction, compactMemory } from '../../../memory/compact.ts';
import { assertNotPaused, readRunConfig } from '../../../memory/runs/run-config.ts';
import { countNouns } from '../../../model/text.ts';
import { resolveRealPath } from '../../../platform/folders.ts';
import { findProjectFolder } from '../../../platform/project-folder.ts';
import type { CliContext } from '../context.ts';
import { command, dryRun, type FlagValues, json, text } from '../flags.ts';

const flags = {
  month: text('Such as 2026-10; default: all past months', 'month'),
  memory: text('The memory folder; default: the project’s', 'folder'),
  dryRun,
  json,
};

export const compact = command('compact', runCompact, { flags });

function runCompact(this: CliContext, values: FlagValues<typeof flags>): void {
  const { machine } = this;
  const { month, memory } = values;
  const project = findProjectFolder(machine.cwd);
  if (!values.dryRun) assertNotPaused(machine, project);
  const root =
    memory === undefined ? readRunConfig(machine, project).memoryDir : followLink(resolve(machine.cwd, memory));
  const done = compactMemory({ root, machine }, { dryRun: values.dryRun, month });
  if (values.json) this.out.json({ memory: root, dry_run: values.dryRun, compacted: done });
  else print(this, done, values.dryRun);
}

/** A link that the user named is theirs; those inside the folder are not followed. */
function followLink(path: string): string {
  return resolveRealPath(path) ?? path;
}

function print(context: CliContext, done: readonly Compaction[], isDryRun: boolean): void {
  const { out } = context;
  const merged = done.filter(({ removed }) => removed.length > 0);
  for (const { month, tag, notes, repeats, archive } of merged) {
    const words = `${countNouns(notes, 'note')}, ${countNouns(repeats, 'repeat')} left out`;
    out.line(bold(`${month} ${tag}`), `  ${words}  `, dim(archive));
  }
  for (const { unreadable } of done)
    for (const path of unreadable) context.notify({ level: 'note', text: `${path} is not text and is left as it is` });
  if (done.length === 0) out.line('nothing to merge: no past month has notes');
  else if (merged.length === 0) out.line('nothing to merge');
  else if (isDryRun) out.line(dim('nothing was written'));
}
