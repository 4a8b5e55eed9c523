import { computeFactId, type Fact, type FactKind, getFileProbe, lineOf, readTold } from '../model/fact.ts';
import { FILE_CHANGES, isGuess, isUserMessage } from '../model/fact-roles.ts';
import type { Handover, HandoverDraft } from '../model/handover.ts';
import { isStanding } from '../model/message-lines.ts';
import { makeLater } from '../model/text.ts';
import type { GitFacts } from '../model/workspace.ts';
import { isRefuted } from './marks.ts';

/** Whether a fact is about a file that a session changed. */
export function isChangedFile(fact: Fact): boolean {
  return fact.kind === 'file' && FILE_CHANGES.has(fact.status);
}

/** The paths that differ from the last commit, as git lists them. */
export function listChanged(git: GitFacts): Set<string> {
  const files = [...git.staged, ...git.unstaged].map((file) => file.path);
  return new Set([...files, ...git.untracked, ...git.conflicted]);
}

const SETTLED: ReadonlySet<FactKind> = new Set(['decision', 'rejected']);

/**
 * Facts that hold until somebody says otherwise: declared (here or by a sender), settled and refuted ones, rules, and what
 * the user said: nobody but the user knows whether it was about one session.
 */
function isLasting(fact: Fact, isSameSession: boolean): boolean {
  const { trust } = readTold(fact) ?? fact;
  if (fact.pinned === true || trust === 'declared' || isRefuted(fact)) return true;
  if (isGuess(fact)) return false;
  if (SETTLED.has(fact.kind)) return true;
  if (isUserMessage(fact)) return isStanding(fact.text);
  if (fact.kind !== 'constraint') return false;
  return isSameSession || fact.origin !== 'human' || statesRule(fact.text);
}

const MAX_RULE_LENGTH = 600;

/** Whether a message of the user states a rule, which holds when there is another request. */
export function isRule(fact: Fact): boolean {
  const { detail } = fact;
  const isMessage = fact.kind === 'note' && typeof detail?.message === 'number' && detail.question === undefined;
  const isOfUser = (isMessage || fact.kind === 'goal') && fact.trust === 'quoted' && fact.origin === 'human';
  return isOfUser && fact.pinned !== true && fact.text.length < MAX_RULE_LENGTH && statesRule(fact.text);
}

