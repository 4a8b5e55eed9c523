import type { Action, Event } from '../../model/event.ts';

/** Takes a call whose result has come out of those that wait for one; undefined for a call that is not known. */
export function takeCall<Call>(open: Map<string, Call>, id: string): Call | undefined {
  const call = open.get(id);
  open.delete(id);
  return call;
}

type CallEvent = Extract<Event, { type: 'call' }>;

type Entry = { event: Event; waits: boolean };

/** Results come within a few rows: a call without one after so many events gets none. */
const MAX_HELD = 256;

/** Saved between readings. The entries that wait are in both. */
export interface PendingState {
  entries: Entry[];
  waiting: Map<string, Entry & { event: CallEvent }>;
}

export function startPending(): PendingState {
  return { entries: [], waiting: new Map() };
}

/** Holds events back, in order, while a call before them waits for the result that says what it did. */
export class PendingEvents {
  readonly #held: PendingState;

  constructor(held: PendingState) {
    this.#held = held;
  }

  add(event: Event): void {
    this.#held.entries.push({ event, waits: false });
  }

  addWaiting(event: CallEvent): void {
    const entry = { event, waits: true };
    this.#held.entries.push(entry);
    this.#held.waiting.set(event.call, entry);
  }

  /** The result of a call has come. */
  settle(call: string, refine: (action: Action) => Action): void {
    const entry = this.#held.waiting.get(call);
    if (entry === undefined) return;
    this.#held.waiting.delete(call);
    entry.event = { ...entry.event, action: refine(entry.event.action) };
    entry.waits = false;
  }

  /** Stops waiting: the agent was stopped, or got a new prompt. */
  release(): void {
    for (const entry of this.#held.waiting.values()) entry.waits = false;
    this.#held.waiting.clear();
  }

  take(): Event[] {
    if (this.#held.entries.length === 0) return [];
    if (this.#held.entries.length > MAX_HELD) this.release();
    const first = this.#held.entries.findIndex((entry) => entry.waits);
    const ready = this.#held.entries.splice(0, first === -1 ? this.#held.entries.length : first);
    return ready.map((entry) => entry.event);
  }
}
