import { resolve } from 'node:path';
import { findStore } from '../../../app/context.ts';
import { bold, dim, green } from '../../../app/describe/styled-text.ts';
import { type InitPart, type InitPlan, planInit, undoInit } from '../../../app/init.ts';
import { EXIT, HandoverError, usageError } from '../../../errors.ts';
import { countNouns } from '../../../model/text.ts';
import { pathExists, requireFolder } from '../../../platform/folders.ts';
import { abbreviateHome } from '../../../platform/paths.ts';
import { identifyProject } from '../../../platform/project.ts';
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
import { wrap } from '../output.ts';
import { startBackfill } from './backfill.ts';

const flags = {
  agent: agentsFlag,
  hooks: enabled('Add hooks to the settings of agents'),
  mcp: mcpFlag,
  blocks: wanted('Add a block to the instruction files that these agents read'),
  files: wanted('Create SOUL.md, MEMORY.md and HANDOFF.md'),
  name: text('The agent’s name, for SOUL.md', 'name'),
  force: toggle('Recreate the three files; their old content is saved in the store'),
  remove: toggle('Undo all of it: blocks, files that nobody changed, and hooks (unless --no-hooks)'),
  yes: toggle('Set up hooks and MCP, and what other flags name, without asking'),
  dryRun,
  json,
};
type InitFlags = FlagValues<typeof flags>;

/** Off unless it is given. `--no-files` is accepted too. */
function wanted(brief: string) {
  return { kind: 'boolean', default: false, brief } as const;
}

export const init = command('init', runInit, { positional: folderPositional, flags, aliases: { y: 'yes' } });

async function runInit(this: CliContext, given: InitFlags, folder = '.'): Promise<void> {
  const path = resolve(this.machine.cwd, folder);
  if (given.remove) return printRemoved(this, requireFolder(path), given);
  // These two are about the files alone.
  const values = { ...given, files: given.files || given.force || given.name !== undefined };
  const isNew = (values.files || values.blocks) && !values.dryRun && !pathExists(path);
  if (isNew) ensureProjectFolder(path);
  try {
    await setUp(this, values, requireFolder(path));
  } catch (error) {
    if (isNew) removeEmptyFolder(path);
    throw error;
  }
}

async function setUp(context: CliContext, values: InitFlags, folder: string): Promise<void> {
  const { agent: named, hooks: withHooks, mcp: withServer, name, force } = values;
  const plan = planInit(context, folder, { named, withHooks, withServer, name, force });
  const open = plan.parts.filter(({ proposals }) => proposals.length > 0);
  const isFlagged = ({ name: part }: InitPart): boolean => (part === 'blocks' ? values.blocks : values.files);
  const suggested = open.filter((part) => part.isOutside || isFlagged(part));
  if (values.dryRun) return report(context, values, { plan, chosen: suggested, next: null });
  const history = await countHistory(context);
  const { chosen, takesHistory } = values.yes
    ? { chosen: suggested, takesHistory: false }
    : await choose(context, { open, suggested, history });
  const next = plan.apply(chosen);
  if (!values.json) printDone(context, chosen);
  const isAsked = history !== null && !takesHistory && chosen.length > 0;
  const offer = isAsked ? [`${history}; capture them too: handover backfill --background`] : [];
  report(context, values, { plan, chosen, next: [...next, ...offer] });
  if (takesHistory) await startBackfill(context);
}

interface Choice {
  chosen: readonly InitPart[];
  /** Whether earlier sessions are captured, too. */
  takesHistory: boolean;
}

const HISTORY = 'history';

/** Those that were ticked. Without a terminal, only what flags name and what stays inside the project. */
async function choose(
  context: CliContext,
  { open, suggested, history }: { open: readonly InitPart[]; suggested: readonly InitPart[]; history: string | null },
): Promise<Choice> {
  if (open.length === 0) return { chosen: [], takesHistory: false };
  if (!context.interactive) {
    const inside = suggested.filter(({ isOutside }) => !isOutside);
    if (inside.length > 0 || suggested.length === 0) return { chosen: inside, takesHistory: false };
    printProposals(context, suggested, 'to do: ');
    throw usageError(
      'there is no terminal to ask in; nothing was done',
      'Hooks and MCP: handover init --yes. Others: --blocks, --files. Less: --agent NAME, --no-mcp, --no-hooks.',
    );
  }
  const { pickSeveral } = await import('../prompts.ts');
  const options = [
    ...open.map((part) => ({ value: part.name, label: part.title, isTicked: suggested.includes(part) })),
    ...(history === null ? [] : [{ value: HISTORY, label: `Capture ${history}`, isTicked: false }]),
  ];
  const picked = await pickSeveral('What should be set up?', options);
  if (picked === null) throw new HandoverError('HANDOVER_CANCELLED', 'nothing was done');
  return { chosen: open.filter(({ name }) => picked.includes(name)), takesHistory: picked.includes(HISTORY) };
}

