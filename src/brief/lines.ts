import type { Fact, FactKind } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { cleanText, cutToBytes, revealControls } from '../model/text.ts';
import type { GitFacts } from '../model/workspace.ts';

/** Something that can be in a brief. Its lines are whole: they are taken together or not at all. */
export interface Candidate {
  section: Section;
  lines: string[];
  /** Null for what is not a fact, as the state of git. */
  fact: Fact | null;
  /** The lower, the sooner it gets in. */
  rank: number;
}

export const SECTIONS = [
  'Pinned',
  'Goal',
  'State',
  'Constraints',
  'Decisions',
  'Rejected',
  'Blockers',
  'Open questions',
  'Next',
  'Tasks',
  'Errors',
  'Checks',
  'Still running',
  'Working tree',
  'Files',
  'Commands',
  'References',
  'Notes',
] as const;
export type Section = (typeof SECTIONS)[number];

/** Where each kind of fact stands, and how soon it gets in when there is not room for all. */
const PLACES: Record<FactKind, { section: Section; rank: number }> = {
  goal: { section: 'Goal', rank: 1 },
  next: { section: 'Next', rank: 2 },
  constraint: { section: 'Constraints', rank: 3 },
  blocker: { section: 'Blockers', rank: 4 },
  decision: { section: 'Decisions', rank: 5 },
  rejected: { section: 'Rejected', rank: 6 },
  question: { section: 'Open questions', rank: 7 },
  task: { section: 'Tasks', rank: 8 },
  error: { section: 'Errors', rank: 9 },
  check: { section: 'Checks', rank: 10 },
  running: { section: 'Still running', rank: 11 },
  file: { section: 'Files', rank: 12 },
  command: { section: 'Commands', rank: 13 },
  reference: { section: 'References', rank: 14 },
  note: { section: 'Notes', rank: 15 },
};
const STATE_RANK = 1.5;
const TREE_RANK = 7.5;
const TREE_FILES_RANK = 11.5;

const MAX_FACT_BYTES = 1200;
const MAX_TREE_FILES = 40;

export function listCandidates(handover: Handover): Candidate[] {
  const candidates: Candidate[] = [];
  if (handover.summary !== '') {
    candidates.push({ section: 'State', lines: splitLines(handover.summary), fact: null, rank: STATE_RANK });
  }
  for (const fact of handover.facts) candidates.push(describeFact(fact));
  if (handover.workspace.git !== null) candidates.push(...describeTree(handover.workspace.git));
  return candidates;
}

function describeFact(fact: Fact): Candidate {
  const place = PLACES[fact.kind];
  const text = fact.kind === 'file' ? revealControls(fact.text) : fact.text;
  const [first = '', ...rest] = splitLines(cutToBytes(text, MAX_FACT_BYTES));
  const status = fact.status === undefined ? '' : `[${fact.status}] `;
  const kind = fact.pinned === true && fact.kind !== 'note' ? `${fact.kind}: ` : '';
  return {
    section: fact.pinned === true ? 'Pinned' : place.section,
    lines: [`- ${kind}${status}${first}`, ...rest.map((line) => `  ${line}`)].map(markProvenance(fact)),
    fact,
    rank: fact.pinned === true ? 0 : place.rank,
  };
}

/** Every fact says who it is from and by which id more can be had; what nobody verified says that too. */
function markProvenance(fact: Fact): (line: string, index: number, lines: string[]) => string {
  const unverified =
    fact.trust === 'inferred' || fact.trust === 'imported' || fact.origin === 'agent' ? ', unverified' : '';
  return (line, index, lines) =>
    index === lines.length - 1 ? `${line}  (${fact.trust} by ${fact.origin}${unverified}; ${fact.id})` : line;
}

function describeTree(git: GitFacts): Candidate[] {
  const summary = describeHead(git);
  const files = [
    ...git.conflicted.map((path) => `- conflict: ${revealControls(path)}`),
    ...git.staged.map((file) => `- staged, ${file.change}: ${showChange(file)}`),
    ...git.unstaged.map((file) => `- ${file.change}: ${showChange(file)}`),
    ...git.untracked.map((path) => `- untracked: ${revealControls(path)}`),
  ];
  const shown = files
    .slice(0, MAX_TREE_FILES)
    .map(
      (line): Candidate => ({ section: 'Working tree', lines: [line], fact: null, rank: TREE_FILES_RANK }),
    );
  return [
    { section: 'Working tree', lines: [`- ${summary}  (observed by git)`], fact: null, rank: TREE_RANK },
    ...shown,
  ];
}

function showChange(file: { path: string; from?: string }): string {
  return file.from === undefined
    ? revealControls(file.path)
    : `${revealControls(file.from)} -> ${revealControls(file.path)}`;
}

function describeHead(git: GitFacts): string {
  const parts = [
    git.branch === null ? 'no branch (detached)' : `branch ${revealControls(git.branch)}`,
    git.head === null ? 'no commit yet' : `head ${git.head.slice(0, 12)}`,
  ];
  if (git.upstream !== null) {
    parts.push(`${git.ahead ?? 0} ahead and ${git.behind ?? 0} behind ${revealControls(git.upstream)}`);
  }
  if (git.operation !== null) parts.push(`${git.operation} in progress`);
  parts.push(git.changed_total === null ? 'changed files unknown' : `${git.changed_total} changed files`);
  return parts.join(', ');
}

function splitLines(text: string): string[] {
  return cleanText(text)
    .split('\n')
    .map((line) => line.trimEnd());
}
