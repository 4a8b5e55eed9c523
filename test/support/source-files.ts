import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Files below a folder with one of these endings, as paths with forward slashes from the project's root. */
export function listFiles(folder: string, ...endings: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => join(folder, name).replaceAll('\\', '/'))
    .sort();
}
