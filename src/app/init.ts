import { basename, join, relative } from 'node:path';
import { HOOK_HOSTS } from '../agents/hook-hosts.ts';
import type { HookedAgent } from '../agents/hook-input.ts';
import { notFoundError, usageError } from '../errors.ts';
import { nameAgent } from '../handover/brief/reader.ts';
import { installBlocks, removeBlocks } from '../memory/agent-files.ts';
import { createDocuments, removeUntouched } from '../memory/documents.ts';
import { quote } from '../memory/handoff-file.ts';
import { LAYERS } from '../memory/layout.ts';
import { findMemoryDir } from '../memory/runs/run-config.ts';
import { quoteInput } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import { listFolder } from '../platform/folders.ts';
import { abbreviateHome } from '../platform/paths.ts';
import { identifyProject } from '../platform/project.ts';
import { isProjectFolder } from '../platform/project-file.ts';
import { PROJECT_SETTINGS } from '../platform/project-folder.ts';
import { suggestOneOf } from '../search/typos.ts';
import { type Context, findStore } from './context.ts';
import { type HookChange, installHooks, uninstallHooks } from './setup/change.ts';
import { type HookStatus, readHookStatus } from './setup/status.ts';
import { findLauncher, type HookSite, requireLastingLauncher } from './setup/targets.ts';

/** One thing that `init` can set up. */
export interface InitPart {
  /** The name of an agent for its hooks; `blocks` or `files`. */
  name: string;
  title: string;
  /** What would be done, a sentence each; empty when it is done already. */
  proposals: readonly string[];
  /** Whether it changes something outside the project. */
  isOutside: boolean;
}

export interface InitPlan {
  parts: readonly InitPart[];
  notes: readonly string[];
  /** Sets up the chosen parts, and returns what the user has to do, a sentence each. */
  apply(chosen: readonly InitPart[]): string[];
}

export interface InitOptions {
  /** The agents to set up; all on this machine if left out. */
  named: readonly string[] | undefined;
  withHooks: boolean;
  withServer: boolean;
  /** The name in SOUL.md. */
  name: string | undefined;
  /** Recreate documents that are there. */
  force: boolean;
}

/** Hooks and the MCP server for each agent on this machine, a block in the files that they read, and the three documents. */
export function planInit(context: Context, folder: string, options: InitOptions): InitPlan {
  const site = { scope: 'user', project: context.machine.cwd, withServer: options.withServer } as const;
  const hooks = planHooks(context, options.named, site);
  const blocks = installBlocks(folder, { agents: hooks.agents, dryRun: true });
  const documents = planDocuments(context, folder, options);
  const isOpen = ({ outcome }: { outcome: string }) => !['present', 'unchanged', 'refused'].includes(outcome);
  const files = blocks.filter(isOpen).map(({ file }) => file);
  const parts: InitPart[] = [
    ...(options.withHooks ? hooks.present : []).map(({ agent, title }) => ({
      name: agent,
      title: `${title}: hooks${options.withServer ? ' and MCP server' : ''}`,
      proposals: hooks
        .install([agent], true)
        .filter(({ change }) => change !== 'unchanged')
        .map(
          ({ path, holds }) => `add ${describeParts(holds)} for ${title} to ${abbreviateHome(path, context.machine)}`,
        ),
      isOutside: true,
    })),
    {
      name: 'blocks',
      title: `A few lines for agents in ${files.join(', ')}`,
      proposals: files.map((file) => `add a block to ${file}`),
      isOutside: false,
    },
    {
      name: 'files',
      title: 'SOUL.md, MEMORY.md and HANDOFF.md',
      proposals: documents(true)
        .filter(isOpen)
        .map(({ path, outcome }) => `${outcome === 'created' ? 'create' : 'recreate'} ${basename(path)}`),
      isOutside: false,
    },
  ];
  return {
    parts,
    notes: [
      ...(hooks.present.length > 0
        ? []
        : [`none of these agents is on this machine: ${hooks.absent.map(({ title }) => title).join(', ')}`]),
      ...blocks
        .filter(({ outcome }) => outcome === 'refused')
        .map(({ file, note }) => `no block can be added to ${file}: ${note}`),
    ],
    apply: (chosen) => {
      const names = new Set(chosen.map(({ name }) => name));
      const backups = names.has('files') ? documents(false).flatMap(({ backup }) => backup ?? []) : [];
      if (names.has('blocks')) installBlocks(folder, { agents: hooks.agents });
      const agents = hooks.agents.filter((agent) => names.has(agent));
      if (agents.length > 0) hooks.install(agents, false);
      return [
        ...backups.map((path) => `the replaced version is at ${path}`),
        ...(agents.length > 0 ? hooks.listReviews(agents) : []),
      ];
    },
  };
}

