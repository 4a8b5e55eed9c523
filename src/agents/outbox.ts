import type { Action, Event } from '../model/event.ts';

type CallEvent = Extract<Event, { type: 'call' }>;

interface Entry {
  event: Event;
  waits: boolean;
}

/** Results come within a few rows. A call that has had none after so many events will get none. */
const MAX_HELD = 256;

/** Holds events back, in their order, while one before them waits for its result to say what it did. */
export class Outbox {
  #entries: Entry[] = [];
  readonly #waiting = new Map<string, Entry & { event: CallEvent }>();

  add(event: Event): void {
    this.#entries.push({ event, waits: false });
  }

  addWaiting(event: CallEvent): void {
    const entry = { event, waits: true };
    this.#entries.push(entry);
    this.#waiting.set(event.call, entry);
  }

  /** The result of a call is there. */
  settle(call: string, refine: (action: Action) => Action): void {
    const entry = this.#waiting.get(call);
    if (entry === undefined) return;
    this.#waiting.delete(call);
    entry.event = { ...entry.event, action: refine(entry.event.action) };
    entry.waits = false;
  }

  /** Nothing that is held waits any longer: the agent has been stopped, or told something new. */
  release(): void {
    for (const entry of this.#waiting.values()) entry.waits = false;
    this.#waiting.clear();
  }

  take(): Event[] {
    if (this.#entries.length === 0) return [];
    if (this.#entries.length > MAX_HELD) this.release();
    const first = this.#entries.findIndex((entry) => entry.waits);
    const ready = first === -1 ? this.#entries : this.#entries.slice(0, first);
    this.#entries = first === -1 ? [] : this.#entries.slice(first);
    return ready.map((entry) => entry.event);
  }
}
