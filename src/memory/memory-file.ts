import type { Machine } from '../platform/machine.ts';
import { readProjectFile } from '../platform/project-file.ts';

/** A folder of notes in three layers, plain Markdown that people, agents and git read and write as well. */
export interface Memory {
  root: string;
  machine: Machine;
}

/** No file of a memory is nearly as large; a larger one is not ours to load. */
export const MAX_MEMORY_BYTES: number = 32 * 1024 * 1024;

/** Null when there is no such file. */
export function readText(path: string): string | null {
  return readProjectFile(path, MAX_MEMORY_BYTES)?.toString('utf8') ?? null;
}
