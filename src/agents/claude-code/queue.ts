import type { Stamp } from '../shared/make-events.ts';
import { readHumanText } from './prompts.ts';

/** A prompt that was typed while the agent worked. */
export interface QueuedPrompt {
  text: string;
  stamp: Stamp;
}

interface Entry {
  /** As it was typed, to know it again. */
  typed: string;
  /** Null for what is not the human's: notifications wait in the same queue. */
  prompt: QueuedPrompt | null;
  /** Another row has told it already. */
  told: boolean;
}

export interface Queued {
  waiting: Entry[];
  /** What was told on being taken out, until it is certain that no row of its own follows. */
  delivered: string[];
}

export function queueNothing(): Queued {
  return { waiting: [], delivered: [] };
}

const MAX_WAITING = 1000;
const MAX_DELIVERED = 20;
const TASK_RECORD = /^\{"task_id":/;
const BARE_COMMAND = /^\/[\w:.-]+$/;

/**
 * Prompts that wait for the agent. One that the agent takes between two turns becomes a row of its own, and so does, in
 * newer versions, one that it takes in the midst of its work. Older versions keep the latter only as a pair of queue
 * rows: put in, taken out.
 */
export class PromptQueue {
  readonly #queued: Queued;

  constructor(queued: Queued) {
    this.#queued = queued;
  }

  enter(typed: string, stamp: Stamp): void {
    if (TASK_RECORD.test(typed)) return;
    const text = BARE_COMMAND.test(typed.trim()) ? null : readHumanText(typed);
    this.#queued.waiting.push({
      typed: typed.trim(),
      prompt: text === null ? null : { text, stamp },
      told: false,
    });
    if (this.#queued.waiting.length > MAX_WAITING) this.#queued.waiting.shift();
  }

  /** Taken out in the midst of work: the prompt, unless it was told already. */
  deliver(typed: string | null): QueuedPrompt | null {
    const entry = this.#take(typed);
    if (entry === null || entry.told || entry.prompt === null) return null;
    this.#queued.delivered.push(entry.typed);
    if (this.#queued.delivered.length > MAX_DELIVERED) this.#queued.delivered.shift();
    return entry.prompt;
  }

  /** Taken out between two turns: a row of its own follows. */
  leave(typed: string | null): void {
    this.#take(typed);
  }

  /** Taken back by the human. */
  clear(): void {
    this.#queued.waiting = [];
  }

  /** A prompt has come in a row of its own. True when it was told before. */
  meet(typed: string): boolean {
    const text = typed.trim();
    const known = this.#queued.delivered.indexOf(text);
    this.#queued.delivered = known === -1 ? [] : this.#queued.delivered.toSpliced(known, 1);
    const entry = this.#queued.waiting.find((candidate) => !candidate.told && candidate.typed === text);
    if (entry !== undefined) entry.told = true;
    return known !== -1;
  }

  /** What still waits at the end: said, but never taken up. */
  listWaiting(): QueuedPrompt[] {
    return this.#queued.waiting.flatMap(({ prompt, told }) => (told || prompt === null ? [] : [prompt]));
  }

  #take(typed: string | null): Entry | null {
    const text = typed?.trim();
    const index = text === undefined ? 0 : this.#queued.waiting.findIndex((entry) => entry.typed === text);
    return index === -1 ? null : (this.#queued.waiting.splice(index, 1)[0] ?? null);
  }
}
