import { buildCommand, buildRouteMap, type RouteMap } from '@stricli/core';
import { type HookChange, installHooks, uninstallHooks } from '../../../app/setup/change.ts';
import { findLauncher, requireLastingLauncher } from '../../../app/setup/launcher.ts';
import { type HookStatus, readHookStatus } from '../../../app/setup/status.ts';
import type { HookSite } from '../../../app/setup/targets.ts';
import { identifyProject } from '../../../platform/project.ts';
import { type CliContext, findStore } from '../context.ts';
import { listReviews, requireHookedAgents, splitByPresence } from '../hooked-agents.ts';
import { bold, dim, green, type Output, type Part, yellow } from '../output.ts';

export interface HooksFlags {
  agent?: readonly string[];
  scope: 'user' | 'project';
  json: boolean;
}

export interface ChangeHooksFlags extends HooksFlags {
  dryRun: boolean;
}

export interface InstallFlags extends ChangeHooksFlags {
  mcp: boolean;
}

export const agentsFlag = {
  kind: 'parsed',
  parse: (input: string): string => input,
  variadic: true,
  optional: true,
  brief: 'Only this agent; can be given several times',
  placeholder: 'name',
} as const;

const flags = {
  agent: agentsFlag,
  scope: {
    kind: 'enum',
    values: ['user', 'project'],
    default: 'user',
    brief: 'For all your projects, or for this one',
  },
  json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
} as const;

const dryRun = {
  kind: 'boolean',
  default: false,
  withNegated: false,
  brief: 'Only say what would be done',
} as const;

export const mcpFlag = {
  kind: 'boolean',
  default: true,
  brief: 'Register the MCP server with the agents too',
} as const;

const install = buildCommand<InstallFlags, [], CliContext>({
  func: runInstall,
  parameters: { flags: { ...flags, dryRun, mcp: mcpFlag } },
  docs: { brief: 'Put hooks and the MCP server into the settings of the agents on this machine' },
});

const uninstall = buildCommand<ChangeHooksFlags, [], CliContext>({
  func: runUninstall,
  parameters: { flags: { ...flags, dryRun } },
  docs: { brief: 'Take the hooks and the MCP server out again, and nothing else' },
});

const status = buildCommand<HooksFlags, [], CliContext>({
  func: runStatus,
  parameters: { flags },
  docs: { brief: 'Tell which agents are here and what became of their hooks' },
});

export const hooks: RouteMap<CliContext> = buildRouteMap({
  routes: { install, uninstall, status },
  docs: { brief: 'Let agents capture and restore by themselves' },
});

export function runInstall(this: CliContext, flags: InstallFlags): void {
  const launcher = requireLastingLauncher(this.machine);
  const site = { ...findSite(this, flags), launcher, withServer: flags.mcp };
  const named = requireHookedAgents(flags.agent);
  const { present, absent } = splitByPresence(
    readHookStatus(findStore(this), { ...site, agents: named }),
    named,
  );
  const agents = present.map(({ agent }) => agent);
  const request = { ...site, agents, dryRun: flags.dryRun };
  const changes = agents.length === 0 ? [] : installHooks(findStore(this), request);
  const review = listReviews(readHookStatus(findStore(this), { ...site, agents }));
  if (flags.json) {
    const missing = absent.map(({ agent }) => agent);
    const next = review.map(({ sentence }) => sentence);
    this.out.json({ scope: site.scope, dry_run: flags.dryRun, changes, absent: missing, next });
    return;
  }
  printChanges(this.out, changes, flags.dryRun);
  if (site.scope === 'project' && changes.length > 0)
    this.err.line(dim('note: '), 'the paths in these files are of this machine; do not commit them');
  for (const { agent } of absent) this.out.line(bold(agent.padEnd(NAME_WIDTH)), dim('not on this machine'));
  for (const { sentence } of review) this.out.line(dim('next: '), sentence);
}

export function runUninstall(this: CliContext, flags: ChangeHooksFlags): void {
  const site = { ...findSite(this, flags), agents: requireHookedAgents(flags.agent) };
  const changes = uninstallHooks(findStore(this), { ...site, dryRun: flags.dryRun });
  if (flags.json) this.out.json({ scope: site.scope, dry_run: flags.dryRun, changes });
  else printChanges(this.out, changes, flags.dryRun);
}

export function runStatus(this: CliContext, flags: HooksFlags): void {
  const site = { ...findSite(this, flags), agents: requireHookedAgents(flags.agent) };
  const found = readHookStatus(findStore(this), site);
  if (flags.json) this.out.json({ scope: site.scope, agents: found.map(toJson) });
  else for (const status of found) printStatus(this.out, status);
}

function findSite(context: CliContext, { scope }: HooksFlags): HookSite {
  const { machine } = context;
  const project = scope === 'project' ? identifyProject('.', machine).root : machine.cwd;
  return { scope, project, launcher: findLauncher(machine), withServer: true };
}

const NAME_WIDTH = 13;

function printChanges(out: Output, changes: readonly HookChange[], dryRun: boolean): void {
  for (const { agent, path, holds, change } of changes) {
    const look = change === 'unchanged' ? dim : green;
    const words = dryRun && change !== 'unchanged' ? `would be ${change}` : change;
    out.line(bold(agent.padEnd(NAME_WIDTH)), look(words), `  ${path}`, dim(`  ${holds}`));
  }
}

function toJson({ detection, trustStep, ...status }: HookStatus): unknown {
  const [review] = listReviews([{ detection, trustStep, ...status }]);
  return { ...status, ...detection, next: review?.sentence ?? null };
}

function printStatus(out: Output, status: HookStatus): void {
  const { agent, detected, detection, state, files } = status;
  if (!detected && state === 'none' && status.server === 'none') {
    out.line(bold(agent.padEnd(NAME_WIDTH)), dim('not on this machine'));
    return;
  }
  const version = detection.version === null ? '' : dim(`  version ${detection.version}`);
  out.line(bold(agent.padEnd(NAME_WIDTH)), showState(status), showServer(status), version);
  for (const { path, problem, missing, off, state: own, server } of files) {
    if ((own ?? 'none') !== 'none' || (server ?? 'none') !== 'none') out.line(dim(`  ${path}`));
    if (problem !== null) out.line(yellow('  problem: '), problem);
    if (off) out.line(yellow('  note: '), `all hooks are turned off in ${path}`);
    for (const gone of missing) out.line(yellow('  broken: '), `it starts ${gone}, which is not there`);
  }
  const next = nameNextStep(status);
  if (next !== null) out.line(dim('  next: '), next);
}

function showState(status: HookStatus): Part {
  const { state } = status;
  if (state === 'none') return dim('no hooks');
  if (state !== 'installed') return yellow(state);
  return listReviews([status]).length > 0 ? yellow('installed, not trusted yet') : green('installed');
}

function showServer({ server }: HookStatus): Part {
  if (server === 'none') return dim(', no mcp');
  return server === 'installed' ? ', mcp' : yellow(', mcp outdated');
}

function nameNextStep(status: HookStatus): string | null {
  const { agent, state, server, files } = status;
  const [review] = listReviews([status]);
  const isBroken = files.some(({ missing }) => missing.length > 0);
  if (isBroken || state === 'outdated' || state === 'partly' || server === 'outdated')
    return `handover hooks install --agent ${agent}`;
  return review?.sentence ?? null;
}