/** What agents did before, which no hook has seen; null for nothing. */
async function countHistory(context: CliContext): Promise<string | null> {
  const { findHistory } = await import('../../../app/capture/backfill.ts');
  const store = findStore(context);
  const { length } = await findHistory(store, {});
  if (length === 0) return null;
  const here = await findHistory(store, { project: identifyProject('.', context.machine).id });
  return `${countNouns(length, 'earlier session')} on this machine, ${here.length} in this project`;
}

interface Report {
  plan: InitPlan;
  chosen: readonly InitPart[];
  /** What the user has to do; null when nothing was done yet. */
  next: readonly string[] | null;
}

function report(context: CliContext, values: InitFlags, { plan, chosen, next }: Report): void {
  const { out } = context;
  const isDone = next !== null && chosen.length > 0;
  if (values.json) {
    const parts = plan.parts.map(({ name, title, proposals }) => {
      return { name, title, proposals, chosen: chosen.some((part) => part.name === name) };
    });
    out.json({ done: isDone, parts, notes: plan.notes, next: next ?? [] });
    return;
  }
  if (next === null) printProposals(context, chosen, 'to do: ');
  for (const note of plan.notes) printWrapped(context, 'note: ', note);
  for (const { name, title, proposals } of plan.parts)
    if (proposals.length > 0 && !chosen.some((part) => part.name === name))
      out.line(dim(`left out: ${title}; to add: handover init ${isFile(name) ? `--${name}` : `--agent ${name}`}`));
  const isSetUp = !plan.parts.some(({ isOutside, proposals }) => isOutside && proposals.length > 0);
  if (isSetUp && chosen.length === 0) out.line(bold('there is nothing to set up'));
  if (isDone) out.line('check that it works: ', bold('handover doctor'), dim('; undo it: handover init --remove'));
  for (const step of next ?? []) printWrapped(context, 'next: ', step);
}

function printWrapped({ out, width }: CliContext, label: string, words: string): void {
  const lines = wrap(words, width, label.length);
  for (const [at, line] of lines.entries())
    if (at === 0) out.line(dim(label), line.trimStart());
    else out.line(line);
}

function isFile(part: string): boolean {
  return part === 'blocks' || part === 'files';
}

/** What was proposed, as what has been done. */
function printDone({ out }: CliContext, parts: readonly InitPart[]): void {
  for (const proposal of parts.flatMap(({ proposals }) => proposals)) {
    const [verb = '', ...rest] = proposal.split(' ');
    out.line(green(verb.endsWith('e') ? `${verb}d` : `${verb}ed`), ` ${rest.join(' ')}`);
  }
}

function printProposals({ out }: CliContext, parts: readonly InitPart[], label: string): void {
  for (const proposal of parts.flatMap(({ proposals }) => proposals)) out.line(green(label), proposal);
}

function printRemoved(context: CliContext, folder: string, values: InitFlags): void {
  const { out, process, machine } = context;
  const removed = undoInit(context, folder, { withHooks: values.hooks, dryRun: values.dryRun });
  if (values.json) out.json({ removed });
  else if (removed.length === 0) out.line('there is nothing to remove');
  else
    for (const { file, outcome, note } of removed)
      out.line(`${outcome.padEnd(8)} `, abbreviateHome(file, machine), note === null ? '' : dim(`  (${note})`));
  const { root } = findStore(context);
  if (!values.json && !values.dryRun && removed.length > 0 && pathExists(root))
    out.line(dim(`what was captured stays in ${abbreviateHome(root, machine)}; to delete it: handover forget --all`));
  if (removed.some(({ outcome }) => outcome === 'refused')) process.exitCode = EXIT.refused;
}
