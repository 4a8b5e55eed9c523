import { resolve } from 'node:path';
import { resolveRealPath } from '../platform/folders.ts';
import { describeMachine, type Machine } from '../platform/machine.ts';
import { type Compaction, type CompactOptions, compactMemory } from './compact.ts';
import { PLACE_OF_STATE, parseMonth, pathOf } from './layout.ts';
import { countNotes, type Memory, readLatestNote, readState } from './read-memory.ts';
import { addNote, assertLayer, placeOfNewNote, replaceState } from './write-memory.ts';

export interface WriteOptions {
  /** For layers 1 and 3; `general` if left out. */
  tag?: string;
  /** `YYYY-MM-DD`; today, in UTC, if left out. */
  date?: string;
  /** Return the path without writing. */
  dryRun?: boolean;
  /** Idempotency key: a second write with the same one does nothing. */
  effect?: string;
}

/** A memory in three layers, with the interface of the original tool. What is replaced is always backed up. */
export class MemoryStore {
  readonly #memory: Memory;

  constructor(folder: string, machine: Machine = describeMachine()) {
    const path = resolve(machine.cwd, folder);
    this.#memory = { root: resolveRealPath(path) ?? path, machine };
  }

  /** Returns the file's path. Layer 1 adds a note, 2 replaces the state, 3 adds to an archive. */
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

  /** The state, or the latest note of a layer; empty when there is none. */
  readLatest(layer: number, tag?: string): string {
    const known = assertLayer(layer);
    const note = known === 2 ? readState(this.#memory) : readLatestNote(this.#memory, known, tag);
    return note?.text ?? '';
  }

  /** The number of notes in layer 1, or in one month of it. */
  countNotes(month?: string): number {
    return countNotes(this.#memory, month === undefined ? undefined : parseMonth(month));
  }

  compact(options: CompactOptions = {}): Compaction[] {
    return compactMemory(this.#memory, options);
  }
}
