import { resolve } from 'node:path';
import { describeMachine, type Machine } from '../platform/machine.ts';
import { type Compaction, type CompactOptions, compactMemory } from './compact.ts';
import { PLACE_OF_STATE, parseMonth, pathOf } from './layout.ts';
import { countNotes, type Memory, readLatestNote, readState } from './read-memory.ts';
import { addNote, assertLayer, placeOfNewNote, replaceState } from './write-memory.ts';

export interface WriteOptions {
  /** Of layers 1 and 3; `general` if left out. */
  tag?: string;
  /** `YYYY-MM-DD`; today, in UTC, if left out. */
  date?: string;
  /** Only say where it would go. */
  dryRun?: boolean;
  /** What was written under this name before is not written again. */
  effect?: string;
}

/** A memory in three layers, as the original tool's store had it. Nothing that was written is ever overwritten without being kept. */
export class MemoryStore {
  readonly #memory: Memory;

  constructor(folder: string, machine: Machine = describeMachine()) {
    this.#memory = { root: resolve(machine.cwd, folder), machine };
  }

  /** Writes to a layer, and returns the file's path: 1 adds a note, 2 replaces the state, 3 adds to an archive. */
  write(layer: number, text: string, options: WriteOptions = {}): string {
    const { dryRun = false, ...rest } = options;
    const known = assertLayer(layer);
    if (known === 2) {
      const { tag: _, ...state } = rest;
      if (dryRun) return pathOf(this.#memory.root, PLACE_OF_STATE);
      return replaceState(this.#memory, { text, ...state }).path;
    }
    if (dryRun) return placeOfNewNote(this.#memory, known, rest);
    return addNote(this.#memory, known, { text, ...rest }).path;
  }

  /** The text of the state, or of the latest note of a layer; empty where there is none. */
  readLatest(layer: number, tag?: string): string {
    const known = assertLayer(layer);
    const note = known === 2 ? readState(this.#memory) : readLatestNote(this.#memory, known, tag);
    return note?.text ?? '';
  }

  /** How many notes layer 1 has, or had in one month. */
  countNotes(month?: string): number {
    return countNotes(this.#memory, month === undefined ? undefined : parseMonth(month));
  }

  compact(options: CompactOptions = {}): Compaction[] {
    return compactMemory(this.#memory, options);
  }
}
