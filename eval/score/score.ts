import { type Labels, TOLD_KINDS } from '../labels/labels.ts';
import { isToldBy, type Phrase } from '../labels/phrase.ts';
import { findStems } from '../names/commands.ts';
import { isNamedIn } from '../names/known-text.ts';
import type { Truth } from '../truth/truth.ts';
import { countTokens } from './budget.ts';
import { CLAIM_KINDS, labelsOfClaim, listClaims } from './claims.ts';
import { keepCredited } from './credit.ts';
import { splitEntries } from './entries.ts';
import { addTallies, type Metric, type Score, type Tally } from './metrics.ts';
import { findNameLists } from './name-lists.ts';
import { measureUse } from './useful.ts';

export interface Scored {
  score: Score;
  /** What each metric found missing or, for claims, stale statements and `useful`, wrong or too much. */
  misses: ReadonlyMap<Metric, readonly string[]>;
}

/** What is known about a cut: by whoever labelled it, and by what came after it. */
export interface Answers {
  labels: Labels | null;
  /** Null where the evaluation cannot read the transcript. */
  truth: Truth | null;
}

export interface Measured extends Tally {
  missed: readonly string[];
}

type Sheet = Map<Metric, Measured>;

export function scoreBrief(brief: string, { labels, truth }: Answers): Scored {
  const lists = findNameLists(brief);
  const sheet: Sheet = new Map([
    ['tokens', { sum: countTokens(brief), count: 1, missed: [] }],
    ['names', { sum: lists.share, count: 1, missed: [] }],
  ]);
  if (labels !== null) scoreByLabels(sheet, brief, labels);
  if (truth !== null) {
    if (truth.later !== null) note(sheet, 'namesUsed', count(lists.names, truth.later.names.bind(truth.later)));
    scoreByFuture(sheet, brief, truth);
  }
  return {
    score: new Map([...sheet].map(([metric, { sum, count }]) => [metric, { sum, count }])),
    misses: new Map([...sheet].map(([metric, { missed }]) => [metric, missed])),
  };
}

function scoreByLabels(sheet: Sheet, brief: string, labels: Labels): void {
  const entries = splitEntries(brief);
  const texts = entries.map(({ text }) => text.toLowerCase());
  const isTold = (phrase: Phrase): boolean => texts.some((text) => isToldBy(phrase, text));
  for (const kind of TOLD_KINDS) note(sheet, `told.${kind}`, countPhrases(labels[kind], isTold));
  for (const kind of CLAIM_KINDS) {
    const truths = labelsOfClaim(kind).flatMap((label) => labels[label]);
    const isRight = (line: string): boolean => truths.some((phrase) => isToldBy(phrase, line.toLowerCase()));
    note(sheet, `claims.${kind}`, count(listClaims(kind, entries), isRight));
  }
  total(
    sheet,
    'told',
    TOLD_KINDS.map((kind) => `told.${kind}` as const),
  );
  total(
    sheet,
    'claims',
    CLAIM_KINDS.map((kind) => `claims.${kind}` as const),
  );
  const fresh = countPhrases(labels.stale, (phrase) => !isTold(phrase));
  if (fresh !== null) note(sheet, 'stale', { ...fresh, sum: fresh.missed.length });
}

function scoreByFuture(sheet: Sheet, brief: string, truth: Truth): void {
  const credited = keepCredited(brief);
  const stems = findStems(credited.replaceAll('`', ' ; '));
  const isNamed = (name: string): boolean => isNamedIn(name, credited);
  const isRun = (stem: string): boolean => credited.includes(stem) || stems.has(stem);
  note(sheet, 'nextEdit', measureShare(truth.nextEdit, isNamed));
  note(sheet, 'nextRead', measureShare(truth.nextRead, isNamed));
  note(sheet, 'nextCmd', measureShare(truth.nextCmd, isRun));
  note(sheet, 'useful', measureUse(brief, truth.useful));
}

function note(sheet: Sheet, metric: Metric, measured: Measured | null): void {
  if (measured !== null) sheet.set(metric, measured);
}

function total(sheet: Sheet, metric: Metric, parts: readonly Metric[]): void {
  const tallies = parts.flatMap((part) => sheet.get(part) ?? []);
  if (tallies.length > 0) sheet.set(metric, { ...addTallies(tallies), missed: [] });
}

/** How many of the items are there. */
function count(items: Iterable<string>, isThere: (item: string) => boolean): Measured | null {
  const all = [...items];
  const missed = all.filter((item) => !isThere(item));
  return all.length === 0 ? null : { sum: all.length - missed.length, count: all.length, missed };
}

function countPhrases(phrases: readonly Phrase[], isThere: (phrase: Phrase) => boolean): Measured | null {
  const missed = phrases.filter((phrase) => !isThere(phrase)).map(({ text }) => text);
  return phrases.length === 0 ? null : { sum: phrases.length - missed.length, count: phrases.length, missed };
}

/** The share of the items that are there, as the value of a cut. */
function measureShare(items: ReadonlySet<string>, isThere: (item: string) => boolean): Measured | null {
  const counted = count(items, isThere);
  return counted === null ? null : { ...counted, sum: counted.sum / counted.count, count: 1 };
}
