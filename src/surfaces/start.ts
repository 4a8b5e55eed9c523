import { isAbsolute, join } from 'node:path';
import { type CachedProgram, openCachedProgram, optimizeLater } from '../platform/code-cache.ts';
import { CODE_FOLDER, nameDataFolder } from '../platform/paths.ts';
import { BUILD } from '../version.ts';

/* Each loads its program with its cached code and runs it. `bin` is the folder of the caller. */

export function startHook(bin: string): void {
  const [agent = '', event = ''] = process.argv.slice(2);
  begin('main', openProgram(join(bin, '..', 'dist', 'hook'), `${agent}-${event}`), bin);
}

export function startWorker(bin: string): void {
  optimizeLater();
  begin('work', openCommands(bin, '--work'), bin);
}

export function startCommand(bin: string): void {
  if (/^(?:backfill|capture)$/.test(process.argv[2] ?? '')) optimizeLater();
  begin('main', openCommands(bin, process.argv[2] ?? ''), bin);
}

/** Each command has a cache file of its own: code that only others need would have to be read. */
function openCommands(bin: string, command: string): CachedProgram {
  return openProgram(join(bin, '..', 'dist', 'cli'), command);
}

function openProgram(folder: string, name: string): CachedProgram {
  return openCachedProgram(join(folder, 'main.cjs'), { path: locateCache(name), build: BUILD });
}

/** Null where Node's own variable disables caching, or the store's path is relative to the current folder. */
function locateCache(name: string): string | null {
  const { env, platform, version, arch } = process;
  const { HANDOVER_HOME: store = '/', NODE_DISABLE_COMPILE_CACHE: disabled } = env;
  const root = nameDataFolder({ env, platform, home: env.HOME ?? env.USERPROFILE, cwd: '/' });
  if (disabled || root === null || !isAbsolute(store)) return null;
  const file = `${name}-${version}-${arch}`.replace(/[^\w.-]/g, '_').slice(0, 100);
  return join(root, ...CODE_FOLDER, file);
}

function begin(entry: 'main' | 'work', program: CachedProgram, bin: string): void {
  const run = program.exports[entry];
  if (typeof run === 'function') Reflect.apply(run, undefined, [program, bin]);
}
