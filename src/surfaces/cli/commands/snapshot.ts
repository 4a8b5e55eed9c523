import { findStore } from '../../../app/context.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { writeHandoffFile } from '../../../memory/handoff-file.ts';
import { identifyProject } from '../../../platform/project.ts';
import { listDocumentCopies } from '../../../store/copies.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, folderPositional, json, modeFlag, toggle } from '../flags.ts';

const flags = {
  mode: modeFlag('manual'),
  stdout: toggle('Also print it'),
  earlier: toggle('Only list the earlier versions in the store'),
  json,
};

export const snapshot = command('snapshot', runSnapshot, { positional: folderPositional, flags });

async function runSnapshot(this: CliContext, values: FlagValues<typeof flags>, folder = '.'): Promise<void> {
  if (values.earlier) return listEarlier(this, folder, values.json);
  const { path, text, isNew, backup } = await writeHandoffFile(findStore(this), folder, { mode: values.mode });
  if (values.json) return this.out.json({ path, new: isNew, kept: backup, ...(values.stdout ? { text } : {}) });
  if (values.stdout) this.out.block(text);
  this.err.line(dim(isNew ? `wrote ${path}` : `nothing new: ${path} is unchanged`));
  if (backup !== null) this.err.line(dim(`the previous version is at ${backup}`));
}

function listEarlier(context: CliContext, folder: string, asJson: boolean): void {
  const { id } = identifyProject(folder, context.machine);
  const paths = listDocumentCopies(findStore(context), { project: id, name: 'HANDOFF.md' });
  if (asJson) context.out.json({ earlier: paths });
  else if (paths.length === 0) context.out.line('there is no earlier HANDOFF.md');
  else for (const path of paths) context.out.line(path);
}
