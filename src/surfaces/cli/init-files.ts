import { basename } from 'node:path';
import { installBlocks } from '../../memory/agent-files.ts';
import { createDocuments } from '../../memory/documents.ts';
import { quote } from '../../memory/snapshot.ts';
import { formatTimestamp } from '../../model/time.ts';
import { identifyProject } from '../../platform/project.ts';
import { type CliContext, findStore } from './context.ts';
import type { InitPart } from './init-part.ts';

/** SOUL.md, MEMORY.md, HANDOFF.md, and the block in the files that agents read by themselves. */
export function proposeFiles(
  context: CliContext,
  folder: string,
  { name, force }: { name?: string; force: boolean },
): InitPart {
  const { machine } = context;
  const store = findStore(context);
  const project = identifyProject(folder, machine);
  const create = (dryRun: boolean) =>
    createDocuments(
      store,
      { folder, project: project.id },
      { name: quote(name ?? project.name), force, at: formatTimestamp(machine.clock.now()), dryRun },
    );
  const blocks = installBlocks(folder, { dryRun: true });
  const isOpen = ({ outcome }: { outcome: string }): boolean =>
    outcome !== 'present' && outcome !== 'unchanged';
  return {
    name: 'files',
    isOutside: false,
    after: 'take the blocks out again: handover init --remove',
    proposals: [
      ...create(true)
        .filter(isOpen)
        .map(({ path, outcome }) => `${outcome === 'created' ? 'make' : 'make anew'} ${basename(path)}`),
      ...blocks
        .filter((block) => isOpen(block) && block.outcome !== 'refused')
        .map(({ file }) => `put a block into ${file}`),
    ],
    notes: blocks
      .filter(({ outcome }) => outcome === 'refused')
      .map(({ file, note }) => `no block is put into ${file}: ${note}`),
    apply: () => {
      const kept = create(false).flatMap((document) => (document.kept === null ? [] : [document.kept]));
      installBlocks(folder);
      return kept.map((path) => `what was replaced is kept: ${path}`);
    },
  };
}
