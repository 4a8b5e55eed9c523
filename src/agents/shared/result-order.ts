import { splitCommands } from '../../distill/command-line.ts';
import type { Event } from '../../model/event.ts';

type ResultEvent = Extract<Event, { type: 'result' }>;

/** Saved in the transcript checkpoint. */
export interface OrderState {
  /** The ids of the last calls, with or without a result. */
  calls: Set<string>;
  /** Results whose call has not come yet. */
  early: Map<string, ResultEvent>;
  /** Null where each row names the branch that it was written on. */
  branch: BranchState | null;
}

/** How many of the last calls are remembered. */
const MAX_CALLS = 1000;
const MAX_EARLY = 64;

export function startOrder(recordsBranch = false): OrderState {
  const branch = recordsBranch ? null : { recorded: null, current: null, asked: new Set<string>() };
  return { calls: new Set(), early: new Map(), branch };
}

/** Puts results behind their calls, which some transcripts record in reverse; a result without a call is emitted later. Follows the branch. */
export class ResultOrder {
  readonly #state: OrderState;

  constructor(state: OrderState) {
    this.#state = state;
  }

  *sort(events: Iterable<Event>): Generator<Event> {
    const { branch } = this.#state;
    for (const event of events) {
      for (const placed of this.#place(event)) yield branch === null ? placed : followBranch(branch, placed);
    }
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
export function* sortResults(events: Iterable<Event>, recordsBranch = false): Generator<Event> {
  const order = new ResultOrder(startOrder(recordsBranch));
  yield* order.sort(events);
  yield* order.finish();
}

/** The branch that the rows name, the one that git named since, and calls that ask git. Saved in the transcript checkpoint. */
interface BranchState {
  recorded: string | null;
  current: string | null;
  asked: Set<string>;
}

/** The event, on the branch that git named last: many agents only record where a session began. */
function followBranch(state: BranchState, event: Event): Event {
  if (event.sidechain === true) return event;
  if (event.branch !== undefined && event.branch !== state.recorded) {
    state.recorded = event.branch;
    state.current = null;
  }
  if (event.type === 'call' && asksBranch(event)) state.asked.add(event.call);
  if (event.type === 'result' && event.running !== true && state.asked.delete(event.call) && event.ok !== false)
    state.current = findBranch(event.output) ?? state.current;
  return state.current === null ? event : { ...event, branch: state.current };
}

const ELSEWHERE = /^(?:-C|--(?:git-dir|work-tree)\b.*|GIT_(?:DIR|WORK_TREE)=.*)$/;
const MOVING = /^(?:cd|pushd|Set-Location)$/i;

/** Whether a call is a command of git that prints the branch, in the folder of the session and in no other. */
function asksBranch({ action, cwd }: Extract<Event, { type: 'call' }>): boolean {
  if (action.kind !== 'command' || action.folder !== undefined || !action.command.includes('git ')) return false;
  const parts = splitCommands(action.command).map(({ words }) => words);
  const isElsewhere = (words: readonly string[]): boolean =>
    words.some((word) => ELSEWHERE.test(word) || (MOVING.test(word) && words[1] !== cwd));
  return (
    parts.some(([git, verb]) => git === 'git' && /^(?:checkout|switch|status)$/.test(verb ?? '')) &&
    !parts.some(isElsewhere)
  );
}

/** The branch in the output of git. A branch without an upstream is only recognised in the first line. */
const BRANCH =
  /^(?:Switched to (?:a new |and reset )?branch '([^'\n]{1,200})'|Already on '([^'\n]{1,200})'|On branch (\S{1,200})|## ([^\s.]\S{0,199}?)\.\.\.\S.{0,300})\r?$/gm;
const ALONE = /^## (\S{1,200})\r?(?:\n|$)/;

function findBranch(output: string): string | null {
  const [, ...names] = [...output.matchAll(BRANCH)].at(-1) ?? ALONE.exec(output) ?? [];
  return names.find((name) => name !== undefined) ?? null;
}
