import { computeFactId, type Fact, type FactKind, getFileProbe } from '../model/fact.ts';
import type { HandoverDraft, Quality, QualityAxes, QualityAxis, Rating } from '../model/handover.ts';
import { isProse } from '../model/paths.ts';
import { countUtf8Bytes, findContentWords } from '../model/text.ts';
import { DAY_MS } from '../model/time.ts';
import { isChangedFile } from './outcome.ts';

type RatedDraft = Pick<HandoverDraft, 'facts' | 'summary' | 'session' | 'created_at'>;

/**
 * How far the next session can rely on a handover. The score is computed from the axes, and the axes from important facts
 * alone: no number of messages, commands, mentions or error lines raises any of them.
 */
export function rateQuality(draft: RatedDraft): Quality {
  const axes = measureAxes(draft);
  const isDoubtful = axes.freshness === 0 || draft.facts.some((fact) => isUnchecked(fact, draft.facts));
  const score = isDoubtful ? Math.min(MOST_IN_DOUBT, weighAxes(axes)) : weighAxes(axes);
  return { score, rating: rateScore(score), axes };
}

/** However complete, what is a month old is not Excellent, for much may have changed; nor are edits that no check looked at. */
const MOST_IN_DOUBT = 0.89;

/** Weights in hundredths. Within a group the axes that apply count alike. */
const GROUPS: readonly { weight: number; axes: readonly QualityAxis[] }[] = [
  { weight: 30, axes: ['goal', 'tasks'] },
  { weight: 25, axes: ['evidence'] },
  { weight: 20, axes: ['decisions'] },
  { weight: 15, axes: ['blockers'] },
  { weight: 10, axes: ['freshness', 'verified'] },
];

/** A group without an axis that applies is left out, and the others count for the whole: it neither lowers nor raises the score. */
function weighAxes(axes: QualityAxes): number {
  let sum = 0;
  let total = 0;
  for (const group of GROUPS) {
    const values = group.axes.map((axis) => axes[axis]).filter((value) => value !== undefined);
    if (values.length === 0) continue;
    sum += (group.weight * values.reduce((a, b) => a + b, 0)) / values.length;
    total += group.weight;
  }
  return total === 0 ? 0 : round(sum / total);
}

export function rateScore(score: number): Rating {
  if (score >= 0.9) return 'Excellent';
  if (score >= 0.7) return 'Good';
  return score >= 0.5 ? 'Acceptable' : 'Needs Improvement';
}

function measureAxes(draft: RatedDraft): QualityAxes {
  // Without what an agent said in passing in an earlier session.
  const isCarriedOver = ({ sources }: Fact): boolean => sources.some(({ session }) => session !== undefined);
  const facts = draft.facts.filter((fact) => !isPassing(fact) || !isCarriedOver(fact));
  const counted = facts.filter(isCounted);
  const measured: Record<QualityAxis, number | null> = {
    goal: measureGoal(draft),
    tasks: measureTasks(facts),
    decisions: measureDecisions(facts),
    evidence: measureEvidence(counted),
    blockers: counted.length === 0 ? null : measureBlockers(facts),
    freshness: counted.length === 0 ? null : measureFreshness(draft),
    verified: shareOf(counted, (fact) => !isUnverified(fact) && !isUnchecked(fact, facts)),
  };
  const axes: QualityAxes = {};
  for (const axis of GROUPS.flatMap((group) => group.axes)) {
    const value = measured[axis];
    if (value !== null) axes[axis] = round(value);
  }
  return axes;
}

/**
 * Always applies. Full for a human's own words; half where only an agent or an import names a goal, where the human's
 * words are too few to say one ("go on"), or where there is only a summary.
 */
function measureGoal({ facts, summary }: RatedDraft): number {
  const goals = facts.filter((fact) => fact.kind === 'goal');
  if (goals.some((fact) => fact.origin === 'human' && isInformative(fact.text))) return 1;
  return goals.length > 0 || summary !== '' ? 0.5 : 0;
}

const MIN_GOAL_BYTES = 12;

/** Two words, or one long one: some scripts do not separate words. */
function isInformative(text: string): boolean {
  const words = findContentWords(text);
  return words.length >= 2 || countUtf8Bytes(words.join('')) >= MIN_GOAL_BYTES;
}

/** Applies where there is a plan. */
function measureTasks(facts: readonly Fact[]): number | null {
  const tasks = facts.filter((fact) => fact.kind === 'task');
  return shareOf(tasks, (task) => task.status !== undefined && task.status !== 'unknown');
}

const SETTLED: ReadonlySet<FactKind> = new Set(['decision', 'constraint', 'rejected']);
const COUNTED = new Set<FactKind>([...SETTLED, 'goal', 'task', 'blocker', 'next', 'check']);

