import { findFailureLines } from '../../distill/outcome.ts';
import { findMark } from '../../handover/marks.ts';
import { isChangedFile } from '../../handover/outcome.ts';
import { computeFactId, type Fact, type FactKind } from '../../model/fact.ts';
import { isProgressNote } from '../../model/fact-roles.ts';
import type { Handover } from '../../model/handover.ts';
import { baseName, locateInProject } from '../../model/paths.ts';
import { cleanLine, cleanText } from '../../model/text.ts';
import type { FactDocument } from '../../search/finder.ts';
import {
  describeOrigin,
  type FactSource,
  filterFacts,
  gatherSessions,
  type HandoverRef,
  lineOf,
  listOwnFacts,
  mergeCandidates,
  type QuestionOptions,
  type SessionFact,
  type SessionOrigin,
  type SessionSummary,
} from './session-summary.ts';

/** What an error is recognised by when it comes up again. */
interface NormalisedError {
  /** Its words, with a placeholder for every path, number, hash and time. */
  text: string;
  /** The base names of the paths in it. */
  files: string[];
}

const URL = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s'"`<>)\]]+/g;
const TIME =
  /\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?/g;
const ADDRESS = /(?<![\w.])(?:(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?|\[?::(?:1|ffff:[\d.]+)?\]?:\d+)(?![\w.])/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const HEX = /\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b/g;
/** Parts with slashes between them, or a name with an extension before a position. */
const PATH =
  /(?<![\w.@+~-])(?:(?:[a-z]:[\\/]|~[\\/]|\.{0,2}[\\/])?(?:[\w.@+~-]+[\\/])+[\w.@+-]+|(?:[a-z]:|~)?[\\/][\w.@+-]+|[\w.-]+\.[a-z]\w{0,5}(?=:\d|\(\d|", line ))/g;
/** All numbers but status codes, which say what went wrong. */
const NUMBER =
  /(?<![\p{L}\p{N}_<])(?<!\b(?:code|status|errno|signal|http)[ :=]{1,2})[+-]?\d+(?:[.,_]\d+)*(?:[a-zµ%]{1,3}\b)?(?![\p{L}\p{N}_])/gu;
/** The position after a path. */
const POSITION = /<path>(?:(?::<n>)+|\(<n>(?:, ?<n>)?\)|", line <n>)?[\s:-]*/g;
const OUTER_PUNCTUATION = /^[^\p{L}\p{N}<]+|[^\p{L}\p{N}>]+$/gu;

/** Idempotent. */
export function normaliseError(line: string): NormalisedError {
  const files: string[] = [];
  const notePath = (path: string): string => {
    const name = baseName(path);
    if (!files.includes(name)) files.push(name);
    return '<path>';
  };
  const text = cleanLine(line)
    .toLowerCase()
    .replace(URL, '<url>')
    .replace(ADDRESS, '<n>')
    .replace(TIME, '<n>')
    .replace(UUID, '<hash>')
    .replace(HEX, '<hash>')
    .replace(PATH, notePath)
    .replace(NUMBER, '<n>')
    .replace(POSITION, '<path> ')
    .replace(/\s+/g, ' ')
    .replace(OUTER_PUNCTUATION, '');
  return { text, files };
}

/** `same`: the same words and files. `alike`: the same words, other files. `near`: most of the words. */
type Similarity = 'same' | 'alike' | 'near';

const MIN_SHARED_WORDS = 0.6;
const MIN_PART_LENGTH = 16;

/** Null for a different error. */
export function compareErrors(asked: NormalisedError, recorded: NormalisedError): Similarity | null {
  if (asked.text === recorded.text || isPart(asked.text, recorded.text) || isPart(recorded.text, asked.text)) {
    const isOfOthers =
      asked.files.length > 0 && recorded.files.length > 0 && !asked.files.some((file) => recorded.files.includes(file));
    return isOfOthers ? 'alike' : 'same';
  }
  return compareWords(asked.text, recorded.text) >= MIN_SHARED_WORDS ? 'near' : null;
}

/** A recorded error may be cut, or lack what the program printed around it. */
function isPart(part: string, whole: string): boolean {
  return part.length >= MIN_PART_LENGTH && whole.includes(part);
}

const PLACEHOLDER_WORDS: ReadonlySet<string> = new Set(['n', 'path', 'hash', 'url', 'error', 'failed']);
const MIN_WORDS = 3;

/** The Jaccard similarity of the words. */
function compareWords(a: string, b: string): number {
  const wordsOf = (text: string): Set<string> =>
    new Set((text.match(/[\p{L}_][\p{L}\p{N}_.]*/gu) ?? []).filter((word) => !PLACEHOLDER_WORDS.has(word)));
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (Math.min(left.size, right.size) < MIN_WORDS) return 0;
  const both = [...left].filter((word) => right.has(word)).length;
  return both / (left.size + right.size - both);
}

/** What the facts show between a failure and the next success of the same command. */
export interface Remedy {
  handover: string;
  /** Whether it was done in another session than the failure. */
  isLater: boolean;
  /** The command that succeeded; null when only the success is known. */
  succeeded: string | null;
  files: { path: string; change: string }[];
  commands: string[];
  /** What the agent said about the cause or the fix. */
  said: string[];
}

const MAX_PER_KIND = 8;
const MAX_QUOTED = 2;
const CAUSE_OR_FIX =
  /\b(?:root cause|caus(?:e|ed|ing)|because|turns? out|fix(?:es|ed|ing)?|the (?:problem|issue|bug) (?:is|was))\b/i;

/** Describes the facts of a handover between two lines of its transcript, both excluded. */
function describeRemedy(
  by: Handover,
  success: Fact | null,
  { from, isLater, home }: { from: number; isLater: boolean; home?: string | undefined },
): Remedy {
  const to = success === null ? Number.POSITIVE_INFINITY : lineOf(success);
  const between = by.facts
    .filter((fact) => isBetween(fact, from, to) && fact.id !== success?.id)
    .sort((a, b) => lineOf(a) - lineOf(b));
  const textsOf = (facts: readonly Fact[]): string[] => facts.map(({ text }) => text);
  return {
    handover: by.id,
    isLater,
    succeeded: success?.text ?? null,
    files: between
      .filter(isChangedFile)
      .slice(-MAX_PER_KIND)
      .map((fact) => ({ path: locateInProject(fact, by.workspace, home), change: fact.status ?? '' })),
    commands: textsOf(between.filter(isSuccess).slice(-MAX_PER_KIND)),
    said: by.facts
      .filter((fact) => isExplanation(fact, from, to))
      .sort((a, b) => lineOf(a) - lineOf(b))
      .flatMap(quoteCause)
      .slice(0, MAX_QUOTED),
  };
}

function isSuccess({ kind, status }: Fact): boolean {
  return (kind === 'command' || kind === 'check') && status === 'ok';
}

/** Words of the agent between the failure and the success, or those that ended the turn. */
function isExplanation(fact: Fact, from: number, to: number): boolean {
  if (!SPOKEN_KINDS.has(fact.kind) || fact.origin !== 'agent' || isStep(fact) || !CAUSE_OR_FIX.test(fact.text))
    return false;
  return isBetween(fact, from, CLOSING.has(fact.detail?.role) ? Number.POSITIVE_INFINITY : to);
}

const CLOSING: ReadonlySet<unknown> = new Set(['closing', 'stopped']);

function isStep(fact: Fact): boolean {
  return isProgressNote(fact) && fact.detail?.role !== 'working';
}

/** Of words that say more, the line about the cause or the fix. */
function quoteCause({ text }: Fact): string[] {
  const line = text.split('\n').find((words) => CAUSE_OR_FIX.test(words));
  return line === undefined ? [] : [cleanLine(line)];
}

const SPOKEN_KINDS: ReadonlySet<Fact['kind']> = new Set(['decision', 'rejected', 'note']);

/** A fact carried over from another session has a line of another transcript. */
function isBetween({ sources: [source] }: Fact, from: number, to: number): boolean {
  if (source?.line === undefined || source.session !== undefined) return false;
  return source.line > from && source.line < to;
}

export interface PastError extends SessionOrigin {
  likeness: Similarity;
  fact: string;
  text: string;
  /** What failed with it. */
  command: string | null;
  /** `unknown`: nobody saw the command pass since, nor fail again. */
  state: 'open' | 'closed' | 'unknown';
  /** Why it was marked as resolved or refuted. */
  because: string | null;
  /** What made it go away, if known. */
  remedy: Remedy | null;
}

export interface ErrorsAnswer {
  lines: string[];
  /** The most similar first, and of these the newest. */
  seen: PastError[];
  hasMore: boolean;
}

const MAX_SESSIONS = 50;

/** The sessions that met an error before, and what made it go away. The text may be a whole stack trace. */
export async function askErrors(text: string, options: QuestionOptions): Promise<ErrorsAnswer> {
  const lines = findErrorLines(text);
  const shapes = lines.map(normaliseError).filter((shape) => shape.text !== '');
  const likenessOf = (fact: Fact): Similarity | null => compareFact(fact, shapes);
  const { sessions, hasMore } = await gatherSessions(await findCandidates(shapes, options), {
    read: options.read,
    accepts: ({ facts }) => facts.some((fact) => likenessOf(fact) !== null),
    limit: MAX_SESSIONS,
  });
  const found = sessions
    .flatMap((session) => listMatches(session, likenessOf))
    .sort((a, b) => RANKS.indexOf(a.likeness) - RANKS.indexOf(b.likeness));
  const limit = options.limit ?? found.length;
  const seen: PastError[] = [];
  for (const match of found.slice(0, limit)) seen.push(await describePastError(match, options));
  return { lines, seen, hasMore: hasMore || found.length > limit };
}

const RANKS: readonly Similarity[] = ['same', 'alike', 'near'];
const MAX_LINES = 12;
const MAX_LINE_LENGTH = 1000;
/** A line of a stack trace. */
const FRAME = /^\s*(?:at\s.+[:)]|File ".+", line \d+|\d+:\s|.+\.\w+:\d+:in\s|\^+$|goroutine \d+)/;

/** The lines that a capture would record as errors, or the last lines when there are none. */
function findErrorLines(text: string): string[] {
  const clean = cleanText(text)
    .split('\n')
    .map((line) => line.slice(0, MAX_LINE_LENGTH))
    .filter((line) => !FRAME.test(line))
    .join('\n');
  const telling = findFailureLines(clean, MAX_LINES);
  if (telling.length > 0) return telling;
  const lines = clean.split('\n').map(cleanLine);
  return lines.filter((line) => line !== '').slice(-MAX_LINES);
}

const ERRORS: readonly FactKind[] = ['error', 'blocker'];

async function findCandidates(
  shapes: readonly NormalisedError[],
  { source }: QuestionOptions,
): Promise<AsyncIterable<HandoverRef>> {
  const lists: FactDocument[][] = [];
  for (const shape of shapes) {
    const found = await source.mentions(shape.text.replace(/<\w+>/g, ' '), ERRORS);
    lists.push(found.filter(({ fact }) => compareErrors(shape, normaliseError(fact.text)) !== null));
  }
  return mergeCandidates(lists.map((list) => filterFacts(list, () => true)));
}

function compareFact(fact: Fact, shapes: readonly NormalisedError[]): Similarity | null {
  if (!ERRORS.includes(fact.kind)) return null;
  const recorded = normaliseError(fact.text);
  const found = new Set(shapes.map((shape) => compareErrors(shape, recorded)));
  return RANKS.find((rank) => found.has(rank)) ?? null;
}

type Match = SessionFact & { likeness: Similarity; session: SessionSummary };

/** The best match per failed command: one failure has many lines. */
function listMatches(session: SessionSummary, likenessOf: (fact: Fact) => Similarity | null): Match[] {
  const best = new Map<string, Match>();
  for (const each of listOwnFacts(session)) {
    const likeness = likenessOf(each.fact);
    if (likeness === null) continue;
    const key = commandOf(each.fact) ?? '';
    const before = best.get(key);
    if (before === undefined || RANKS.indexOf(likeness) < RANKS.indexOf(before.likeness))
      best.set(key, { ...each, likeness, session });
  }
  return [...best.values()];
}

function commandOf({ detail }: Fact): string | null {
  return typeof detail?.command === 'string' ? detail.command : null;
}

async function describePastError(match: Match, options: QuestionOptions): Promise<PastError> {
  const { fact, by, likeness, session } = match;
  const mark = findMark(fact, by, await options.source.marks(by.project.id));
  const remedy = await findRemedy(match, options);
  const isClosed = remedy !== null || fact.status === 'closed' || mark?.mark === 'resolved';
  return {
    likeness,
    fact: fact.id,
    text: fact.text,
    ...describeOrigin(session, by),
    command: commandOf(fact),
    state: isClosed ? 'closed' : fact.status === 'unknown' ? 'unknown' : 'open',
    because: mark?.because ?? null,
    remedy,
  };
}

/** What came before the next success of the command, preferably in the same session. */
async function findRemedy({ fact, by }: Match, options: QuestionOptions): Promise<Remedy | null> {
  const { home } = options;
  const from = lineOf(fact);
  const { own, later } = await findSuccess(commandOf(fact), { by, from, source: options.source });
  if (own !== null) return describeRun(own, { from, isLater: false }, options);
  // Closed without a run of this command, perhaps by a wider check: everything after the failure counts.
  if (fact.status === 'closed') return describeRemedy(by, null, { from, isLater: false, home });
  return later === null ? null : describeRun(later, { from: -1, isLater: true }, options);
}

async function findSuccess(
  command: string | null,
  { by, from, source }: { by: Handover; from: number; source: FactSource },
): Promise<{ own: FactDocument | null; later: FactDocument | null }> {
  let own: FactDocument | null = null;
  let later: FactDocument | null = null;
  if (command === null) return { own, later };
  const ids = [computeFactId('check', command), computeFactId('command', command)];
  for await (const run of source.occurrences(ids, by.project.id)) {
    const { fact, handover } = run;
    if (fact.status !== 'ok' || fact.line === null) continue;
    const { agent, session } = handover;
    if (session !== null && session === by.session.id && agent === by.session.agent) {
      if (fact.line > from && fact.line < (own?.fact.line ?? Number.POSITIVE_INFINITY)) own = run;
    } else if (handover.at > by.created_at) later = run;
  }
  return { own, later };
}

function describeRun(
  { fact, handover }: FactDocument,
  { from, isLater }: { from: number; isLater: boolean },
  { read, home }: QuestionOptions,
): Remedy | null {
  const by = read(handover.id);
  const success = by?.facts.find(({ id }) => id === fact.id) ?? null;
  return by === null || success === null ? null : describeRemedy(by, success, { from, isLater, home });
}
