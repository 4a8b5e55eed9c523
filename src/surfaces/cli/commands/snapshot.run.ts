import { takeSnapshot } from '../../../memory/snapshot.ts';
import { identifyProject } from '../../../platform/project.ts';
import { listDocumentCopies } from '../../../store/copies.ts';
import { type CliContext, findStore } from '../context.ts';
import { dim } from '../output.ts';
import type { SnapshotFlags } from './snapshot.ts';

export async function runSnapshot(this: CliContext, flags: SnapshotFlags, folder = '.'): Promise<void> {
  if (flags.earlier) {
    listEarlier(this, folder, flags.json);
    return;
  }
  const { path, text, isNew, kept } = await takeSnapshot(findStore(this), folder, {
    mode: flags.mode,
  });
  if (flags.json) {
    this.out.json({ path, new: isNew, kept, ...(flags.stdout ? { text } : {}) });
    return;
  }
  if (flags.stdout) this.out.block(text);
  this.err.line(dim(isNew ? `wrote ${path}` : `nothing is new: ${path} was left as it is`));
  if (kept !== null) this.err.line(dim(`the one before it is ${kept}`));
}

function listEarlier(context: CliContext, folder: string, json: boolean): void {
  const { id } = identifyProject(folder, context.machine);
  const paths = listDocumentCopies(findStore(context), { project: id, name: 'HANDOFF.md' });
  if (json) context.out.json({ earlier: paths });
  else if (paths.length === 0) context.out.line('no earlier HANDOFF.md was kept');
  else for (const path of paths) context.out.line(path);
}
