import { isDeepStrictEqual } from 'node:util';
import { computeFactId, type Fact, type FactKind, MAX_FACT_TEXT_BYTES, MAX_FACTS } from '../model/fact.ts';
import { isRequest, NO_AGENT } from '../model/fact-roles.ts';
import { type Handover, isForeign, type UnstampedDraft } from '../model/handover.ts';
import { cleanLine, cutAtWord, cutToBytes } from '../model/text.ts';
import type { Place } from '../platform/project.ts';
import { isToKeep } from './line-of-work.ts';
import { carryFact, extractRules, readOutcomes, recordChain } from './link.ts';
import { isRefuted } from './marks.ts';
import { isChangedFile, type Outcome } from './outcome.ts';
import { unsealHandover } from './seal.ts';

/** One side of a merge. */
export interface Side {
  newest: Handover;
  /** The handover of this line that has all of the common one: that itself, or the one that merged it. */
  since: Handover | null;
  /** The handovers after it, the oldest first. */
  line: readonly Handover[];
  /** What was resolved by hand since the newest was sealed, and why. */
  resolved: ReadonlyMap<string, string>;
}

export interface MergeResult {
  draft: UnstampedDraft;
  contradictions: Fact[];
}

/**
 * Joins two lines of work against the handover that both come from, if there is one. What both have is there once; what one
 * ended is ended; what one changed is as that one has it. What they say against each other comes first, pinned, until
 * somebody resolves it. The session of `ours` goes on.
 */
export function mergeHandovers(
  ours: Side,
  theirs: Side,
  { base, workspace }: { base: Handover | null; workspace: Place['workspace'] },
): MergeResult {
  const known = new Map((base?.facts ?? []).map((fact) => [fact.id, fact]));
  const resolved = new Map([...theirs.resolved, ...ours.resolved]);
  const others = new Map(theirs.newest.facts.map((fact) => [fact.id, fact]));
  const own = new Map(ours.newest.facts.map((fact) => [fact.id, fact]));
  const endedThere = listEnded(theirs, { known, others: own });
  const endedHere = listEnded(ours, { known, others });
  const kept = ours.newest.facts
    .filter(({ id }) => !endedThere.has(id) && !resolved.has(id))
    .map((fact) => chooseChanged(fact, others.get(fact.id), known.get(fact.id)))
    .map((fact) => chooseFile(fact, { other: others.get(fact.id), before: known.get(fact.id), from: theirs.newest }))
    .map((fact) => (fact.trust === 'declared' ? carryFact(fact, ours.newest) : fact));
  // Imported facts are in no other handover: nothing follows an import.
  const isTaken = (fact: Fact): boolean =>
    isForeign(theirs.newest) ||
    isToKeep(fact) ||
    isRequest(fact) ||
    isChangedFile(fact) ||
    OF_WORK.has(fact.detail?.about);
  const taken = [
    ...theirs.newest.facts
      .filter((fact) => !own.has(fact.id) && !endedHere.has(fact.id) && !resolved.has(fact.id) && isTaken(fact))
      .map((fact) => carryFact(fact, theirs.newest)),
    ...extractRules(theirs.newest),
    ...noteMerged(theirs.newest),
  ];
  const contradictions = findContradictions(ours, theirs, known);
  const facts = [...new Map([...contradictions, ...kept, ...taken].map((fact) => [fact.id, fact])).values()];
  const outcomes = new Map<string, Outcome>();
  for (const fact of [...theirs.newest.facts, ...ours.newest.facts])
    outcomes.set(fact.id, endedThere.get(fact.id) ?? endedHere.get(fact.id) ?? { end: 'holds' });
  for (const [id, reason] of resolved) outcomes.set(id, { end: 'resolved', reason });
  for (const fact of theirs.newest.facts)
    if (
      !own.has(fact.id) &&
      !taken.some(({ id }) => id === fact.id) &&
      !endedHere.has(fact.id) &&
      !resolved.has(fact.id)
    )
      outcomes.set(fact.id, { end: 'dropped', reason: 'about the other session only' });
  const chosen = facts.slice(0, MAX_FACTS);
  const chain = { ...recordChain(outcomes, new Set(chosen.map(({ id }) => id))), joined: theirs.newest.id };
  const draft = {
    ...unsealHandover(ours.newest),
    workspace,
    facts: chosen,
    previous: ours.newest.id,
    chain,
    quality: null,
  };
  return { draft, contradictions };
}

/** What a session did that stays. */
const OF_WORK: ReadonlySet<unknown> = new Set(['commit', 'link']);

