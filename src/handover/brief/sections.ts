import type { Fact, FactKind } from '../../model/fact.ts';
import type { ChangesSince } from '../../model/workspace.ts';
import { type FactWeight, type Goal, lineOf, readWeight } from './weight.ts';

/** The sections of a brief with their headings, in the order of the page. */
export const HEADINGS = {
  since: 'Changed since this handover',
  goal: 'Goal',
  pinned: 'Pinned',
  current: 'User: last messages',
  first: 'User: first request',
  summary: 'Where things stand',
  constraints: 'Constraints',
  decisions: 'Decisions',
  rejected: 'Rejected',
  blockers: 'Blockers',
  questions: 'Open questions',
  next: 'Next',
  tasks: 'Tasks',
  stopped: 'Agent: last words',
  changed: 'Files changed, newest first',
  files: 'Other files',
  checks: 'Commands, last outcome',
  errors: 'Errors still open',
  fixed: 'Errors met, gone since',
  running: 'Still running',
  tree: 'Working tree (git)',
  messages: 'User: other messages, newest first',
  said: 'Agent: statements (unverified)',
  imported: 'From others: imported, unverified',
  references: 'References',
  notes: 'Notes',
};
export type Section = keyof typeof HEADINGS;

export const SECTIONS: readonly Section[] = Object.keys(HEADINGS).filter(isSection);

function isSection(name: string): name is Section {
  return Object.hasOwn(HEADINGS, name);
}

/** Declared facts have headings of their own; what the agent said in passing is listed together. */
const BY_KIND: Record<FactKind, Section> = {
  goal: 'goal',
  task: 'tasks',
  decision: 'decisions',
  constraint: 'constraints',
  rejected: 'rejected',
  blocker: 'blockers',
  question: 'questions',
  next: 'next',
  file: 'files',
  command: 'checks',
  check: 'checks',
  error: 'errors',
  reference: 'references',
  running: 'running',
  note: 'notes',
};

const BY_ROLE: Readonly<Record<string, Section>> = {
  current: 'current',
  after: 'current',
  first: 'first',
  message: 'messages',
  stopped: 'stopped',
};

export function sectionOf(fact: Fact, weight: FactWeight = readWeight(fact)): Section {
  // An imported goal or rule is not one of this user.
  if (fact.trust === 'imported') return 'imported';
  if (fact.pinned === true) return 'pinned';
  if (fact.status === 'refuted') return 'rejected';
  const byRole = weight.role === null ? undefined : BY_ROLE[weight.role];
  if (byRole !== undefined) return byRole;
  if (fact.kind === 'file' && (weight.edits + weight.failures > 0 || fact.status === 'deleted')) return 'changed';
  if (fact.kind === 'error' && fact.status === 'closed') return 'fixed';
  if (fact.kind === 'question' && fact.status === 'open') return 'questions';
  const quotedAgent = fact.trust === 'quoted' && fact.origin === 'agent';
  if (quotedAgent && fact.kind !== 'reference' && fact.kind !== 'task') return 'said';
  return BY_KIND[fact.kind];
}

/** The order of lines within a section: newest first, but statements in the order in which they were made. */
export function orderOf(section: Section, fact: Fact, weight: FactWeight): number {
  const line = lineOf(fact);
  const recency = line === 0 ? -weight.age : line;
  return section === 'said' || section === 'current' ? recency : -recency;
}

/** The priority of declared facts when there is not room for all. */
const STATED: readonly FactKind[] = ['goal', 'next', 'constraint', 'blocker', 'decision', 'rejected'];
const OPEN: readonly FactKind[] = ['question', 'task', 'error', 'check', 'running'];
const RANKS: readonly FactKind[] = [...STATED, ...OPEN, 'file', 'command', 'reference', 'note'];

export function rankOf(kind: FactKind): number {
  return RANKS.indexOf(kind);
}

export type WeightedFact = { fact: Fact; weight: FactWeight; section: Section };

export interface BriefInput {
  facts: readonly WeightedFact[];
  /** In tokens. */
  budget: number;
  goal: Goal | null;
  changes: ChangesSince | null;
}
