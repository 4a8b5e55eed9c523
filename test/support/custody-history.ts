import { isDeepStrictEqual } from 'node:util';
import type { Custody, Register } from '../../src/exchange/remote/register.ts';

interface Timed {
  task: string;
  worker: string;
  /** On one clock for all workers, which never stands still. */
  called: number;
  /** Null for one that never heard the answer: it was killed, or the answer was lost. */
  returned: number | null;
}

/** One call of a register, as the one who made it saw it. */
export type Call = Timed &
  (
    | { kind: 'read'; found: Custody | null }
    | { kind: 'append'; custody: Custody; outcome: 'appended' | 'refused' | 'unknown' }
  );

interface Recording {
  worker: string;
  /** Gives a greater number each time. */
  tick: () => number;
  /** An append is noted twice: as one without an answer before it is made, and with what came of it. */
  note: (call: Call) => void;
}

/** Notes every call of a register with what came of it. */
export function recordCalls(register: Register, { worker, tick, note }: Recording): Register {
  return {
    now: () => register.now(),
    read: async (task) => {
      const called = tick();
      const found = await register.read(task);
      note({ kind: 'read', task, worker, called, returned: tick(), found });
      return found;
    },
    append: async (custody) => {
      const { task } = custody;
      const called = tick();
      note({ kind: 'append', task, worker, called, returned: null, custody, outcome: 'unknown' });
      const isAppended = await register.append(custody);
      const outcome = isAppended ? 'appended' : 'refused';
      note({ kind: 'append', task, worker, called, returned: tick(), custody, outcome });
      return isAppended;
    },
    listOpen: async (filter, limit) => {
      const called = tick();
      const open = await register.listOpen(filter, limit);
      const returned = tick();
      for (const found of open) note({ kind: 'read', task: found.task, worker, called, returned, found });
      return open;
    },
    ...(register.takeNext === undefined ? {} : { takeNext: recordTakeNext(register, { worker, tick, note }) }),
  };
}

function recordTakeNext(register: Register, { worker, tick, note }: Recording): NonNullable<Register['takeNext']> {
  return async (filter, next) => {
    const called = tick();
    const custody = (await register.takeNext?.(filter, next)) ?? null;
    if (custody !== null)
      note({ kind: 'append', task: custody.task, worker, called, returned: tick(), custody, outcome: 'appended' });
    return custody;
  };
}

type Append = Extract<Call, { kind: 'append' }>;

/** The states of one task as they must have followed each other, each with when it was written. */
type Line = { custody: Custody; worker: string; called: number; returned: number }[];

/**
 * Judges a history: no message means that the register was linearizable, and that its states follow the rules of custody.
 *
 * Tasks are independent, so each is judged alone. In a register of numbered states the order of successful appends is
 * forced by their numbers, and a read of number n belongs between the appends of n and n + 1. So the history is
 * linearizable exactly if this order never runs against real time: whatever returned before another was called has no
 * higher place. A call without an answer may have had its effect at any time after it was called, or never.
 */
export function judgeHistory(calls: readonly Call[], { graceMs }: { graceMs: number }): string[] {
  // What came of an append is noted after that it was made.
  const last = new Map(calls.map((call) => [`${call.kind} ${call.task} ${call.worker} ${call.called}`, call]));
  const byTask = new Map<string, Call[]>();
  for (const call of last.values()) byTask.set(call.task, [...(byTask.get(call.task) ?? []), call]);
  return [...byTask].flatMap(([task, ofTask]) => {
    const { line, wrong } = findLine(ofTask);
    const all = [...wrong, ...judgeOrder(ofTask, line), ...judgeRules(line, graceMs)];
    return all.map((message) => `${task}: ${message}`);
  });
}

