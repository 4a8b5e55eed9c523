import type { Fact } from '../model/fact.ts';
import { isProgressNote } from '../model/fact-roles.ts';
import type { Handover } from '../model/handover.ts';
import { compareCodeUnits } from '../model/hash.ts';
import { lastChangeOf } from '../model/time.ts';
import { readOutcomes } from './link.ts';
import { judgeOutcomes, listChanged, type Outcome } from './outcome.ts';

export type Relation = 'same' | 'follows' | 'later' | 'earlier' | 'another project';

export type Change<T> = { before: T; after: T };

/** A fact of the first handover that the second does not have, or has as resolved, and why. */
export type EndedFact = { fact: Fact; reason: string };

/**
 * Two handovers compared. Each fact of the first is in exactly one of the lists but `added`. How far a session was, which
 * differs every time, is not compared.
 */
export interface HandoverDiff {
  relation: Relation;
  added: Fact[];
  carried: Fact[];
  changed: Change<Fact>[];
  /** `now` is the fact as the second has it, if it has it. */
  resolved: (EndedFact & { now: Fact | null })[];
  superseded: (EndedFact & { by: Fact | null })[];
  dropped: EndedFact[];
  /** Null when the state of git is unknown for one of them. */
  git: GitDiff | null;
}

/** The branch and the commit of each, and the files that differed from the commit in one of them only. */
export interface GitDiff {
  branch: Change<string | null>;
  head: Change<string | null>;
  files: { added: string[]; gone: string[] };
}

/**
 * Compares by fact id. What became of a fact is read from the second handover where it follows the first, and judged by
 * the same rules where it does not.
 */
export function diffHandovers(first: Handover, second: Handover): HandoverDiff {
  const relation = relate(first, second);
  const outcomes = findOutcomes(first, second, relation);
  const now = new Map(second.facts.map((fact) => [fact.id, fact]));
  const known = new Set(first.facts.map((fact) => fact.id));
  const diff: HandoverDiff = {
    relation,
    added: second.facts.filter((fact) => !known.has(fact.id) && !isProgressNote(fact)),
    carried: [],
    changed: [],
    resolved: [],
    superseded: [],
    dropped: [],
    git: diffGit(first, second),
  };
  for (const fact of first.facts) if (!isProgressNote(fact)) addToDiff(diff, fact, outcomes.get(fact.id), now);
  return diff;
}

function relate(first: Handover, second: Handover): Relation {
  if (first.id === second.id) return 'same';
  if (first.project.id !== second.project.id) return 'another project';
  if (second.previous === first.id) return 'follows';
  return lastChangeOf(second) < lastChangeOf(first) ? 'earlier' : 'later';
}

/** Facts have no outcome in an earlier handover or in one of another project. */
function findOutcomes(first: Handover, second: Handover, relation: Relation): Map<string, Outcome> {
  if (relation === 'earlier' || relation === 'another project' || relation === 'same') return new Map();
  const recorded = relation === 'follows' ? second.chain : undefined;
  return recorded === undefined ? judgeOutcomes(first, second) : readOutcomes(recorded);
}

const REASON_OF_ABSENCE: Record<Relation, string> = {
  same: 'not there',
  follows: 'not carried over',
  later: 'not carried over',
  earlier: 'not known yet',
  'another project': 'from the other project',
};

function addToDiff(diff: HandoverDiff, fact: Fact, outcome: Outcome | undefined, now: Map<string, Fact>): void {
  const after = now.get(fact.id) ?? null;
  if (outcome?.end === 'resolved') diff.resolved.push({ fact, reason: outcome.reason, now: after });
  else if (after !== null) {
    if (after.status === fact.status && after.text === fact.text) diff.carried.push(fact);
    else diff.changed.push({ before: fact, after });
  } else if (outcome?.end === 'superseded')
    diff.superseded.push({ fact, reason: outcome.reason, by: now.get(outcome.by) ?? null });
  else
    diff.dropped.push({ fact, reason: outcome?.end === 'dropped' ? outcome.reason : REASON_OF_ABSENCE[diff.relation] });
}

function diffGit(first: Handover, second: Handover): GitDiff | null {
  const { git: before } = first.workspace;
  const { git: after } = second.workspace;
  if (before === null || after === null) return null;
  const [then, now] = [listChanged(before), listChanged(after)];
  return {
    branch: { before: before.branch, after: after.branch },
    head: { before: before.head, after: after.head },
    files: { added: without(now, then), gone: without(then, now) },
  };
}

function without(paths: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...paths].filter((path) => !others.has(path)).sort(compareCodeUnits);
}
