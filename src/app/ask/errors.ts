import { findFailureLines } from '../../distill/outcome.ts';
import { isChangedFile } from '../../handover/changed-files.ts';
import { findMark } from '../../handover/marks.ts';
import { computeFactId, type Fact, type FactKind } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { baseName, locateInProject } from '../../model/paths.ts';
import { cleanLine, cleanText } from '../../model/text.ts';
import type { FactDocument } from '../../search/finder.ts';
import {
  type FactSource,
  filterFacts,
  gatherSessions,
  type HandoverRef,
  lastActivityOf,
  lineOf,
  listOwnFacts,
  mergeLeads,
  type SessionFact,
  type SessionSummary,
} from './session-summary.ts';

/** What an error is recognised by, wherever and whenever it comes up again. */
export interface ErrorShape {
  /** The words of it, with a mark for every path, number, hash and time. */
  text: string;
  /** The last parts of the paths in it: they tell whether it is of the same file. */
  files: string[];
}

const URL = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s'"`<>)\]]+/g;
const TIME =
  /\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?/g;
/** Where a program listens or calls. */
const ADDRESS =
  /(?<![\w.])(?:(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?|\[?::(?:1|ffff:[\d.]+)?\]?:\d+)(?![\w.])/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const HEX = /\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b/g;
/** Parts with slashes between them, or a name with an ending that a position follows. */
const PATH =
  /(?<![\w.@+~-])(?:(?:[a-z]:[\\/]|~[\\/]|\.{0,2}[\\/])?(?:[\w.@+~-]+[\\/])+[\w.@+-]+|(?:[a-z]:|~)?[\\/][\w.@+-]+|[\w.-]+\.[a-z]\w{0,5}(?=:\d|\(\d|", line ))/g;
/** A status tells what went wrong, as no other number does. */
const NUMBER =
  /(?<![\p{L}\p{N}_<])(?<!\b(?:code|status|errno|signal|http)[ :=]{1,2})[+-]?\d+(?:[.,_]\d+)*(?:[a-zµ%]{1,3}\b)?(?![\p{L}\p{N}_])/gu;
/** Behind a path, and how programs go on after it. */
const POSITION = /<path>(?:(?::<n>)+|\(<n>(?:, ?<n>)?\)|", line <n>)?[\s:-]*/g;
const FRINGES = /^[^\p{L}\p{N}<]+|[^\p{L}\p{N}>]+$/gu;

/** Taking the shape of a shape changes nothing. */
export function shapeError(line: string): ErrorShape {
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
    .replace(FRINGES, '');
  return { text, files };
}

/** How a kept error stands to one that is asked about. */
export type Likeness = 'same' | 'alike' | 'near';

const NEAR = 0.6;
const SHORTEST_PART = 16;

/** `same`: the same words of the same files. `alike`: of other ones. `near`: most of the words. Null: another error. */
export function compareErrors(asked: ErrorShape, kept: ErrorShape): Likeness | null {
  if (asked.text === kept.text || isPart(asked.text, kept.text) || isPart(kept.text, asked.text)) {
    const isOfOthers =
      asked.files.length > 0 &&
      kept.files.length > 0 &&
      !asked.files.some((file) => kept.files.includes(file));
    return isOfOthers ? 'alike' : 'same';
  }
  return shareWords(asked.text, kept.text) >= NEAR ? 'near' : null;
}

/** What was kept may be cut, or stand without what a program wrote around it. */
function isPart(part: string, whole: string): boolean {
  return part.length >= SHORTEST_PART && whole.includes(part);
}

function wordsOf(text: string): Set<string> {
  return new Set((text.match(/[\p{L}_][\p{L}\p{N}_.]*/gu) ?? []).filter((word) => !MARKS.has(word)));
}

const MARKS: ReadonlySet<string> = new Set(['n', 'path', 'hash', 'url', 'error', 'failed']);
const FEWEST_WORDS = 3;

/** Of all the words in either of them, how many are in both. */
function shareWords(a: string, b: string): number {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (Math.min(left.size, right.size) < FEWEST_WORDS) return 0;
  const both = [...left].filter((word) => right.has(word)).length;
  return both / (left.size + right.size - both);
}

/** What was done between a failure and the success of the same command, as far as facts tell. */
export interface Remedy {
  /** The handover that tells of it. */
  handover: string;
  /** Whether another session than the one that failed did it. */
  isLater: boolean;
  /** What succeeded; null where only that it did is known. */
  succeeded: string | null;
  files: { path: string; change: string }[];
  commands: string[];
  /** What the agent said of the cause or the cure. */
  said: string[];
}

/** The ids under which the runs of a command are told. */
export function idsOfRuns(command: string): string[] {
  return [computeFactId('check', command), computeFactId('command', command)];
}

/** A stretch of a session, between two lines of its transcript; both ends are left out. */
interface Stretch {
  from: number;
  to: number;
}

const MOST_OF_A_KIND = 8;
const MOST_SAID = 2;
const CURE =
  /\b(?:root cause|caus(?:e|ed|ing)|because|turns? out|fix(?:es|ed|ing)?|the (?:problem|issue|bug) (?:is|was))\b/i;

/** What a handover tells of the stretch in which an error went away. */
export function describeRemedy(
  by: Handover,
  stretch: Stretch,
  { isLater, success, home }: { isLater: boolean; success: Fact | null; home?: string | undefined },
): Remedy {
  const between = by.facts
    .filter((fact) => isIn(fact, stretch) && fact.id !== success?.id)
    .sort((a, b) => lineOf(a) - lineOf(b));
  return {
    handover: by.id,
    isLater,
    succeeded: success?.text ?? null,
    files: between
      .filter(isChangedFile)
      .slice(-MOST_OF_A_KIND)
      .map((fact) => ({
        path: locateInProject(fact, by.workspace, home),
        change: fact.status ?? '',
      })),
    commands: between
      .filter(({ kind, status }) => (kind === 'command' || kind === 'check') && status === 'ok')
      .slice(-MOST_OF_A_KIND)
      .map(({ text }) => text),
    said: between
      .filter(({ kind, origin, text }) => SPOKEN.has(kind) && origin === 'agent' && CURE.test(text))
      .slice(-MOST_SAID)
      .map(({ text }) => text),
  };
}

const SPOKEN: ReadonlySet<Fact['kind']> = new Set(['decision', 'rejected', 'note']);

/** Only what the session itself did: the line of something taken over is of another transcript. */
function isIn({ sources: [source] }: Fact, { from, to }: Stretch): boolean {
  if (source?.line === undefined || source.session !== undefined) return false;
  return source.line > from && source.line < to;
}

/** An error as one session met it. */
export interface PastError {
  likeness: Likeness;
  fact: string;
  text: string;
  handover: string;
  agent: string;
  session: string | null;
  project: { id: string; name: string };
  at: string;
  title: string;
  /** What failed with it. */
  command: string | null;
  state: 'open' | 'closed';
  /** Why somebody marked it as resolved or refuted. */
  because: string | null;
  /** What made it go away, as far as that is told. */
  remedy: Remedy | null;
}

export interface ErrorsOptions {
  source: FactSource;
  read(id: string): Handover | null;
  limit: number | null;
  home?: string | undefined;
}

export interface ErrorsAnswer {
  /** The lines of what was asked that were looked for. */
  lines: string[];
  /** Those most alike first, and of these the newest. */
  seen: PastError[];
  hasMore: boolean;
}

const MOST_SESSIONS = 50;

/** Whether an error was met before, in which sessions, and what made it go away. The text may be a whole trace. */
export async function askErrors(text: string, options: ErrorsOptions): Promise<ErrorsAnswer> {
  const lines = findTellingLines(text);
  const shapes = lines.map(shapeError).filter((shape) => shape.text !== '');
  const likenessOf = (fact: Fact): Likeness | null => compareFact(fact, shapes);
  const { sessions, hasMore } = await gatherSessions(await findLeads(shapes, options), {
    read: options.read,
    accepts: ({ facts }) => facts.some((fact) => likenessOf(fact) !== null),
    limit: MOST_SESSIONS,
  });
  const found = sessions
    .flatMap((session) => listMatches(session, likenessOf))
    .sort((a, b) => RANKS.indexOf(a.likeness) - RANKS.indexOf(b.likeness));
  const limit = options.limit ?? found.length;
  const seen: PastError[] = [];
  for (const match of found.slice(0, limit)) seen.push(await describeSeen(match, options));
  return { lines, seen, hasMore: hasMore || found.length > limit };
}

const RANKS: readonly Likeness[] = ['same', 'alike', 'near'];
const MOST_LINES = 12;
const LONGEST_LINE = 1000;
/** A line that only tells where the program was. */
const FRAME = /^\s*(?:at\s.+[:)]|File ".+", line \d+|\d+:\s|.+\.\w+:\d+:in\s|\^+$|goroutine \d+)/;

/** The lines that a capture would have kept as errors; of a text without any, what it has. */
export function findTellingLines(text: string): string[] {
  const clean = cleanText(text)
    .split('\n')
    .map((line) => line.slice(0, LONGEST_LINE))
    .filter((line) => !FRAME.test(line))
    .join('\n');
  const telling = findFailureLines(clean, MOST_LINES);
  if (telling.length > 0) return telling;
  return clean
    .split('\n')
    .map(cleanLine)
    .filter((line) => line !== '')
    .slice(-MOST_LINES);
}

const ERRORS: readonly FactKind[] = ['error', 'blocker'];

async function findLeads(
  shapes: readonly ErrorShape[],
  { source }: ErrorsOptions,
): Promise<AsyncIterable<HandoverRef>> {
  const lists: FactDocument[][] = [];
  for (const shape of shapes) {
    const words = shape.text.replace(/<\w+>/g, ' ');
    const found = await source.mentions(words, ERRORS);
    lists.push(found.filter(({ fact }) => compareErrors(shape, shapeError(fact.text)) !== null));
  }
  return mergeLeads(lists.map((list) => filterFacts(list, () => true)));
}

function compareFact(fact: Fact, shapes: readonly ErrorShape[]): Likeness | null {
  if (!ERRORS.includes(fact.kind)) return null;
  const kept = shapeError(fact.text);
  const found = new Set(shapes.map((shape) => compareErrors(shape, kept)));
  return RANKS.find((rank) => found.has(rank)) ?? null;
}

interface Match extends SessionFact {
  likeness: Likeness;
  session: SessionSummary;
}

/** The best of each command that failed: one failure has many lines. */
function listMatches(session: SessionSummary, likenessOf: (fact: Fact) => Likeness | null): Match[] {
  const best = new Map<string, Match>();
  for (const telling of listOwnFacts(session)) {
    const likeness = likenessOf(telling.fact);
    if (likeness === null) continue;
    const key = commandOf(telling.fact) ?? '';
    const before = best.get(key);
    if (before === undefined || RANKS.indexOf(likeness) < RANKS.indexOf(before.likeness))
      best.set(key, { ...telling, likeness, session });
  }
  return [...best.values()];
}

function commandOf({ detail }: Fact): string | null {
  return typeof detail?.command === 'string' ? detail.command : null;
}

async function describeSeen(match: Match, options: ErrorsOptions): Promise<PastError> {
  const { fact, by, likeness, session } = match;
  const { newest } = session;
  const mark = findMark(fact, by, await options.source.marks(by.project.id));
  const remedy = await findRemedy(match, options);
  const isClosed = remedy !== null || fact.status === 'closed' || mark?.mark === 'resolved';
  return {
    likeness,
    fact: fact.id,
    text: fact.text,
    handover: by.id,
    agent: newest.session.agent,
    session: newest.session.id,
    project: { id: newest.project.id, name: newest.project.name },
    at: lastActivityOf(by),
    title: newest.title,
    command: commandOf(fact),
    state: isClosed ? 'closed' : 'open',
    because: mark?.because ?? null,
    remedy,
  };
}

/** By the first run that succeeded after the failure: of the same session, before that of a later one. */
async function findRemedy({ fact, by }: Match, options: ErrorsOptions): Promise<Remedy | null> {
  const { home } = options;
  const from = lineOf(fact);
  const { own, later } = await findSuccess(commandOf(fact), { by, from, options });
  if (own !== null) return describeRun(own, { from, isLater: false }, options);
  // It is told to be closed, by a wider check perhaps: all that came after is what there is to tell.
  if (fact.status === 'closed')
    return describeRemedy(
      by,
      { from, to: Number.POSITIVE_INFINITY },
      { isLater: false, success: null, home },
    );
  return later === null ? null : describeRun(later, { from: -1, isLater: true }, options);
}

interface Failure {
  by: Handover;
  from: number;
  options: ErrorsOptions;
}

async function findSuccess(
  command: string | null,
  { by, from, options }: Failure,
): Promise<{ own: FactDocument | null; later: FactDocument | null }> {
  let own: FactDocument | null = null;
  let later: FactDocument | null = null;
  if (command === null) return { own, later };
  for await (const run of options.source.tellings(idsOfRuns(command), by.project.id)) {
    const { fact, handover } = run;
    if (fact.status !== 'ok' || fact.line === null) continue;
    if (isSameSession(handover, by)) {
      if (fact.line > from && fact.line < (own?.fact.line ?? Number.POSITIVE_INFINITY)) own = run;
    } else if (handover.at > by.created_at) later = run;
  }
  return { own, later };
}

function isSameSession({ agent, session }: HandoverRef, { session: own }: Handover): boolean {
  return session !== null && session === own.id && agent === own.agent;
}

function describeRun(
  { fact, handover }: FactDocument,
  { from, isLater }: { from: number; isLater: boolean },
  { read, home }: ErrorsOptions,
): Remedy | null {
  const by = read(handover.id);
  const success = by?.facts.find(({ id }) => id === fact.id) ?? null;
  if (by === null || success === null) return null;
  return describeRemedy(by, { from, to: lineOf(success) }, { isLater, success, home });
}