/** Which handover was merged, and what somebody wrote of it. */
function noteMerged({ id, title, summary, session, workspace, imported }: Handover): Fact[] {
  const isOthers = imported?.signer !== undefined;
  const by = session.agent === NO_AGENT ? 'human' : 'agent';
  const make = (kind: FactKind, text: string, parts: Pick<Fact, 'trust' | 'origin' | 'detail'>): Fact => ({
    ...{ id: computeFactId(kind, text), kind, text, sources: [{ ref: id }], ...parts },
    ...(isOthers ? { trust: 'imported', origin: 'import' } : {}),
  });
  const text = `merged: handover ${id} of ${session.agent} in ${workspace.root}, "${cutAtWord(cleanLine(title), MAX_QUOTED_BYTES)}"`;
  const detail = { told: { trust: 'declared', origin: by, by: imported?.signer?.name ?? null } };
  return [
    make('reference', text, { trust: 'observed', origin: 'tool', detail: { about: 'link' } }),
    ...[cutToBytes(summary, MAX_FACT_TEXT_BYTES)]
      .filter((words) => words.trim() !== '')
      .map((words) => make('note', words, { trust: 'declared', origin: by, ...(isOthers ? { detail } : {}) })),
  ];
}

const MAX_QUOTED_BYTES = 160;

/** What one side ended of what both had, and why. What the user has said on the other side since, in the words of an agent, stays. */
function listEnded(
  { newest, since, line }: Side,
  { known, others }: { known: ReadonlyMap<string, Fact>; others: ReadonlyMap<string, Fact> },
): Map<string, Outcome> {
  const had = new Set(since?.facts.map(({ id }) => id));
  const now = new Set(newest.facts.map(({ id }) => id));
  const outcomes = new Map<string, Outcome>();
  for (const { chain } of line)
    if (chain !== undefined) for (const [id, outcome] of readOutcomes(chain)) outcomes.set(id, outcome);
  const ended = new Map<string, Outcome>();
  for (const [id, { origin }] of known) {
    const isSaidAnew = origin !== 'human' && others.get(id)?.origin === 'human';
    if (now.has(id) || !had.has(id) || isSaidAnew) continue;
    const outcome = outcomes.get(id);
    const reason = outcome !== undefined && 'reason' in outcome ? outcome.reason : `not in ${newest.id} any more`;
    ended.set(id, { end: outcome?.end === 'resolved' ? 'resolved' : 'dropped', reason });
  }
  return ended;
}

/** Of a fact that both have, the one that was changed since; pinned if either is. A command with other arguments is another one. */
function chooseChanged(mine: Fact, other: Fact | undefined, before: Fact | undefined): Fact {
  if (other === undefined || computeFactId('note', other.text) !== computeFactId('note', mine.text)) return mine;
  const isMineOld = before !== undefined && before.status === mine.status && before.trust === mine.trust;
  const status = isMineOld && other.status !== mine.status ? other.status : mine.status;
  const chosen = { ...mine, ...(status === undefined ? {} : { status }) };
  return other.pinned === true ? { ...chosen, pinned: true } : chosen;
}

/** Of a file that only the other one changed, what is known of it there. */
function chooseFile(
  mine: Fact,
  { other, before, from }: { other: Fact | undefined; before: Fact | undefined; from: Handover },
): Fact {
  if (mine.kind !== 'file' || other === undefined) return mine;
  const isOld =
    before === undefined ? !isChangedFile(mine) && isChangedFile(other) : isDeepStrictEqual(mine.probe, before.probe);
  return isOld ? { ...carryFact(other, from), ...(mine.pinned === true ? { pinned: true } : {}) } : mine;
}

/** The question of a decision that is an answer to one. */
function questionOf({ kind, text }: Fact): string | null {
  const at = kind === 'decision' ? text.indexOf(' → ') : -1;
  return at === -1 ? null : cleanLine(text.slice(0, at)).toLowerCase();
}

/**
 * What two lines of work say against each other: decided in two ways; rejected or refuted here, and decided or done there;
 * ended in two ways. Where the words leave a doubt, it is none. `known`: what both come from. What was compared when they were
 * merged before is not said again: somebody may have resolved it.
 */
