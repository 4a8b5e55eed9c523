import { compareCodeUnits } from '../../model/hash.ts';
import { quoteForShell } from '../../model/text.ts';
import { DAY_MS } from '../../model/time.ts';
import type { FoundAgain } from './find-again.ts';
import type { Debt } from './gather.ts';

/** A median with its 95 % interval, which is null where there are too few numbers for one. */
export interface Median {
  median: number;
  low: number | null;
  high: number | null;
}

/** Successors that got the same, and what is usual among them. Before the first edit: only of those that edited something. */
export interface Side {
  successors: number;
  /** False when there are too few for a conclusion. */
  enough: boolean;
  /** How many of them found anything out again. */
  with_debt: number;
  found_again: Median | null;
  calls: Median | null;
  tokens: Median | null;
  minutes: Median | null;
}

export const ENOUGH = 10;

function describeSide(debts: readonly Debt[]): Side {
  const edits = debts.flatMap(({ first_edit }) => first_edit ?? []);
  return {
    successors: debts.length,
    enough: debts.length >= ENOUGH,
    with_debt: debts.filter(({ found }) => found.length > 0).length,
    found_again: findMedian(debts.map(({ found }) => found.length)),
    calls: findMedian(edits.map(({ calls }) => calls)),
    tokens: findMedian(edits.flatMap(({ tokens }) => tokens ?? [])),
    minutes: findMedian(edits.map(({ minutes }) => minutes)),
  };
}

/** Successors that got a brief, and those that got only a hint or nothing. */
export function splitSides(debts: readonly Debt[]): { brief: Side; other: Side } {
  return {
    brief: describeSide(debts.filter(({ given }) => given === 'brief')),
    other: describeSide(debts.filter(({ given }) => given !== 'brief')),
  };
}

/** The debt in a line; null without a successor. */
export function summariseDebt(debts: readonly Debt[]): string | null {
  const { brief, other } = splitSides(debts);
  if (debts.length === 0) return null;
  const describe = ({ with_debt, successors, calls }: Side, which: string): string =>
    `${with_debt} of ${successors} ${which}${calls === null ? '' : ` (${calls.median} calls before the first edit)`}`;
  const few = brief.enough && other.enough ? '' : ': too few to tell';
  return `found something out again: ${describe(brief, 'with a brief')}, ${describe(other, 'without')}${few}`;
}

/**
 * The interval is that between two of the numbers themselves, chosen so that in 95 of 100 samples it holds the median of
 * whatever they were drawn from. It assumes nothing of how they are spread, and is the same each time.
 */
export function findMedian(numbers: readonly number[]): Median | null {
  const sorted = [...numbers].sort((a, b) => a - b);
  const count = sorted.length;
  const [lower, upper] = [sorted[Math.floor((count - 1) / 2)], sorted[Math.floor(count / 2)]];
  if (lower === undefined || upper === undefined) return null;
  const rank = findRank(count);
  return {
    median: (lower + upper) / 2,
    low: rank === 0 ? null : (sorted[rank - 1] ?? null),
    high: rank === 0 ? null : (sorted[count - rank] ?? null),
  };
}

const TAIL = 0.025;

/** The largest rank whose binomial tail stays below `TAIL`. Uses logarithms, as powers of two get too small. */
function findRank(count: number): number {
  let share = 0;
  let chance = -count * Math.LN2;
  for (let rank = 0; rank < count; rank++) {
    share += Math.exp(chance);
    if (share > TAIL) return rank;
    chance += Math.log((count - rank) / (rank + 1));
  }
  return 0;
}

/** What was usual in the week that began on this Monday, in UTC. */
export interface Week {
  week: string;
  successors: number;
  with_brief: number;
  found_again: Median | null;
  calls: Median | null;
}

/** The newest first. */
export function listWeeks(debts: readonly Debt[]): Week[] {
  const weeks = new Map<string, Debt[]>();
  for (const debt of debts) {
    const week = findMonday(debt.at);
    weeks.set(week, [...(weeks.get(week) ?? []), debt]);
  }
  return [...weeks]
    .sort(([a], [b]) => compareCodeUnits(b, a))
    .map(([week, members]) => {
      const { successors, found_again, calls } = describeSide(members);
      return {
        week,
        successors,
        with_brief: members.filter(({ given }) => given === 'brief').length,
        found_again,
        calls,
      };
    });
}

function findMonday(at: string): string {
  const ms = Date.parse(at);
  const sinceMonday = (new Date(ms).getUTCDay() + 6) % 7;
  return new Date(ms - sinceMonday * DAY_MS).toISOString().slice(0, '2026-01-31'.length);
}

/** Something that several successors found out again, and the command that puts it into briefs. */
export interface Suggestion {
  kind: FoundAgain['kind'];
  text: string;
  successors: number;
  project: string;
  command: string;
}

const OFTEN = 3;

/** The most frequent first. */
export function suggestFacts(debts: readonly Debt[]): Suggestion[] {
  const groups = new Map<string, { item: FoundAgain; members: Debt[] }>();
  for (const debt of debts)
    for (const item of debt.found) {
      const key = `${debt.project.id}\n${item.kind}\n${item.text}`;
      const group = groups.get(key) ?? { item, members: [] };
      group.members.push(debt);
      groups.set(key, group);
    }
  return [...groups.values()]
    .filter(({ members }) => members.length >= OFTEN)
    .sort((a, b) => b.members.length - a.members.length || compareCodeUnits(a.item.text, b.item.text))
    .map(({ item: { kind, text }, members }) => {
      const of = members[0]?.project;
      const known = debts
        .filter(({ project }) => project.id === of?.id)
        .flatMap(({ facts }) => facts)
        .find((fact) => fact.kind === kind && fact.text === text);
      const command =
        known === undefined
          ? `handover save --pin ${quoteForShell(`${text}: …`)}`
          : `handover pin ${known.id} --in ${known.handover}`;
      return { kind, text, successors: members.length, project: of?.name ?? '', command };
    });
}
