import type { Event } from '../../model/event.ts';

type ResultEvent = Extract<Event, { type: 'result' }>;

/** Saved between readings. */
export interface OrderState {
  /** The ids of the last calls, with or without a result. */
  calls: Set<string>;
  /** Results whose call has not come yet. */
  early: Map<string, ResultEvent>;
}

/** Of so many calls it is known that they came. */
const MAX_CALLS = 1000;
const MAX_EARLY = 64;

export function startOrder(): OrderState {
  return { calls: new Set(), early: new Map() };
}

/** Some transcripts have the result of a call before the call. Puts each behind its call; one without a call comes later. */
export class ResultOrder {
  readonly #state: OrderState;

  constructor(state: OrderState) {
    this.#state = state;
  }

  *sort(events: Iterable<Event>): Generator<Event> {
    for (const event of events) yield* this.#place(event);
  }

  /** Results whose call never came. */
  *finish(): Generator<Event> {
    yield* this.#state.early.values();
    this.#state.early.clear();
  }

  *#place(event: Event): Generator<Event> {
    const { calls, early } = this.#state;
    if (event.type === 'result' && !calls.has(event.call) && !early.has(event.call)) {
      early.set(event.call, event);
      yield* this.#dropOldest();
      return;
    }
    yield event;
    if (event.type !== 'call') return;
    calls.add(event.call);
    if (calls.size > MAX_CALLS) for (const oldest of calls) if (calls.delete(oldest)) break;
    const result = early.get(event.call);
    early.delete(event.call);
    if (result !== undefined) yield result;
  }

  *#dropOldest(): Generator<Event> {
    const { early } = this.#state;
    const [oldest] = early;
    if (early.size <= MAX_EARLY || oldest === undefined) return;
    early.delete(oldest[0]);
    yield oldest[1];
  }
}

/** The same for a transcript that is read as a whole. */
export function* sortResults(events: Iterable<Event>): Generator<Event> {
  const order = new ResultOrder(startOrder());
  yield* order.sort(events);
  yield* order.finish();
}