/** Facts that the next session will build on. */
function isCounted(fact: Fact): boolean {
  return fact.trust === 'declared' || COUNTED.has(fact.kind) || isChangedFile(fact);
}

const MAX_EXPECTED = 3;
const CLOSING: ReadonlySet<unknown> = new Set(['closing', 'stopped']);

/**
 * Applies where something was changed or settled. One settled matter is expected for each changed file, three at most.
 * What an agent said in passing, or to close a turn, counts half, so that its words alone never give 1.
 */
function measureDecisions(facts: readonly Fact[]): number | null {
  const settled = facts.filter((fact) => SETTLED.has(fact.kind));
  const changed = facts.filter(isChangedFile);
  if (settled.length === 0 && changed.length === 0) return null;
  const expected = Math.min(Math.max(1, changed.length), MAX_EXPECTED);
  const firm = Math.min(settled.filter((fact) => !isUnverified(fact)).length, expected);
  const closing = facts.filter(({ kind, detail }) => kind === 'note' && CLOSING.has(detail?.role));
  const loose = Math.min(settled.length + closing.length - firm, expected - firm);
  return (firm + loose / 2) / expected;
}

/**
 * Applies to what can have evidence: what a human declares is its own, and an agent's passing words prove nothing
 * by being quoted. A fact is linked when it names a line, a row or a file's digest; a check besides needs an outcome.
 */
function measureEvidence(counted: readonly Fact[]): number | null {
  const provable = counted.filter((fact) => {
    if (fact.trust === 'declared') return fact.origin !== 'human' || fact.probe !== undefined;
    return !isPassing(fact);
  });
  return shareOf(provable, isLinked);
}

function isPassing({ trust, origin }: Fact): boolean {
  return trust === 'quoted' && origin === 'agent';
}

function isLinked(fact: Fact): boolean {
  if (fact.kind === 'check') return isSeen(fact) && (fact.status === 'ok' || fact.status === 'failed');
  return isSeen(fact) || typeof getFileProbe(fact)?.sha256 === 'string';
}

function isSeen(fact: Fact): boolean {
  return fact.sources.some(({ line = 0, ref }) => line > 0 || ref !== undefined);
}

/**
 * Applies as soon as anything counts. Full when no check fails still and nobody named a blocker. Each open one counts half if it
 * is explained, else nothing. An agent's passing words ("blocked by the firewall rule") are not taken for a blocker.
 */
function measureBlockers(facts: readonly Fact[]): number {
  const errorsOf = ({ id }: Fact): Fact[] =>
    facts.filter(({ kind, detail }) => kind === 'error' && computeFactId('check', String(detail?.command)) === id);
  const isOver = (check: Fact): boolean => {
    const errors = errorsOf(check);
    return errors.length > 0 && errors.every(({ status }) => status === 'closed');
  };
  const failing = facts.filter((fact) => fact.kind === 'check' && fact.status === 'failed' && !isOver(fact));
  const named = facts.filter((fact) => fact.kind === 'blocker' && !isPassing(fact));
  const open = failing.length + named.length;
  if (open === 0) return 1;
  const explainedChecks = failing.filter((check) => check.detail?.outcome !== undefined || errorsOf(check).length > 0);
  return (explainedChecks.length + named.length) / (2 * open);
}

const STALE_DAYS = 30;

/** Applies where the time of the last event is known. Full up to a day before sealing, then falling to 0 after a month. */
function measureFreshness({ session, created_at }: RatedDraft): number | null {
  if (session.last_at === undefined) return null;
  const ageMs = Date.parse(created_at) - Date.parse(session.last_at);
  return Math.min(1, Math.max(0, (STALE_DAYS * DAY_MS - ageMs) / ((STALE_DAYS - 1) * DAY_MS)));
}

/** Known only from an agent or another store. */
function isUnverified({ trust, origin }: Fact): boolean {
  if (trust === 'observed') return false;
  return trust === 'inferred' || trust === 'imported' || origin === 'agent' || origin === 'import';
}

/** Code that was changed, though no test, lint or build was seen to end. */
function isUnchecked(fact: Fact, facts: readonly Fact[]): boolean {
  const isCode = fact.trust === 'observed' && isChangedFile(fact) && !isProse(fact.text);
  return isCode && !facts.some(({ kind, status }) => kind === 'check' && (status === 'ok' || status === 'failed'));
}

function shareOf(facts: readonly Fact[], fits: (fact: Fact) => boolean): number | null {
  return facts.length === 0 ? null : facts.filter(fits).length / facts.length;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
