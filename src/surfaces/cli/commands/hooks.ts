import { buildCommand, buildRouteMap } from '@stricli/core';
import { findStore } from '../../../app/context.ts';
import { bold, dim, green, type Part, yellow } from '../../../app/describe/styled-text.ts';
import { listHookReviews, planHooks, requireHookedAgents } from '../../../app/init.ts';
import { type HookChange, uninstallHooks } from '../../../app/setup/change.ts';
import { type HookStatus, readHookStatus } from '../../../app/setup/status.ts';
import { findLauncher, type HookSite } from '../../../app/setup/targets.ts';
import { identifyProject } from '../../../platform/project.ts';
import { COMMAND_SUMMARIES } from '../command-summaries.ts';
import type { CliContext } from '../context.ts';
import { agentsFlag, choice, dryRun, type FlagValues, json, mcpFlag } from '../flags.ts';
import type { Output } from '../output.ts';

const statusFlags = {
  agent: agentsFlag,
  scope: choice(['user', 'project'], 'user', 'For all your projects, or for this one'),
  json,
};
const uninstallFlags = { ...statusFlags, dryRun };
const installFlags = { ...uninstallFlags, mcp: mcpFlag };

export const hooks = buildRouteMap({
  routes: {
    install: buildCommand({
      func: runInstall,
      parameters: { flags: installFlags },
      docs: { brief: 'Add hooks and the MCP server to the settings of the agents on this machine' },
    }),
    uninstall: buildCommand({
      func: runUninstall,
      parameters: { flags: uninstallFlags },
      docs: { brief: 'Remove the hooks and the MCP server, and nothing else' },
    }),
    status: buildCommand({
      func: runStatus,
      parameters: { flags: statusFlags },
      docs: { brief: 'Show which agents are here and the state of their hooks' },
    }),
  },
  docs: { brief: COMMAND_SUMMARIES.hooks },
});

function runInstall(this: CliContext, values: FlagValues<typeof installFlags>): void {
  const { scope, dryRun: isDryRun } = values;
  const project = findProject(this, scope);
  const plan = planHooks(this, values.agent, { scope, project, withServer: values.mcp });
  const changes = plan.install(plan.agents, isDryRun);
  const next = plan.listReviews(plan.agents);
  const absent = plan.absent.map(({ agent }) => agent);
  if (values.json) {
    this.out.json({ scope, dry_run: isDryRun, changes, absent, next });
    return;
  }
  printChanges(this.out, changes, isDryRun);
  if (scope === 'project' && changes.length > 0)
    this.err.line(dim('note: '), 'these files contain paths of this machine; do not commit them');
  for (const agent of absent) this.out.line(bold(agent.padEnd(NAME_WIDTH)), dim('not on this machine'));
  for (const sentence of next) this.out.line(dim('next: '), sentence);
}

function runUninstall(this: CliContext, values: FlagValues<typeof uninstallFlags>): void {
  const { scope, dryRun: isDryRun } = values;
  const agents = requireHookedAgents(values.agent);
  const changes = uninstallHooks(findStore(this), { ...findSite(this, scope), agents, dryRun: isDryRun });
  if (values.json) {
    this.out.json({ scope, dry_run: isDryRun, changes });
    return;
  }
  const removed = changes.filter(({ change }) => change !== 'unchanged');
  printChanges(this.out, removed, isDryRun);
  if (removed.length === 0) this.out.line('there is nothing to remove');
}

function runStatus(this: CliContext, values: FlagValues<typeof statusFlags>): void {
  const { scope } = values;
  const agents = requireHookedAgents(values.agent);
  const found = readHookStatus(findStore(this), { ...findSite(this, scope), agents });
  if (values.json) this.out.json({ scope, agents: found.map(toJson) });
  else for (const one of found) printStatus(this.out, one);
}

function findSite(context: CliContext, scope: HookSite['scope']): HookSite {
  const launcher = findLauncher(context.machine);
  return { scope, project: findProject(context, scope), launcher, withServer: true };
}

function findProject({ machine }: CliContext, scope: HookSite['scope']): string {
  return scope === 'project' ? identifyProject('.', machine).root : machine.cwd;
}

const NAME_WIDTH = 13;

function printChanges(out: Output, changes: readonly HookChange[], isDryRun: boolean): void {
  for (const { agent, path, holds, change } of changes) {
    const look = change === 'unchanged' ? dim : green;
    const words = isDryRun && change !== 'unchanged' ? `would be ${change}` : change;
    out.line(bold(agent.padEnd(NAME_WIDTH)), look(words), `  ${path}`, dim(`  ${holds}`));
  }
}

function toJson(found: HookStatus): unknown {
  const { detection, trustStep: _, ...rest } = found;
  const [next = null] = listHookReviews([found]);
  return { ...rest, ...detection, next };
}

function printStatus(out: Output, found: HookStatus): void {
  const { agent, detected, detection, state, files } = found;
  if (!detected && state === 'none' && found.server === 'none') {
    out.line(bold(agent.padEnd(NAME_WIDTH)), dim('not on this machine'));
    return;
  }
  const version = detection.version === null ? '' : dim(`  version ${detection.version}`);
  out.line(bold(agent.padEnd(NAME_WIDTH)), showState(found), showServer(found), version);
  for (const { path, problem, missing, off, state: own, server } of files) {
    if ((own ?? 'none') !== 'none' || (server ?? 'none') !== 'none') out.line(dim(`  ${path}`));
    if (problem !== null) out.line(yellow('  problem: '), problem);
    if (off) out.line(yellow('  note: '), `all hooks are turned off in ${path}`);
    for (const program of missing) out.line(yellow('  broken: '), `it starts ${program}, which does not exist`);
  }
  const next = nameNextStep(found);
  if (next !== null) out.line(dim('  next: '), next);
}

function showState(found: HookStatus): Part {
  const { state } = found;
  if (state === 'none') return dim('no hooks');
  if (state !== 'installed') return yellow(state);
  return listHookReviews([found]).length > 0 ? yellow('installed, not trusted yet') : green('installed');
}

function showServer({ server }: HookStatus): Part {
  if (server === 'none') return dim(', no mcp');
  return server === 'installed' ? ', mcp' : yellow(', mcp outdated');
}

function nameNextStep(found: HookStatus): string | null {
  const { agent, state, server, files } = found;
  const isBroken = files.some(({ missing }) => missing.length > 0);
  if (isBroken || state === 'outdated' || state === 'partly' || server === 'outdated')
    return `handover hooks install --agent ${agent}`;
  return listHookReviews([found])[0] ?? null;
}
