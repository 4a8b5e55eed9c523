import type { Fact, FactKind } from '../../model/fact.ts';
import { type FactWeight, lineOf, readWeight } from './weight.ts';

/** A heading of the brief: what stands below it and whose word it is. The order is the one of the page. */
export const SECTIONS = [
  'since',
  'goal',
  'pinned',
  'current',
  'first',
  'summary',
  'constraints',
  'decisions',
  'rejected',
  'blockers',
  'questions',
  'next',
  'tasks',
  'stopped',
  'changed',
  'files',
  'checks',
  'errors',
  'fixed',
  'running',
  'tree',
  'messages',
  'said',
  'imported',
  'references',
  'notes',
] as const;
export type Section = (typeof SECTIONS)[number];

export const HEADINGS: Record<Section, string> = {
  since: 'Changed since this handover',
  pinned: 'Pinned',
  current: 'User: last messages',
  first: 'User: first request',
  goal: 'Goal',
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

/** Declared facts stand under their own headings; what the agent said in passing stands together, marked as such. */
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
  // Whatever it was over there: here it is neither a goal nor a rule nor a request of this user.
  if (fact.trust === 'imported') return 'imported';
  if (fact.pinned === true) return 'pinned';
  if (fact.status === 'refuted') return 'rejected';
  const byRole = weight.role === null ? undefined : BY_ROLE[weight.role];
  if (byRole !== undefined) return byRole;
  if (fact.kind === 'file' && (weight.edits + weight.failures > 0 || fact.status === 'deleted'))
    return 'changed';
  if (fact.kind === 'error' && fact.status === 'closed') return 'fixed';
  if (fact.kind === 'question' && fact.status === 'open') return 'questions';
  const quotedAgent = fact.trust === 'quoted' && fact.origin === 'agent';
  if (quotedAgent && fact.kind !== 'reference' && fact.kind !== 'task') return 'said';
  return BY_KIND[fact.kind];
}

/** The order of lines within a section: newest first, but what was said reads as it was said. */
export function orderOf(section: Section, fact: Fact, weight: FactWeight): number {
  const line = lineOf(fact);
  const recency = line === 0 ? -weight.age : line;
  return section === 'said' || section === 'current' ? recency : -recency;
}

/** How soon a declared fact gets in when there is not room for all. */
const RANKS: readonly FactKind[] = [
  'goal',
  'next',
  'constraint',
  'blocker',
  'decision',
  'rejected',
  'question',
  'task',
  'error',
  'check',
  'running',
  'file',
  'command',
  'reference',
  'note',
];

export function rankOf(kind: FactKind): number {
  return RANKS.indexOf(kind);
}