function planDocuments(context: Context, folder: string, { name, force }: InitOptions) {
  const { machine } = context;
  const store = findStore(context);
  const project = identifyProject(folder, machine);
  return (dryRun: boolean) => {
    const options = { name: quote(name ?? project.name), force, at: formatTimestamp(machine.clock.now()), dryRun };
    return createDocuments(store, { folder, project: project.id }, options);
  };
}

/** Undoes `init`: returns what becomes of each file, and what stays of other commands. */
export function undoInit(
  context: Context,
  folder: string,
  { withHooks, dryRun }: { withHooks: boolean; dryRun: boolean },
): { file: string; outcome: string; note: string | null }[] {
  const { machine } = context;
  const store = findStore(context);
  const site = { scope: 'user', project: machine.cwd, launcher: findLauncher(machine), withServer: true } as const;
  const hooks = withHooks ? uninstallHooks(store, { ...site, agents: [], dryRun }) : [];
  const documents = removeUntouched(store, { folder, project: identifyProject(folder, machine).id }, { dryRun });
  const blocks = removeBlocks(folder, { dryRun }).filter(({ outcome }) => outcome !== 'absent');
  const settings = listFolder(join(folder, PROJECT_SETTINGS)).filter((name) => !name.startsWith('.'));
  const memory = findMemoryDir(machine, folder);
  const left = [
    ...settings.map((name) => join(PROJECT_SETTINGS, name)),
    ...(LAYERS.some((layer) => isProjectFolder(memory, layer)) ? [relative(folder, memory)] : []),
  ];
  const done = [
    ...hooks
      .filter(({ change }) => change !== 'unchanged')
      .map(({ path, holds, agent, change }) => {
        const held = `${describeParts(holds)} of ${agent}`;
        const note = change === 'removed' ? `the file, which held only ${held}` : `only ${held}`;
        return { file: path, outcome: 'removed', note };
      }),
    ...blocks,
    ...documents.map(({ title, outcome }) => ({
      file: title,
      outcome,
      note: outcome === 'kept' ? 'it holds more than init writes' : null,
    })),
    ...left.map((file) => ({ file, outcome: 'kept', note: 'not made by init' })),
  ];
  return done.map((one) => ({ ...one, outcome: dryRun && one.outcome === 'removed' ? 'to remove' : one.outcome }));
}

function describeParts(holds: HookChange['holds']): string {
  return holds.replace('mcp', 'the MCP server');
}

/** Finds the agents that hooks are installed for: those on this machine, or the named ones, which must be there. */
export function planHooks(context: Context, named: readonly string[] | undefined, where: Omit<HookSite, 'launcher'>) {
  const store = findStore(context);
  const site = { ...where, launcher: requireLastingLauncher(context.machine) };
  const wanted = requireHookedAgents(named);
  const found = readHookStatus(store, { ...site, agents: wanted });
  const absent = found.filter(({ detected }) => !detected);
  const [missing] = absent;
  if (wanted.length > 0 && missing !== undefined)
    throw notFoundError(
      `${missing.title} is not on this machine: it has neither a folder nor a program here`,
      `Install it and start it once, then: handover hooks install --agent ${missing.agent}`,
    );
  const present = found.filter(({ detected }) => detected);
  return {
    absent,
    present,
    agents: present.map(({ agent }) => agent),
    install: (agents: readonly HookedAgent[], isDryRun: boolean) =>
      agents.length === 0 ? [] : installHooks(store, { ...site, agents, dryRun: isDryRun }),
    listReviews: (agents: readonly HookedAgent[]) => listHookReviews(readHookStatus(store, { ...site, agents })),
  };
}

/** The agents that can have hooks; none for all. */
export function requireHookedAgents(names: readonly string[] = []): HookedAgent[] {
  const known = HOOK_HOSTS.map(({ agent }) => agent);
  return names.map((words) => {
    const wanted = nameAgent(words).trim().toLowerCase();
    const name = known.find((agent) => agent === wanted);
    if (name !== undefined) return name;
    throw usageError(`hooks cannot be installed for ${quoteInput(words)}`, suggestOneOf(words, known));
  });
}

/** What users still have to do before an agent runs our hooks, a sentence each. */
export function listHookReviews(found: readonly HookStatus[]): string[] {
  return found
    .filter(({ files, trustStep }) => trustStep !== null && files.some(({ trusted }) => trusted === false))
    .map(({ title, trustStep }) => `${title} runs no hook until you have reviewed it: ${trustStep}`);
}
