import { basename } from 'node:path';
import { HOOK_HOSTS } from '../agents/hook-hosts.ts';
import type { HookedAgent } from '../agents/hook-input.ts';
import { installBlocks } from '../memory/agent-files.ts';
import { createDocuments } from '../memory/documents.ts';
import { quote } from '../memory/handoff-file.ts';
import { cleanLine } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import { identifyProject } from '../platform/project.ts';
import { type Context, findStore } from './context.ts';
import { notFoundError, usageError } from './failure.ts';
import { installHooks } from './setup/change.ts';
import { type HookStatus, readHookStatus } from './setup/status.ts';
import { type HookSite, requireLastingLauncher } from './setup/targets.ts';

/** One thing that `init` sets up. It says what it would do before anybody is asked. */
export interface InitPart {
  name: string;
  /** What would be done, a sentence each; empty when there is nothing to do. */
  proposals: readonly string[];
  notes: readonly string[];
  /** Whether it changes something outside the project, so that the user is asked first. */
  isOutside: boolean;
  /** How to check it, and how to undo it. */
  after: string;
  /** Does it, and returns what is left to the user, a sentence each. */
  apply(): string[];
}

/** SOUL.md, MEMORY.md, HANDOFF.md, and the block in the files that agents read. */
export function proposeFiles(
  context: Context,
  folder: string,
  { name, force }: { name?: string; force: boolean },
): InitPart {
  const { machine } = context;
  const store = findStore(context);
  const project = identifyProject(folder, machine);
  const create = (dryRun: boolean) => {
    const options = { name: quote(name ?? project.name), force, at: formatTimestamp(machine.clock.now()), dryRun };
    return createDocuments(store, { folder, project: project.id }, options);
  };
  const blocks = installBlocks(folder, { dryRun: true });
  const isOpen = ({ outcome }: { outcome: string }) => outcome !== 'present' && outcome !== 'unchanged';
  return {
    name: 'files',
    isOutside: false,
    after: 'remove the blocks: handover init --remove',
    proposals: [
      ...create(true)
        .filter(isOpen)
        .map(({ path, outcome }) => `${outcome === 'created' ? 'create' : 'recreate'} ${basename(path)}`),
      ...blocks
        .filter((block) => isOpen(block) && block.outcome !== 'refused')
        .map(({ file }) => `add a block to ${file}`),
    ],
    notes: blocks
      .filter(({ outcome }) => outcome === 'refused')
      .map(({ file, note }) => `no block is added to ${file}: ${note}`),
    apply: () => {
      const backups = create(false).flatMap((document) => (document.backup === null ? [] : [document.backup]));
      installBlocks(folder);
      return backups.map((path) => `the replaced version is at ${path}`);
    },
  };
}

/** Hooks for the agents on this machine, or for the named ones. */
export function proposeHooks(context: Context, named: readonly string[] | undefined, withServer: boolean): InitPart {
  const site = { scope: 'user', project: context.machine.cwd, withServer } as const;
  const { absent, install, listReviews } = planHooks(context, named, site);
  return {
    name: 'hooks',
    proposals: install(true)
      .filter(({ change }) => change !== 'unchanged')
      .map(({ agent, path, holds }) => `add ${holds} for ${agent} to ${path}`),
    notes: absent.length === 0 ? [] : [`not on this machine: ${absent.map(({ title }) => title).join(', ')}`],
    isOutside: true,
    after: 'check: handover hooks status; undo: handover hooks uninstall',
    apply: () => {
      install(false);
      return listReviews();
    },
  };
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
  const agents = found.filter(({ detected }) => detected).map(({ agent }) => agent);
  const request = { ...site, agents };
  return {
    absent,
    install: (dryRun: boolean) => (agents.length === 0 ? [] : installHooks(store, { ...request, dryRun })),
    listReviews: () => listHookReviews(readHookStatus(store, request)),
  };
}

/** The agents that can have hooks; none for all. */
export function requireHookedAgents(names: readonly string[] = []): HookedAgent[] {
  const known = HOOK_HOSTS.map(({ agent }) => agent);
  return names.map((words) => {
    const name = known.find((agent) => agent === words.trim().toLowerCase());
    if (name !== undefined) return name;
    throw usageError(`hooks cannot be installed for "${cleanLine(words)}"`, `Use one of: ${known.join(', ')}.`);
  });
}

/** What users still have to do before an agent runs our hooks, a sentence each. */
export function listHookReviews(found: readonly HookStatus[]): string[] {
  return found
    .filter(({ files, trustStep }) => trustStep !== null && files.some(({ trusted }) => trusted === false))
    .map(({ title, trustStep }) => `${title} runs no hook until you have reviewed it: ${trustStep}`);
}
