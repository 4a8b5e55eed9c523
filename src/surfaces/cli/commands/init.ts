import { resolve } from 'node:path';
import { bold, dim, green } from '../../../app/describe/styled-text.ts';
import { type InitPart, proposeFiles, proposeHooks } from '../../../app/init.ts';
import { EXIT, HandoverError } from '../../../errors.ts';
import { removeBlocks } from '../../../memory/agent-files.ts';
import { pathExists, requireFolder } from '../../../platform/folders.ts';
import { ensureProjectFolder, removeEmptyFolder } from '../../../platform/project-file.ts';
import type { CliContext } from '../context.ts';
import {
  agentsFlag,
  command,
  dryRun,
  enabled,
  type FlagValues,
  folderPositional,
  json,
  mcpFlag,
  text,
  toggle,
} from '../flags.ts';

const flags = {
  agent: agentsFlag,
  name: text('The agent’s name, for SOUL.md', 'name'),
  files: enabled('Create SOUL.md, MEMORY.md and HANDOFF.md, and add a block to the files that agents read'),
  hooks: enabled('Add hooks to the settings of agents'),
  mcp: mcpFlag,
  force: toggle('Recreate the three files; their old content is saved in the store'),
  remove: toggle('Remove the blocks and do nothing else'),
  yes: toggle('Do it without asking'),
  dryRun,
  json,
};
type InitFlags = FlagValues<typeof flags>;

export const init = command('init', runInit, { positional: folderPositional, flags, aliases: { y: 'yes' } });

async function runInit(this: CliContext, values: InitFlags, folder = '.'): Promise<void> {
  const path = resolve(this.machine.cwd, folder);
  if (values.remove) return printRemoved(this, requireFolder(path), values.json);
  const isNew = values.files && !values.dryRun && !pathExists(path);
  if (isNew) ensureProjectFolder(path);
  try {
    await setUp(this, values, requireFolder(path));
  } catch (error) {
    if (isNew) removeEmptyFolder(path);
    throw error;
  }
}

async function setUp(context: CliContext, values: InitFlags, folder: string): Promise<void> {
  const { out } = context;
  const parts: InitPart[] = [
    ...(values.files ? [proposeFiles(context, folder, values)] : []),
    ...(values.hooks ? [proposeHooks(context, values.agent, values.mcp)] : []),
  ];
  const open = parts.filter(({ proposals }) => proposals.length > 0);
  if (!values.json) printProposals(context, parts);
  const isInside = !open.some(({ isOutside }) => isOutside);
  const goesOn = open.length > 0 && !values.dryRun && (values.yes || isInside || (await ask(context)));
  const next = goesOn ? open.flatMap((part) => part.apply()) : [];
  if (values.json) {
    const described = parts.map(({ name, proposals, notes }) => ({ name, proposals, notes }));
    out.json({ done: goesOn, parts: described, next });
  } else if (goesOn) {
    out.line(bold('done'), dim(`  ${open.map(({ after }) => after).join('; ')}`));
    for (const step of next) out.line(dim('next: '), step);
  }
}

async function ask(context: CliContext): Promise<boolean> {
  if (!context.interactive)
    throw new HandoverError('HANDOVER_USAGE', 'there is no terminal to ask in; nothing was done', {
      hint: 'To do all of it: handover init --yes. To do a part: add --agent NAME, --no-hooks or --no-files.',
    });
  const { askYesNo } = await import('../prompts.ts');
  if (await askYesNo('Do this?', true)) return true;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was done');
}

function printProposals({ out }: CliContext, parts: readonly InitPart[]): void {
  for (const { proposals, notes } of parts) {
    for (const proposal of proposals) out.line(green('to do: '), proposal);
    for (const note of notes) out.line(dim('note: '), note);
  }
  if (parts.every(({ proposals }) => proposals.length === 0)) out.line(bold('there is nothing to set up'));
}

function printRemoved({ out, process }: CliContext, folder: string, asJson: boolean): void {
  const files = removeBlocks(folder);
  if (asJson) out.json({ removed: files });
  for (const { file, outcome, note } of asJson ? [] : files)
    out.line(`${outcome.padEnd(8)} `, file, note === null ? '' : dim(`  (${note})`));
  if (files.some(({ outcome }) => outcome === 'refused')) process.exitCode = EXIT.refused;
}
