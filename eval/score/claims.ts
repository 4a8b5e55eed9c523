import type { Labels } from '../labels/labels.ts';
import type { Entry } from './entries.ts';

/** What a line of a brief may claim to be so at the cut. */
export const CLAIM_KINDS = [
  'openTasks',
  'openErrors',
  'running',
  'testStatus',
  'decisions',
  'rejected',
  'constraints',
  'nextAction',
] as const;
export type ClaimKind = (typeof CLAIM_KINDS)[number];

interface ClaimRule {
  /** Every quoted line under such a heading is a claim. */
  heading?: RegExp;
  /** So is any line that begins like this. */
  mark?: RegExp;
  /** The labels of which one has to say the same. */
  labels: readonly (keyof Labels)[];
}

/** How briefs say what they claim: the current one and older ones. */
const RULES: Readonly<Record<ClaimKind, ClaimRule>> = {
  openTasks: { mark: /^> \[(?:pending|in_progress|open)\]|^\s*[-*]?\s*\[ \]/i, labels: ['openTasks'] },
  openErrors: { heading: /errors? still open|open errors?/i, labels: ['openErrors'] },
  running: { heading: /running|in flight/i, labels: ['running'] },
  testStatus: { mark: /^> checks?: /i, labels: ['testStatus'] },
  decisions: {
    heading: /^decisions|decided|settled/i,
    mark: /^> - (?:\([^)]*\) )?decision: /i,
    labels: ['decisions', 'rejected'],
  },
  rejected: {
    heading: /^rejected|did not work/i,
    mark: /^> - (?:\([^)]*\) )?(?:rejected|tried, did not work): /i,
    labels: ['rejected'],
  },
  constraints: { heading: /constraint|rules/i, mark: /^> - (?:\([^)]*\) )?constraint: /i, labels: ['constraints'] },
  nextAction: { heading: /^next(?: steps?| action)?$/i, mark: /^> (?:- )?next: /i, labels: ['nextAction'] },
};

/** The lines of a brief that claim something of this kind, each once. */
export function listClaims(kind: ClaimKind, entries: readonly Entry[]): string[] {
  const { heading, mark } = RULES[kind];
  const lines = entries.filter(
    (entry) =>
      entry.isLine &&
      ((heading?.test(entry.heading) === true && entry.text.startsWith('>')) || mark?.test(entry.text) === true),
  );
  return [...new Set(lines.map(({ text }) => text))];
}

/** The labels by which claims of a kind are judged. */
export function labelsOfClaim(kind: ClaimKind): readonly (keyof Labels)[] {
  return RULES[kind].labels;
}
