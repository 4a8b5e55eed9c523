import type { Action, Event } from '../../model/event.ts';

/** Removes and returns the open call that a result belongs to; undefined for an unknown call. */
export function takeCall<Call>(open: Map<string, Call>, id: string): Call | undefined {
  const call = open.get(id);
  open.delete(id);
  return call;
}

type CallEvent = Extract<Event, { type: 'call' }>;

type Entry = { event: Event; waits: boolean };

/** Results come within a few rows: after so many events a call no longer waits for one. */
const MAX_PENDING = 256;

/** Saved in the transcript checkpoint. Waiting entries are in both fields. */
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

  /** Completes a call by its result, or drops it if `refine` returns null. */
  settle(call: string, refine: (action: Action) => Action | null): void {
    const entry = this.#state.waiting.get(call);
    if (entry === undefined) return;
    this.#state.waiting.delete(call);
    entry.waits = false;
    const action = refine(entry.event.action);
    if (action !== null) entry.event = { ...entry.event, action };
    else this.#state.entries.splice(this.#state.entries.indexOf(entry), 1);
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
