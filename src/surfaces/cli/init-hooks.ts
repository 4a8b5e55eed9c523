import { type HookChange, installHooks } from '../../app/setup/change.ts';
import { readHookStatus } from '../../app/setup/status.ts';
import { requireLastingLauncher } from '../../app/setup/targets.ts';
import { type CliContext, findStore } from './context.ts';
import { listReviews, requireHookedAgents, splitByPresence } from './hooked-agents.ts';
import type { InitPart } from './init-part.ts';

/** Hooks for the agents on this machine, or for those that were named. */
export function proposeHooks(
  context: CliContext,
  named: readonly string[] | undefined,
  withServer: boolean,
): InitPart {
  const store = findStore(context);
  const { machine } = context;
  const site = {
    scope: 'user',
    project: machine.cwd,
    launcher: requireLastingLauncher(machine),
    withServer,
  } as const;
  const agents = requireHookedAgents(named);
  const { present, absent } = splitByPresence(readHookStatus(store, { ...site, agents }), agents);
  const request = { ...site, agents: present.map(({ agent }) => agent) };
  const install = (dryRun: boolean): HookChange[] =>
    present.length === 0 ? [] : installHooks(store, { ...request, dryRun });
  return {
    name: 'hooks',
    proposals: install(true)
      .filter(({ change }) => change !== 'unchanged')
      .map(({ agent, path, holds }) => `put ${holds} for ${agent} into ${path}`),
    notes: absent.length === 0 ? [] : [`not on this machine: ${absent.map(({ title }) => title).join(', ')}`],
    isOutside: true,
    after: 'see: handover hooks status; back: handover hooks uninstall',
    apply: () => {
      install(false);
      return listReviews(readHookStatus(store, request)).map(({ sentence }) => sentence);
    },
  };
}