function findContradictions(
  { newest: ours, since: ourSince }: Side,
  { newest: theirs, since: theirSince }: Side,
  known: ReadonlyMap<string, Fact>,
): Fact[] {
  const say = (what: string, one: Fact, other: Fact): Fact => {
    const quote = (fact: Fact): string =>
      `${fact.trust === 'imported' ? 'imported, unverified: ' : ''}"${cutAtWord(cleanLine(fact.text), MAX_QUOTED_BYTES)}"`;
    const both =
      quote(one) === quote(other) ? quote(one) : `${quote(one)} in ${ours.id}, ${quote(other)} in ${theirs.id}`;
    const text = `${what}: ${both}`;
    const id = computeFactId('question', text);
    const detail = { between: [one.id, other.id] };
    return {
      id,
      kind: 'question',
      text,
      status: 'open',
      trust: 'observed',
      origin: 'tool',
      sources: [],
      pinned: true,
      detail,
    };
  };
  const isNewTo = (since: Handover | null): ((fact: Fact) => boolean) => {
    const had = new Map([...known, ...(since?.facts ?? []).map((fact) => [fact.id, fact] as const)]);
    return (fact) => had.get(fact.id)?.status !== fact.status || !had.has(fact.id);
  };
  const [isNewToUs, isNewToThem] = [isNewTo(ourSince), isNewTo(theirSince)];
  const words = new Map(
    [ours, theirs].flatMap(({ facts }) => facts.filter(isSettled).map((fact) => [fact, listWords(fact.text)])),
  );
  const areAgainst = (one: Fact, other: Fact): boolean => {
    const [first, second] = [words.get(one), words.get(other)];
    if (first === undefined || second === undefined) return false;
    return areAlternatives(first, second) || haveOtherValues(first, second);
  };
  const found: Fact[] = [];
  for (const one of ours.facts.filter(isToKeep))
    for (const other of theirs.facts.filter(isToKeep)) {
      if (!isNewToUs(one) && !isNewToThem(other)) continue;
      const question = questionOf(one);
      const isAnsweredTwice = question !== null && questionOf(other) === question && one.text !== other.text;
      if ((isAnsweredTwice || areAgainst(one, other)) && isNewToThem(one) && isNewToUs(other))
        found.push(say('decided differently', one, other));
      else if (isAgainst(one, other) && isNewToUs(other))
        found.push(say(`rejected here, ${wordOf(other)} there`, one, other));
      else if (isAgainst(other, one) && isNewToThem(one))
        found.push(say(`${wordOf(one)} here, rejected there`, one, other));
      else if (one.id === other.id && one.status !== other.status && isNewToThem(one) && isNewToUs(other))
        found.push(say(`${one.status ?? 'open'} here, ${other.status ?? 'open'} there`, one, other));
    }
  return found;
}

/** Whether one says no to what the other says yes to: in the same words, but for the reasons that they give. */
function isAgainst(no: Fact, yes: Fact): boolean {
  if (isRefuted(yes)) return false;
  if (no.id === yes.id) return isRefuted(no);
  const isNo = no.kind === 'rejected' || isRefuted(no);
  return isNo && (SETTLING.has(yes.kind) || isDone(yes)) && isSameSubject(no.text, yes.text);
}

/** A single word before a colon is a topic, of which several things are said: then one of the two must say no more. */
function isSameSubject(one: string, other: string): boolean {
  const [first, second] = [subjectOf(one), subjectOf(other)];
  const isWhole = first === one || second === other || /\S\s+\S/.test(first);
  return isWhole && computeFactId('note', first) === computeFactId('note', second);
}

