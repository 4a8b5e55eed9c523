import { buildCommand, buildRouteMap, type RouteMap } from '@stricli/core';
import type { CliContext } from '../context.ts';

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
  loader: async () => (await import('./hooks.run.ts')).runInstall,
  parameters: { flags: { ...flags, dryRun, mcp: mcpFlag } },
  docs: { brief: 'Put hooks and the MCP server into the settings of the agents on this machine' },
});

const uninstall = buildCommand<ChangeHooksFlags, [], CliContext>({
  loader: async () => (await import('./hooks.run.ts')).runUninstall,
  parameters: { flags: { ...flags, dryRun } },
  docs: { brief: 'Take the hooks and the MCP server out again, and nothing else' },
});

const status = buildCommand<HooksFlags, [], CliContext>({
  loader: async () => (await import('./hooks.run.ts')).runStatus,
  parameters: { flags },
  docs: { brief: 'Tell which agents are here and what became of their hooks' },
});

export const hooks: RouteMap<CliContext> = buildRouteMap({
  routes: { install, uninstall, status },
  docs: { brief: 'Let agents capture and restore by themselves' },
});
