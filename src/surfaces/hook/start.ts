import { join } from 'node:path';
import { nameDataFolder } from '../../platform/data-folder.ts';
import { openKeptProgram } from '../../platform/kept-code.ts';

/**
 * Loads the entry of the hooks, with what is kept of it in the store for this event, and lets it begin. `bin` is the folder
 * of `hook.cjs`.
 */
export function start(bin: string): void {
  const { env, platform, version, arch } = process;
  const [agent = '', event = ''] = process.argv.slice(2);
  const home = env.HOME ?? env.USERPROFILE;
  const store = nameDataFolder({ env, platform, home, cwd: '/' }) ?? '/';
  const name = `${agent}-${event}-${version}-${arch}`.replace(/[^\w.-]/g, '_').slice(0, 100);
  const program = openKeptProgram(
    join(bin, '..', 'dist', 'hook', 'main.cjs'),
    join(store, 'ready', 'code', name),
  );
  const { main } = program.exports;
  if (typeof main === 'function') Reflect.apply(main, undefined, [bin, program]);
}
