import { isAbsolute, join, resolve } from 'node:path';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';

/** Releases of other channels than the stable one have a database of their own. */
const DATABASE_NAME = /^opencode(?:-[\w.-]+)?\.db$/;

export function findDatabases(machine: Machine): string[] {
  const { OPENCODE_DB: named } = machine.env;
  const data = findDataFolder(machine);
  if (named !== undefined && named !== '') {
    if (isAbsolute(named)) return [named];
    return data === null ? [] : [join(data, named)];
  }
  if (data === null) return [];
  return listNames(data)
    .filter((name) => DATABASE_NAME.test(name))
    .map((name) => join(data, name));
}

/** OpenCode follows the XDG rules on all platforms. */
function findDataFolder({ env, home }: Machine): string | null {
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, 'opencode');
  return home === undefined ? null : join(home, '.local', 'share', 'opencode');
}

export function findConfigFolder({ env, home, cwd }: Machine): string | null {
  if (env.XDG_CONFIG_HOME) return join(resolve(cwd, env.XDG_CONFIG_HOME), 'opencode');
  return home === undefined ? null : join(home, '.config', 'opencode');
}