/** An imperative at the start of a sentence or clause; in other languages, a word that is only used in rules. */
const RULES = [
  () =>
    /(?:^|[,;:(]\s*|\b(?:and|but|also|please|you|we|it|they|this|that)\s+)(?:never|always|must(?: not|n't)?|do not|don'?t ever)\b|^(?:please )?don'?t\b|^(?:from now on|going forward|in (?:the )?future|make sure|remember (?:to|that)|no (?:new|more than)|only use)\b/i,
  () =>
    /(?<!\p{L})(?:niemals|auf keinen fall|ab jetzt|nunca|jamás|siempre|sempre|jamais|désormais|никогда|нельзя)(?!\p{L})/iu,
  () => /必ず|絶対に|しないで|ないでください|不要|不准|必须|必須|一定要|绝不|絕不/u,
].map(makeLater);

function statesRule(text: string): boolean {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/)
    .map((sentence) => sentence.trim())
    .some((sentence) => !/[?？]$/.test(sentence) && RULES.some((getRule) => getRule().test(sentence)));
}

/**
 * What became of a fact in a later handover. `carried`: the same fact is there again. `holds`: the later handover does
 * not have it, but nothing contradicts it.
 */
export type Outcome =
  | { end: 'carried' }
  | { end: 'holds' }
  | { end: 'resolved'; reason: string }
  | { end: 'superseded'; by: string; reason: string }
  | { end: 'dropped'; reason: string };

type LaterDraft = Pick<HandoverDraft, 'facts' | 'session' | 'workspace'>;

/** The outcome of every fact of the earlier handover, by id and in its order. */
export function judgeOutcomes(earlier: Handover, later: LaterDraft): Map<string, Outcome> {
  const comparison = compareHandovers(earlier, later);
  return new Map(earlier.facts.map((fact) => [fact.id, judge(fact, comparison)]));
}

interface Comparison {
  known: ReadonlyMap<string, Fact>;
  now: ReadonlyMap<string, Fact>;
  isSameSession: boolean;
  git: GitFacts | null;
  /** The folder worked in, from the root of the worktree. */
  folder: string;
  /** The first line that the user rewound; null when none. */
  rewoundFrom: number | null;
}

function compareHandovers(earlier: Handover, later: LaterDraft): Comparison {
  const comparison: Comparison = {
    known: new Map(earlier.facts.map((fact) => [fact.id, fact])),
    now: new Map(later.facts.map((fact) => [fact.id, fact])),
    isSameSession: earlier.session.id !== null && earlier.session.id === later.session.id,
    git: later.workspace.git,
    folder: later.workspace.folder,
    rewoundFrom: null,
  };
  return comparison.isSameSession ? { ...comparison, rewoundFrom: findRewound(comparison) } : comparison;
}

function judge(fact: Fact, comparison: Comparison): Outcome {
  const now = comparison.now.get(fact.id);
  if (now !== undefined) return judgePresent(fact, now);
  if (isLasting(fact, comparison.isSameSession)) return judgeLasting(fact, comparison) ?? { end: 'holds' };
  return judgePassing(fact, comparison) ?? dropped(comparison.isSameSession ? NOT_AMONG_FACTS : EARLIER_SESSION);
}

const NOT_AMONG_FACTS = 'not among the facts kept any more';
const EARLIER_SESSION = 'of an earlier session';
const SUCCEEDED = 'the command succeeded later';
const REWOUND = 'rewound by the user';

function dropped(reason: string): Outcome {
  return { end: 'dropped', reason };
}

function judgePresent(before: Fact, now: Fact): Outcome {
  if (before.status === now.status) return { end: 'carried' };
  if (before.kind === 'error' && now.status === 'closed') return { end: 'resolved', reason: SUCCEEDED };
  const isDone = before.kind === 'task' && (now.status === 'completed' || now.status === 'cancelled');
  if (isDone && before.status !== 'completed' && before.status !== 'cancelled')
    return { end: 'resolved', reason: now.status ?? '' };
  const reason = `${before.status ?? 'without status'}, now ${now.status ?? 'without status'}`;
  return { end: 'superseded', by: now.id, reason };
}

function judgeLasting(fact: Fact, comparison: Comparison): Outcome | null {
  // A rule or a decision in the same words as a task holds when the task is done.
  const canBeDone = fact.kind !== 'constraint' && !SETTLED.has(fact.kind);
  const isDone = (facts: ReadonlyMap<string, Fact>): boolean =>
    facts.get(computeFactId('task', fact.text))?.status === 'completed';
  // What was declared when the task was done already is not about that.
  if (canBeDone && isDone(comparison.now) && !isDone(comparison.known))
    return { end: 'resolved', reason: 'completed as a task' };
  if (fact.pinned === true) return null;
  if (fact.trust !== 'declared')
    return (
      judgeRestated(fact, comparison) ??
      judgePlan(fact, comparison) ??
      judgeAnswer(fact, comparison) ??
      (isRewound(fact, comparison) ? dropped(REWOUND) : null)
    );
  if (fact.kind === 'file') return isDeleted(fact, comparison) ? dropped('deleted') : null;
  if (fact.kind !== 'goal' && fact.kind !== 'next') return null;
  const fits = ({ kind, trust }: Fact): boolean => kind === fact.kind && trust === 'declared';
  return supersedeByNew(comparison, `a newer ${fact.kind}`, fits);
}

/** Of plans only the last one holds. */
function judgePlan({ detail }: Fact, comparison: Comparison): Outcome | null {
  if (detail?.role !== 'plan') return null;
  return supersedeByNew(comparison, 'a newer plan', (other) => other.detail?.role === 'plan');
}

/** Of the answers to a question only the last one holds. */
function judgeAnswer(fact: Fact, comparison: Comparison): Outcome | null {
  const question = readQuestion(fact);
  if (question === null) return null;
  return supersedeByNew(comparison, 'a newer answer', (other) => readQuestion(other) === question);
}

/** The question that an answer is to, as facts are told apart by their texts; null for anything else. */
function readQuestion({ kind, text, detail }: Fact): string | null {
  const [question, answer] = text.split(' → ');
  return kind === 'decision' && detail?.role === 'answer' && answer !== undefined
    ? computeFactId('question', question ?? '')
    : null;
}

/** What a session said in passing ends with the session. Null when nothing is known to have ended it before. */
function judgePassing(fact: Fact, comparison: Comparison): Outcome | null {
  if (isRewound(fact, comparison)) return dropped(REWOUND);
  switch (fact.kind) {
    case 'goal':
      return judgeGoal(fact, comparison);
    case 'next':
      return supersedeByNew(comparison, 'a newer next step', (other) => other.kind === 'next');
    case 'task':
      return judgeTask(fact, comparison);
    case 'error':
      return judgeError(fact, comparison);
    case 'blocker':
      if (fact.trust === 'observed' && comparison.isSameSession)
        return { end: 'resolved', reason: 'the session went on' };
      return judgeWaiting(fact, comparison);
    case 'question':
      return judgeWaiting(fact, comparison);
    case 'running':
      return judgeRunning(fact, comparison);
    case 'file':
      return judgeFile(fact, comparison);
    case 'reference':
      return supersedeByNew(comparison, 'a newer mention', (other) => isAbout(other, fact));
    case 'note':
      return judgeNote(fact, comparison);
    default:
      return null;
  }
}

/** The status of a process that was looked for and has ended. */
export const ENDED = 'ended';

/** A process outlives its session if it is known which one it is. */
function judgeRunning(fact: Fact, { isSameSession }: Comparison): Outcome | null {
  if (fact.status === ENDED || (isSameSession && isOwn(fact))) return { end: 'resolved', reason: ENDED };
  const { probe } = fact;
  return probe !== undefined && 'process' in probe && probe.process !== null ? { end: 'holds' } : null;
}

/** An open task outlives its session: another list of tasks says nothing of it. */
function judgeTask(fact: Fact, comparison: Comparison): Outcome {
  if (comparison.isSameSession && isOwn(fact)) return dropped('taken out of the plan');
  if (fact.status === 'completed' || fact.status === 'cancelled') return dropped('planned in an earlier session');
  return { end: 'holds' };
}

function supersede(by: Fact | undefined, reason: string): Outcome | null {
  return by === undefined ? null : { end: 'superseded', by: by.id, reason };
}

/** By the first fitting fact that was not known before. */
function supersedeByNew(against: Comparison, reason: string, fits: (fact: Fact) => boolean): Outcome | null {
  const { now, known } = against;
  const newer = [...now.values()].find((fact) => !known.has(fact.id) && fits(fact));
  return supersede(newer, reason);
}

/** A request that says nothing by itself stands until there is another. */
function judgeGoal(fact: Fact, comparison: Comparison): Outcome {
  const restated = judgeRestated(fact, comparison);
  if (restated !== null) return restated;
  const { now } = comparison;
  const isAsked = ({ origin, detail }: Fact): boolean => origin === 'human' || typeof detail?.message === 'number';
  const goals = [...now.values()].filter((other) => other.kind === 'goal' && isAsked(other));
  const current = goals.find((goal) => goal.detail?.role === 'current') ?? goals[0];
  return supersede(current, 'a newer request') ?? { end: 'holds' };
}

/** Commands with other arguments have the same id: only the same one, or one without any, says what became of the error. */
function judgeError({ detail }: Fact, { now }: Comparison): Outcome | null {
  const command = detail?.command;
  if (typeof command !== 'string') return null;
  const names = typeof detail?.run === 'string' ? [detail.run, command] : [command];
  const run = names
    .flatMap((name) => [computeFactId('check', name), computeFactId('command', name)])
    .flatMap((id) => now.get(id) ?? [])[0];
  if (typeof detail?.run === 'string' && run?.text !== detail.run && run?.text !== command) return null;
  if (run?.status === 'ok') return { end: 'resolved', reason: SUCCEEDED };
  return run?.status === 'failed' ? supersede(run, 'the command fails in another way') : null;
}

/** Notes of which a session has one, by their role, and why a newer one takes the place of the last. */
const REPLACED: ReadonlyMap<unknown, string> = new Map([
  ['stopped', 'later words'],
  ['state', 'a later state'],
  ['log', 'later steps'],
]);

function judgeNote(fact: Fact, comparison: Comparison): Outcome | null {
  const reason = REPLACED.get(fact.detail?.role);
  if (reason === undefined) return judgeRestated(fact, comparison);
  return supersedeByNew(comparison, reason, ({ detail }) => detail?.role === fact.detail?.role);
}

/** A session has many of these, and a newer one does not replace an older one. */
const MANY: ReadonlySet<unknown> = new Set([undefined, 'commit', 'link']);

function isAbout({ kind, detail }: Fact, other: Fact): boolean {
  return kind === 'reference' && !MANY.has(detail?.about) && detail?.about === other.detail?.about;
}

function judgeFile(fact: Fact, comparison: Comparison): Outcome | null {
  if (isDeleted(fact, comparison)) return dropped('deleted');
  const { git, folder } = comparison;
  const isTold = git !== null && git.changed_total !== null && !git.changed_cut;
  if (!isTold || !isChangedFile(fact)) return null;
  if (!listChanged(git).has(pathOf(fact, folder))) return dropped('no longer changed in the working tree');
  // What it says is left to do is not committed yet.
  return getFileProbe(fact)?.todos === undefined ? null : { end: 'holds' };
}

function isDeleted(fact: Fact, { git, folder }: Comparison): boolean {
  const path = pathOf(fact, folder);
  const files = [...(git?.staged ?? []), ...(git?.unstaged ?? [])];
  return files.some((file) => file.change === 'deleted' && file.path === path);
}

function pathOf(fact: Fact, folder: string): string {
  return folder === '' ? fact.text : `${folder}/${fact.text}`;
}

const MESSAGE_KINDS: readonly FactKind[] = ['goal', 'constraint', 'note'];

/** A message of the user is a goal while it is the current one, and a constraint or a note later, with the same text. */
function findRestated(fact: Fact, now: ReadonlyMap<string, Fact>): Fact | null {
  if (typeof fact.detail?.message !== 'number' && !isUserMessage(fact)) return null;
  for (const kind of MESSAGE_KINDS) {
    const other = now.get(computeFactId(kind, fact.text));
    if (other?.origin === fact.origin) return other;
  }
  return null;
}

function judgeRestated(fact: Fact, comparison: Comparison): Outcome | null {
  const restated = findRestated(fact, comparison.now);
  return restated === null ? null : supersede(restated, `now told as a ${restated.kind}`);
}

/**
 * The line of the earliest message of the user that is gone from a transcript which still has an earlier one: the user went
 * back to before it. Where all earlier ones are gone too, the transcript was only cut at its beginning.
 */
function findRewound({ known, now }: Comparison): number | null {
  const messages = [...known.values()]
    .filter((fact) => typeof fact.detail?.message === 'number' && isOwn(fact))
    .map((fact) => ({ line: lineOf(fact), isThere: findRestated(fact, now) !== null }))
    .sort((a, b) => a.line - b.line);
  const first = messages.findIndex(({ isThere }) => isThere);
  const gone = first === -1 ? undefined : messages.slice(first).find(({ isThere }) => !isThere);
  return gone?.line ?? null;
}

function isRewound(fact: Fact, comparison: Comparison): boolean {
  const { rewoundFrom } = comparison;
  if (rewoundFrom === null || !isOwn(fact) || findRestated(fact, comparison.now) !== null) return false;
  return lineOf(fact) >= rewoundFrom;
}

/** Seen in the session of its handover, not carried over from an earlier one. */
function isOwn(fact: Fact): boolean {
  return fact.sources.some((source) => source.line !== undefined && source.session === undefined);
}

/** What waits for the user is resolved when the user has spoken. */
function judgeWaiting(fact: Fact, comparison: Comparison): Outcome | null {
  if (!comparison.isSameSession) return null;
  const isAnswered = [...comparison.now.values()].some(
    (other) => typeof other.detail?.message === 'number' && isOwn(other) && lineOf(other) > lineOf(fact),
  );
  return isAnswered ? { end: 'resolved', reason: 'the user has spoken since' } : null;
}
