import { isAbsolute, join, resolve } from 'node:path';
import type { Machine } from './machine.ts';

export const FOLDER_NAME = 'agent-handover';

/** Where programs of ours are kept as they were compiled, below the folder of handovers. */
export const CODE_FOLDER = ['ready', 'code'] as const;

type Surroundings = Pick<Machine, 'env' | 'platform' | 'home' | 'cwd'>;

/** Where handovers are kept, as the environment names it. Null where there is no home. */
export function nameDataFolder({ env, platform, home, cwd }: Surroundings): string | null {
  if (env.HANDOVER_HOME) return resolve(cwd, env.HANDOVER_HOME);
  const parent = nameParent({ env, platform, home });
  return parent === null ? null : join(parent, FOLDER_NAME);
}

function nameParent({ env, platform, home }: Omit<Surroundings, 'cwd'>): string | null {
  const below = (...parts: string[]): string | null => (home === undefined ? null : join(home, ...parts));
  if (platform === 'darwin') return below('Library', 'Application Support');
  if (platform === 'win32') return env.LOCALAPPDATA ?? below('AppData', 'Local');
  return isAbsolutePath(env.XDG_DATA_HOME) ? env.XDG_DATA_HOME : below('.local', 'share');
}

/** The XDG rules: a relative path in a variable is to be ignored. */
export function isAbsolutePath(value: string | undefined): value is string {
  return value !== undefined && isAbsolute(value);
}
