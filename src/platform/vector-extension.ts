import { createRequire } from 'node:module';
import type { SqlDatabase } from './sql.ts';

/**
 * Loads sqlite-vec into a database that allows extensions. False where it was left out of the install, has no binary for
 * this platform, or the driver loads none.
 */
export function loadVectorExtension(database: SqlDatabase): boolean {
  if (database.loadExtension === undefined) return false;
  try {
    const module: unknown = createRequire(import.meta.url)('sqlite-vec');
    if (!hasLoadablePath(module)) return false;
    database.enableLoadExtension?.(true);
    database.loadExtension(module.getLoadablePath());
    database.enableLoadExtension?.(false);
    database.prepare('SELECT vec_version() AS version').get();
    return true;
  } catch (error) {
    // The resolver, the package, the driver and the system's loader each say it in their own way.
    if (error instanceof Error) return false;
    throw error;
  }
}

function hasLoadablePath(module: unknown): module is { getLoadablePath(): string } {
  return (
    typeof module === 'object' &&
    module !== null &&
    'getLoadablePath' in module &&
    typeof module.getLoadablePath === 'function'
  );
}