/** The states in the order of their numbers, each with the append that must have written it. */
export function findLine(calls: readonly Call[]): { line: Line; wrong: string[] } {
  const appends = calls.filter((call): call is Append => call.kind === 'append');
  const seen = new Map(
    calls.flatMap((call) => (call.kind === 'read' && call.found !== null ? [[call.found.number, call.found]] : [])),
  );
  const written = appends.filter(({ outcome }) => outcome === 'appended').map(({ custody }) => custody.number);
  const newest = Math.max(0, ...written, ...seen.keys());
  const line: Line = [];
  const wrong: string[] = [];
  for (let number = 1; ; number++) {
    const ofNumber = appends.filter(({ custody, outcome }) => custody.number === number && outcome !== 'refused');
    const sure = ofNumber.filter(({ outcome }) => outcome === 'appended');
    if (sure.length > 1) wrong.push(`number ${number} was appended ${sure.length} times`);
    const state = seen.get(number);
    const unsure = ofNumber.filter(({ custody }) => state === undefined || isDeepStrictEqual(custody, state));
    const chosen = sure[0] ?? unsure.sort((a, b) => a.called - b.called)[0];
    // One without an answer beyond the newest may have had its effect: it is in nobody's way.
    if (chosen === undefined && number > newest) break;
    if (chosen === undefined) {
      wrong.push(`number ${number} was never appended`);
      continue;
    }
    const { custody, worker, called, returned } = chosen;
    line.push({ custody, worker, called, returned: returned ?? Number.POSITIVE_INFINITY });
  }
  for (const { kind, ...call } of calls) {
    const found = kind === 'read' && 'found' in call ? call.found : null;
    const wrote = line.find(({ custody }) => custody.number === found?.number)?.custody;
    if (found !== null && wrote !== undefined && !isDeepStrictEqual(found, wrote))
      wrong.push(`number ${found.number} was read with other content than was appended`);
  }
  return { line, wrong };
}

interface Placed {
  what: string;
  /** Twice the number for an append, one more for a read of it. */
  place: number;
  called: number;
  returned: number;
}

/** Whatever returned before another was called must not have a higher place. */
function judgeOrder(calls: readonly Call[], line: Line): string[] {
  const placed: Placed[] = line.map(({ custody: { number }, called, returned }) => ({
    ...{ what: `append of ${number}`, place: 2 * number, called, returned },
  }));
  for (const call of calls) {
    const { called, returned } = call;
    if (returned === null || call.kind !== 'read') continue;
    const number = call.found?.number ?? 0;
    placed.push({ what: `read of ${number}`, place: 2 * number + 1, called, returned });
  }
  const wrong = placeRefusals(calls, placed, line.length);
  return [...wrong, ...judgePlaces(placed)];
}

/**
 * An append of n that was refused saw another newest number than n - 1. Each gets the lowest place that it can have after all
 * that ended before it: if the history can be put in order at all, then with these.
 */
function placeRefusals(calls: readonly Call[], placed: Placed[], newest: number): string[] {
  const refused = calls.filter((call): call is Append => call.kind === 'append' && call.outcome === 'refused');
  return refused
    .sort((a, b) => a.called - b.called)
    .flatMap(({ custody: { number }, called, returned }) => {
      const floor = Math.max(1, ...placed.filter((one) => one.returned < called).map(({ place }) => place));
      const lowest = Math.ceil((floor - 1) / 2);
      const seen = lowest === number - 1 ? number : lowest;
      const what = `refused append of ${number}`;
      if (seen > newest) return [`${what}, though nobody else had appended it`];
      placed.push({ what, place: 2 * seen + 1, called, returned: returned ?? Number.POSITIVE_INFINITY });
      return [];
    });
}

function judgePlaces(placed: readonly Placed[]): string[] {
  const byCall = [...placed].sort((a, b) => a.called - b.called);
  const byReturn = [...placed].sort((a, b) => a.returned - b.returned);
  let highest: Placed | undefined;
  let ended = 0;
  return byCall.flatMap((call) => {
    for (let next = byReturn[ended]; next !== undefined && next.returned < call.called; next = byReturn[++ended])
      if (highest === undefined || next.place > highest.place) highest = next;
    return highest !== undefined && highest.place > call.place
      ? [`${call.what} began after ${highest.what} had ended`]
      : [];
  });
}

/** The rules of custody, state by state: never a second holder before the first one's lease and its grace are over. */
function judgeRules(line: Line, graceMs: number): string[] {
  return line.flatMap(({ custody, worker }, index) => {
    const before = line[index - 1];
    const { number, state, at } = custody;
    if (before === undefined) return state === 'offered' || state === 'held' ? [] : [`${state} came first`];
    if (before.custody.state === 'done') return [`${state} (${number}) came after it was done`];
    const isHeld = before.custody.state === 'held';
    const isOver = Date.parse(at) > Date.parse(before.custody.until ?? '') + graceMs;
    if (isHeld && !isOver && before.worker !== worker)
      return [`${state} (${number}) by ${worker} while ${before.worker} held it until ${before.custody.until}`];
    const isEnd = state === 'released' || state === 'done';
    return isEnd && (!isHeld || before.worker !== worker)
      ? [`${state} (${number}) by ${worker}, who did not hold it`]
      : [];
  });
}
