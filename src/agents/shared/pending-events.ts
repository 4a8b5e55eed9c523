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
const MAX_PENDING = 256;

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
  readonly #state: PendingState;

  constructor(state: PendingState) {
    this.#state = state;
  }

  add(event: Event): void {
    this.#state.entries.push({ event, waits: false });
  }

  addWaiting(event: CallEvent): void {
    const entry = { event, waits: true };
    this.#state.entries.push(entry);
    this.#state.waiting.set(event.call, entry);
  }

  /** The result of a call has come. */
  settle(call: string, refine: (action: Action) => Action): void {
    const entry = this.#state.waiting.get(call);
    if (entry === undefined) return;
    this.#state.waiting.delete(call);
    entry.event = { ...entry.event, action: refine(entry.event.action) };
    entry.waits = false;
  }

  /** Stops waiting: the agent was stopped, or got a new prompt. */
  release(): void {
    for (const entry of this.#state.waiting.values()) entry.waits = false;
    this.#state.waiting.clear();
  }

  take(): Event[] {
    if (this.#state.entries.length === 0) return [];
    if (this.#state.entries.length > MAX_PENDING) this.release();
    const first = this.#state.entries.findIndex((entry) => entry.waits);
    const ready = this.#state.entries.splice(0, first === -1 ? this.#state.entries.length : first);
    return ready.map((entry) => entry.event);
  }
}
