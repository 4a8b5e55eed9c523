import { buildCommand, type Command } from '@stricli/core';
import { takeSnapshot } from '../../../memory/take-snapshot.ts';
import { identifyProject } from '../../../platform/project.ts';
import { listDocuments } from '../../../store/documents.ts';
import { type CliContext, findStore } from '../context.ts';
import { dim } from '../output.ts';

export interface SnapshotFlags {
  mode: string;
  stdout: boolean;
  earlier: boolean;
  json: boolean;
}

const text = (input: string): string => input;

export const folderPositional = {
  kind: 'tuple',
  parameters: [
    {
      parse: text,
      optional: true,
      brief: 'The project’s folder; this one if left out',
      placeholder: 'folder',
    },
  ],
} as const;

export const modeFlag = {
  kind: 'parsed',
  parse: text,
  default: 'manual',
  brief: 'A label for the session, such as build',
  placeholder: 'label',
} as const;

export const snapshot: Command<CliContext> = buildCommand<SnapshotFlags, [string?], CliContext>({
  func: runSnapshot,
  parameters: {
    positional: folderPositional,
    flags: {
      mode: modeFlag,
      stdout: { kind: 'boolean', default: false, withNegated: false, brief: 'Also print it' },
      earlier: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Only list the earlier ones that were kept',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Write HANDOFF.md from the newest handover, git and the project' },
});

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
  const paths = listDocuments(findStore(context), { project: id, name: 'HANDOFF.md' });
  if (json) context.out.json({ earlier: paths });
  else if (paths.length === 0) context.out.line('no earlier HANDOFF.md was kept');
  else for (const path of paths) context.out.line(path);
}
