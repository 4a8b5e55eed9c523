import { findFailureLines } from '../../distill/outcome.ts';
import { findMark } from '../../handover/marks.ts';
import type { Fact, FactKind } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { cleanLine, cleanText } from '../../model/text.ts';
import type { FoundFact } from '../../search/finder.ts';
import { compareErrors, type ErrorShape, type Likeness, shapeError } from './error-shape.ts';
import { type FactSource, filterFacts, mergeLeads } from './fact-source.ts';
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

export interface ErrorsOptions {
  source: FactSource;
  read(id: string): Handover | null;
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
  const { sessions, hasMore } = await gatherSessions(await findLeads(shapes, options), {
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

const ERRORS: readonly FactKind[] = ['error', 'blocker'];

async function findLeads(
  shapes: readonly ErrorShape[],
  { source }: ErrorsOptions,
): Promise<AsyncIterable<Lead>> {
  const lists: FoundFact[][] = [];
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

interface Match extends Telling {
  likeness: Likeness;
  session: ToldSession;
}

/** The best of each command that failed: one failure has many lines. */
function listMatches(session: ToldSession, likenessOf: (fact: Fact) => Likeness | null): Match[] {
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

async function describeSeen(match: Match, options: ErrorsOptions): Promise<SeenError> {
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
    at: lastMomentOf(by),
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
): Promise<{ own: FoundFact | null; later: FoundFact | null }> {
  let own: FoundFact | null = null;
  let later: FoundFact | null = null;
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

function isSameSession({ agent, session }: Lead, { session: own }: Handover): boolean {
  return session !== null && session === own.id && agent === own.agent;
}

function describeRun(
  { fact, handover }: FoundFact,
  { from, isLater }: { from: number; isLater: boolean },
  { read, home }: ErrorsOptions,
): Remedy | null {
  const by = read(handover.id);
  const success = by?.facts.find(({ id }) => id === fact.id) ?? null;
  if (by === null || success === null) return null;
  return describeRemedy(by, { from, to: lineOf(success) }, { isLater, success, home });
}