/** What is said, without the reason after a colon, a dash or in parentheses. */
function subjectOf(text: string): string {
  const end = text.search(/:\s|\s[-–—]\s|\s\(/);
  return end <= 0 ? text : text.slice(0, end);
}

const SETTLING: ReadonlySet<FactKind> = new Set(['decision', 'constraint', 'goal', 'next']);

function isDone({ kind, status }: Fact): boolean {
  return kind === 'task' && status === 'completed';
}

function wordOf(fact: Fact): string {
  return isDone(fact) ? 'done' : 'decided';
}

/** Settled on purpose, and not taken back. */
function isSettled(fact: Fact): boolean {
  return (fact.kind === 'decision' || fact.kind === 'constraint') && !isRefuted(fact);
}

/** Words of which one text can hold only one in the same place. */
const ALTERNATIVES = [
  ['npm', 'pnpm', 'yarn', 'bun'],
  ['pip', 'poetry', 'uv', 'pipenv'],
  ['tabs', 'spaces'],
  ['always', 'never'],
  ['enable', 'disable'],
  ['enabled', 'disabled'],
  ['allow', 'forbid', 'deny'],
  ['allowed', 'forbidden', 'denied'],
  ['required', 'optional'],
  ['mandatory', 'optional'],
  ['keep', 'drop', 'remove', 'delete'],
  ['with', 'without'],
  ['on', 'off'],
  ['true', 'false'],
  ['yes', 'no'],
  ['http', 'https'],
  ['ascending', 'descending'],
  ['synchronous', 'asynchronous'],
  ['public', 'private'],
];
const NEGATION = /^(?:never|not|don't|cannot|mustn't|shouldn't)$/;

/**
 * Whether two texts are equal but for one word, which says that both cannot hold: an amount, one of a few words that exclude
 * each other, or a negation. Any other word may be another subject.
 */
function areAlternatives(first: readonly string[], second: readonly string[]): boolean {
  if (haveOtherCounts(first, second)) return true;
  if (first.length !== second.length) return isNegated(first, second) || isNegated(second, first);
  const differing = first.flatMap((word, at) => (word.toLowerCase() === second[at]?.toLowerCase() ? [] : [at]));
  const [at] = differing;
  if (differing.length !== 1 || at === undefined || first.length < 2) return false;
  const [mine, theirs] = [first[at] ?? '', second[at] ?? ''];
  if (NUMBER.test(mine) && NUMBER.test(theirs)) return isAmount(first, at);
  return ALTERNATIVES.some((words) => words.includes(mine.toLowerCase()) && words.includes(theirs.toLowerCase()));
}

const NUMBER = /^\d[\d.,]*[a-z%]{0,3}$/i;
const BEFORE_AMOUNT = /^(?:to|is|=|most|least|than|of|by|every)$/i;

/** Whether a number counts or measures something. Behind a name it belongs to that: phase 1 besides phase 2, version 1.2 besides 1.3. */
function isAmount(words: readonly string[], at: number): boolean {
  return BEFORE_AMOUNT.test(words[at - 1] ?? '') || /[a-z%]$/i.test(words[at] ?? '');
}

/** Whether two texts end in different numbers of the same: `Retry 3 times`, `after 1 hour` and `after 2 hours`. */
function haveOtherCounts(first: readonly string[], second: readonly string[]): boolean {
  const at = first.length - 2;
  if (at < 1 || second.length !== first.length || isSameWord(first[at], second[at])) return false;
  const [one = '', other = ''] = [first.at(-1), second.at(-1)];
  const isUnit = /^\p{L}+$/u.test(one) && (one.startsWith(other) || other.startsWith(one));
  const isCount = [first, second].every((words) => WHOLE.test(words[at] ?? '')) && !isName(first, at - 1);
  return isUnit && isCount && first.slice(0, at).every((word, index) => isSameWord(word, second[index]));
}

const WHOLE = /^[1-9]\d*$/;

function isSameWord(one = '', other = ''): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Whether a word is written as a name, which the first one of a text always is. */
function isName(words: readonly string[], at: number): boolean {
  return at > 0 && VALUE.test(words[at] ?? '');
}

const VALUE = /^[\p{Lu}\d]/u;

/**
 * Whether two texts give one label different values. A label that names something is what was chosen, and a reason follows;
 * after a label of one word, and of several words, only what is written as a name or a number is a value.
 */
function haveOtherValues(first: readonly string[], second: readonly string[]): boolean {
  const end = first.findIndex((word) => word.endsWith(':'));
  const [label, one, other] = [first.slice(0, end + 1), first.slice(end + 1), second.slice(end + 1)];
  if (end === -1 || !label.every((word, at) => isSameWord(word, second[at]) && !isName(first, at))) return false;
  const isShort = (value: readonly string[]): boolean =>
    value.length > 0 && value.length <= MAX_VALUE_WORDS && !value.some((word) => word.endsWith(':'));
  const isValue = (value: readonly string[]): boolean =>
    isShort(value) && (VALUE.test(value[0] ?? '') || (label.length > 1 && value.length === 1));
  return isValue(one) && isValue(other) && !isSameWord(one.join(' '), other.join(' '));
}

const MAX_VALUE_WORDS = 2;

function listWords(text: string): string[] {
  return cleanLine(text)
    .replace(/[.!]+$/, '')
    .replace(/\bdo not\b/gi, 'not')
    .split(' ')
    .map((word) => word.replace(/^["'`(]+|["'`),;]+$/g, '').replace('\u2019', "'"))
    .filter((word) => word !== '');
}

/** Whether the longer text is the shorter one with a negation before it, or in it. */
function isNegated(longer: readonly string[], shorter: readonly string[]): boolean {
  if (longer.length !== shorter.length + 1 || shorter.length < 2) return false;
  const at = longer.findIndex((word, index) => word.toLowerCase() !== shorter[index]?.toLowerCase());
  const rest = longer.filter((_, index) => index !== at);
  const isSame = rest.every((word, index) => word.toLowerCase() === shorter[index]?.toLowerCase());
  return isSame && NEGATION.test((longer[at] ?? '').toLowerCase());
}
