import { findFailureLines } from '../distil/outcome.ts';
import { splitSegments } from '../distil/shell.ts';
import { findMark, type Marks } from '../handover/marks.ts';
import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { cleanLine, cleanText } from '../model/text.ts';
import { compareErrors, type ErrorShape, type Likeness, shapeError } from './error-shape.ts';
import { describeRemedy, idsOfRuns, type Remedy } from './remedy.ts';
import {
  gatherSessions,
  type Lead,
  lastMomentOf,
  lineOf,
  listOwnFacts,
  type Telling,
  type ToldSession,
} from './told-session.ts';

/** An error as one session met it. */
export interface SeenError {
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

/** A telling of how a command went. */
export interface Run {
  id: string;
  status: string | null;
  line: number | null;
  handover: Lead;
}

export interface ErrorsOptions {
  /** Handovers that may tell of an error with one of these lines, the newest first. */
  leads(lines: readonly string[]): AsyncIterable<Lead>;
  /** The runs that are told under one of these ids in a project. */
  runs(ids: readonly string[], project: string): AsyncIterable<Run>;
  read(id: string): Handover | null;
  marksOf(project: string): Marks;
  limit: number | null;
  home?: string | undefined;
}

export interface SeenErrors {
  /** The lines of what was asked that were looked for. */
  lines: string[];
  /** Those most alike first, and of these the newest. */
  seen: SeenError[];
  hasMore: boolean;
}

const MOST_SESSIONS = 50;

/** Whether an error was met before, in which sessions, and what made it go away. The text may be a whole trace. */
export async function askErrors(text: string, options: ErrorsOptions): Promise<SeenErrors> {
  const lines = findTellingLines(text);
  const shapes = lines.map(shapeError).filter((shape) => shape.text !== '');
  const likenessOf = (fact: Fact): Likeness | null => compareFact(fact, shapes);
  const { sessions, hasMore } = await gatherSessions(options.leads(lines), {
    read: options.read,
    accepts: ({ facts }) => facts.some((fact) => likenessOf(fact) !== null),
    limit: MOST_SESSIONS,
  });
  const found = sessions
    .flatMap((session) => listMatches(session, likenessOf))
    .sort((a, b) => RANKS.indexOf(a.likeness) - RANKS.indexOf(b.likeness));
  const limit = options.limit ?? found.length;
  const seen: SeenError[] = [];
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

function compareFact(fact: Fact, shapes: readonly ErrorShape[]): Likeness | null {
  const text = errorIn(fact);
  if (text === null) return null;
  const kept = shapeError(text);
  const found = new Set(shapes.map((shape) => compareErrors(shape, kept)));
  return RANKS.find((rank) => found.has(rank)) ?? null;
}

/** What went wrong, where a fact tells of that. */
function errorIn({ kind, status, text, detail, trust }: Fact): string | null {
  if (kind === 'error' || (kind === 'blocker' && trust === 'observed')) return text;
  const isRun = kind === 'check' || kind === 'command';
  return isRun && status === 'failed' && typeof detail?.outcome === 'string' ? detail.outcome : null;
}

interface Match extends Telling {
  likeness: Likeness;
  session: ToldSession;
}

/** The best of each command that failed: one failure has many lines, and its run tells one of them again. */
function listMatches(session: ToldSession, likenessOf: (fact: Fact) => Likeness | null): Match[] {
  const best = new Map<string, Match>();
  const own = listOwnFacts(session);
  const isError = ({ fact }: Telling): boolean => fact.kind === 'error';
  for (const telling of [...own.filter(isError), ...own.filter((one) => !isError(one))]) {
    const likeness = likenessOf(telling.fact);
    if (likeness === null) continue;
    const key = commandOf(telling.fact) ?? '';
    const before = best.get(key);
    if (before === undefined || RANKS.indexOf(likeness) < RANKS.indexOf(before.likeness))
      best.set(key, { ...telling, likeness, session });
  }
  return [...best.values()];
}

/** What failed, by what it is known by in all sessions. */
function commandOf({ kind, text, detail }: Fact): string | null {
  if (kind === 'error') return typeof detail?.command === 'string' ? detail.command : null;
  return kind === 'blocker' ? null : (splitSegments(text)[0]?.use ?? text);
}

async function describeSeen(match: Match, options: ErrorsOptions): Promise<SeenError> {
  const { fact, by, likeness, session } = match;
  const { newest } = session;
  const mark = findMark(fact, by, options.marksOf(by.project.id));
  const remedy = await findRemedy(match, options);
  const isClosed = remedy !== null || fact.status === 'closed' || mark?.mark === 'resolved';
  return {
    likeness,
    fact: fact.id,
    text: errorIn(fact) ?? fact.text,
    handover: by.id,
    agent: newest.session.agent,
    session: newest.session.id,
    project: { id: newest.project.id, name: newest.project.name },
    at: lastMomentOf(by),
    title: newest.title,
    command: commandOf(fact),
    state: isClosed ? 'closed' : 'open',
    because: mark?.because ?? null,
    remedy,
  };
}

/** Of the runs that succeeded after the failure, the first: of the same session before that of a later one. */
async function findRemedy({ fact, by }: Match, options: ErrorsOptions): Promise<Remedy | null> {
  const { home } = options;
  const from = lineOf(fact);
  const command = commandOf(fact);
  const own: Run[] = [];
  let later: Run | null = null;
  if (command !== null)
    for await (const run of options.runs(idsOfRuns(command), by.project.id)) {
      if (run.status !== 'ok' || run.line === null) continue;
      if (isSameSession(run.handover, by)) own.push(run);
      else if (run.handover.created_at > by.created_at) later = run;
    }
  const first = own
    .filter(({ line }) => line !== null && line > from)
    .reduce<Run | null>(
      (best, run) => (best === null || (run.line ?? 0) < (best.line ?? 0) ? run : best),
      null,
    );
  if (first !== null) return describeRun(first, { from, isLater: false }, options);
  // It is told to be closed, by a wider check perhaps: all that came after is what there is to tell.
  if (fact.status === 'closed')
    return describeRemedy(
      by,
      { from, to: Number.POSITIVE_INFINITY },
      { isLater: false, success: null, home },
    );
  return later === null ? null : describeRun(later, { from: -1, isLater: true }, options);
}

function isSameSession({ agent, session }: Lead, { session: own }: Handover): boolean {
  return session !== null && session === own.id && agent === own.agent;
}

function describeRun(
  run: Run,
  { from, isLater }: { from: number; isLater: boolean },
  { read, home }: ErrorsOptions,
): Remedy | null {
  const by = read(run.handover.id);
  const success = by?.facts.find(({ id }) => id === run.id) ?? null;
  if (by === null || success === null) return null;
  return describeRemedy(by, { from, to: lineOf(success) }, { isLater, success, home });
}
