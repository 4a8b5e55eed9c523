import { readHookStatus } from '../../app/setup/status.ts';
import { findLauncher } from '../../app/setup/targets.ts';
import type { Finding } from '../../store/doctor/check-files.ts';

import { type CliContext, findStore } from './context.ts';

/** Hooks in the user's settings that start what is not there, so that agents would fail at them. */
export function findBrokenHooks(context: CliContext): Finding[] {
  const { machine } = context;
  const site = {
    scope: 'user',
    project: machine.cwd,
    launcher: findLauncher(machine),
    withServer: true,
    agents: [],
  } as const;
  return readHookStatus(findStore(context), site).flatMap(({ agent, files }) =>
    files.flatMap(({ path, missing }) =>
      missing.map((gone) => ({
        code: 'broken-hook',
        level: 'warning' as const,
        path,
        message: `${path}: what ${agent} calls starts ${gone}, which is not there; handover hooks install --agent ${agent}`,
        remedy: null,
      })),
    ),
  );
}
