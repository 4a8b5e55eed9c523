import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import { EXIT, HandoverError } from '../../../errors.ts';
import { removeBlocks } from '../../../memory/agent-files.ts';
import { pathExists, requireFolder } from '../../../platform/folders.ts';
import { ensureProjectFolder, removeEmptyFolder } from '../../../platform/project-file.ts';
import type { CliContext } from '../context.ts';
import { proposeFiles } from '../init-files.ts';
import { proposeHooks } from '../init-hooks.ts';
import type { InitPart } from '../init-part.ts';
import { bold, dim, green, type Output } from '../output.ts';
import { agentsFlag, mcpFlag } from './hooks.ts';
import { folderPositional } from './snapshot.ts';

export interface InitFlags {
  agent?: readonly string[];
  name?: string;
  files: boolean;
  hooks: boolean;
  mcp: boolean;
  force: boolean;
  remove: boolean;
  yes: boolean;
  dryRun: boolean;
  json: boolean;
}

const yes = (brief: string) => ({ kind: 'boolean', default: false, withNegated: false, brief }) as const;

export const init: Command<CliContext> = buildCommand<InitFlags, [string?], CliContext>({
  func: runInit,
  parameters: {
    positional: folderPositional,
    flags: {
      agent: agentsFlag,
      name: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        brief: 'The agent’s name, for SOUL.md',
        placeholder: 'name',
      },
      files: {
        kind: 'boolean',
        default: true,
        brief: 'Make SOUL.md, MEMORY.md and HANDOFF.md, and put a block into the files that agents read',
      },
      hooks: { kind: 'boolean', default: true, brief: 'Put hooks into the settings of agents' },
      mcp: mcpFlag,
      force: yes('Make the three files anew; what is in them is kept in the store'),
      remove: yes('Only take the blocks out again'),
      yes: yes('Do it without asking'),
      dryRun: yes('Only say what would be done'),
      json: yes('Print JSON'),
    },
    aliases: { y: 'yes' },
  },
  docs: { brief: 'Set up a project, and what lets agents hand over by themselves' },
});

export async function runInit(this: CliContext, flags: InitFlags, words = '.'): Promise<void> {
  const path = resolve(this.machine.cwd, words);
  if (flags.remove) {
    takeOut(this, requireFolder(path), flags.json);
    return;
  }
  const isNew = flags.files && !flags.dryRun && !pathExists(path);
  if (isNew) ensureProjectFolder(path);
  try {
    await setUp(this, flags, requireFolder(path));
  } catch (error) {
    if (isNew) removeEmptyFolder(path);
    throw error;
  }
}

async function setUp(context: CliContext, flags: InitFlags, folder: string): Promise<void> {
  const { out } = context;
  const parts: InitPart[] = [
    ...(flags.files ? [proposeFiles(context, folder, flags)] : []),
    ...(flags.hooks ? [proposeHooks(context, flags.agent, flags.mcp)] : []),
  ];
  const open = parts.filter(({ proposals }) => proposals.length > 0);
  if (!flags.json) print(out, parts);
  const isPlain = !open.some(({ isOutside }) => isOutside);
  const goesOn = open.length > 0 && !flags.dryRun && (flags.yes || isPlain || (await ask(context)));
  const left = goesOn ? open.flatMap((part) => part.apply()) : [];
  if (flags.json) out.json({ done: goesOn, parts: parts.map(toJson), next: left });
  else if (goesOn) printDone(out, open, left);
}

async function ask(context: CliContext): Promise<boolean> {
  if (!context.interactive) {
    throw new HandoverError('HANDOVER_USAGE', 'there is no terminal to ask in, and nothing was done', {
      hint: 'To do all of it: handover init --yes. To do a part: add --agent NAME, --no-hooks or --no-files.',
    });
  }
  const { askToGoOn } = await import('../confirm.ts');
  if (await askToGoOn('Do this?')) return true;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was done');
}

function print(out: Output, parts: readonly InitPart[]): void {
  for (const { proposals, notes } of parts) {
    for (const proposal of proposals) out.line(green('to do: '), proposal);
    for (const note of notes) out.line(dim('note: '), note);
  }
  if (parts.every(({ proposals }) => proposals.length === 0)) out.line(bold('there is nothing to set up'));
}

function printDone(out: Output, done: readonly InitPart[], left: readonly string[]): void {
  out.line(bold('done'), dim(`  ${done.map(({ after }) => after).join('; ')}`));
  for (const step of left) out.line(dim('next: '), step);
}

function takeOut({ out, process }: CliContext, folder: string, json: boolean): void {
  const files = removeBlocks(folder);
  if (json) out.json({ removed: files });
  for (const { file, outcome, note } of json ? [] : files)
    out.line(`${outcome.padEnd(8)} `, file, note === null ? '' : dim(`  (${note})`));
  if (files.some(({ outcome }) => outcome === 'refused')) process.exitCode = EXIT.refused;
}

function toJson({ name, proposals, notes }: InitPart): unknown {
  return { name, proposals, notes };
}
