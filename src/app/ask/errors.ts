import { findFailureLines } from '../../distill/outcome.ts';
import { mayWrite } from '../../distill/touched-files.ts';
import { findMark } from '../../handover/marks.ts';
import { isChangedFile } from '../../handover/outcome.ts';
import { computeFactId, type Fact, type FactKind, lineOf } from '../../model/fact.ts';
import { isProgressNote } from '../../model/fact-roles.ts';
import type { Handover } from '../../model/handover.ts';
import { baseName, locateInProject } from '../../model/paths.ts';
import { cleanLine, cleanText } from '../../model/text.ts';
import { lastWorkOf } from '../../model/time.ts';
import type { FactDocument } from '../../search/finder.ts';
import { type AskedError, compareLine, listWords, MIN_WORDS, normaliseError, type Similarity } from './error-shape.ts';
import * as summaries from './session-summary.ts';
import type { UncapturedQuestion } from './uncaptured.ts';

/** What was changed between a failure and the next success of the same command. */
export interface Remedy {
  handover: string;
  /** Whether it was done in another session than the failure. */
  isLater: boolean;
  /** The command that succeeded. */
  succeeded: string;
  /** Those that the error names, if any of them was changed; else all. */
  files: { path: string; change: string }[];
  commands: string[];
  /** What the agent said about the cause or the fix, where it names one of these files. */
  said: string[];
}

const MAX_PER_KIND = 8;
const MAX_QUOTED = 2;
const CAUSE_OR_FIX =
  /\b(?:root cause|caus(?:e|ed|ing)|because|turns? out|fix(?:es|ed|ing)?|the (?:problem|issue|bug) (?:is|was))\b/i;

/** Names of branches and files in backticks say nothing of it. */
function namesCause(words: string): boolean {
  return CAUSE_OR_FIX.test(words.replace(/`[^`\n]*`/g, ''));
}

interface Recovery {
  error: Fact;
  success: Fact;
  /** The line of the failure; -1 when it was in an earlier session. */
  from: number;
  home?: string | undefined;
}

/** Null where nothing was changed: that it passed later says nothing about why. */
function describeRemedy(by: Handover, { error, success, from, home }: Recovery): Remedy | null {
  const to = lineOf(success);
  const between = by.facts
    .filter((fact) => isBetween(fact, from, to) && fact.id !== success.id)
    .sort((a, b) => lineOf(a) - lineOf(b));
  const changed = between.filter(isChangedFile);
  const blamed = new Set(normaliseError(error.text).files);
  const named = changed.filter(({ text }) => blamed.has(baseName(text).toLowerCase()));
  const files = (named.length > 0 ? named : changed).slice(-MAX_PER_KIND);
  // Where files were changed, only what changes files may have had a part in it.
  const runs = between.filter(isRun).filter(({ text }) => changed.length === 0 || mayWrite(text));
  if (files.length + runs.length === 0) return null;
  const names = files.map(({ text }) => baseName(text));
  return {
    handover: by.id,
    isLater: from < 0,
    succeeded: success.text,
    files: files.map((fact) => ({ path: locateInProject(fact, by.workspace, home), change: fact.status ?? '' })),
    commands: runs.slice(-MAX_PER_KIND).map(({ text }) => text),
    said: by.facts
      .filter((fact) => isExplanation(fact, from, to) && names.some((name) => fact.text.includes(name)))
      .sort((a, b) => lineOf(a) - lineOf(b))
      .flatMap(quoteCause)
      .slice(0, MAX_QUOTED),
  };
}

/** A command that ran and is no check: checks change nothing. */
function isRun({ kind, status }: Fact): boolean {
  return kind === 'command' && status === 'ok';
}

/** Words of the agent between the failure and the success, or those that ended the turn. */
function isExplanation(fact: Fact, from: number, to: number): boolean {
  if (!SPOKEN_KINDS.has(fact.kind) || fact.origin !== 'agent' || isStep(fact) || !namesCause(fact.text)) return false;
  return isBetween(fact, from, summaries.closesTurn(fact) ? Number.POSITIVE_INFINITY : to);
}

function isStep(fact: Fact): boolean {
  return isProgressNote(fact) && fact.detail?.role !== 'working';
}

/** Of words that say more, the line about the cause or the fix. */
function quoteCause({ text }: Fact): string[] {
  const line = text.split('\n').find(namesCause);
  return line === undefined ? [] : [cleanLine(line)];
}

const SPOKEN_KINDS: ReadonlySet<Fact['kind']> = new Set(['decision', 'rejected', 'note']);

/** A fact carried over from another session has a line of another transcript. */
function isBetween({ sources: [source] }: Fact, from: number, to: number): boolean {
  if (source?.line === undefined || source.session !== undefined) return false;
  return source.line > from && source.line < to;
}

export interface PastError extends summaries.SessionOrigin {
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
export async function askErrors(text: string, options: summaries.QuestionOptions): Promise<ErrorsAnswer> {
  const lines = findErrorLines(text);
  const shapes = describeAsked(lines);
  const likenessOf = (fact: Fact): Similarity | null => compareFact(fact, shapes);
  const { sessions, hasMore } = await summaries.gatherSessions(await findCandidates(shapes, options), {
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

/** Whether a call of the agent's own tool failed, such as `Read` or `apply_patch`: it goes on in another way. */
function isOfTool(fact: Fact): boolean {
  return fact.status !== 'open' && /^(?:[A-Z]\w*|[a-z]+_\w+)$/.test(commandOf(fact) ?? '');
}

/** How many sessions are looked at for a list of errors, the newest. */
const MAX_LISTED_SESSIONS = 30;
const STATES: readonly PastError['state'][] = ['open', 'unknown', 'closed'];

/** The errors of the newest sessions, the last of each command: first those that are open, and of these the newest. */
export async function listErrors(options: summaries.QuestionOptions): Promise<ErrorsAnswer> {
  const isError = (fact: Fact): boolean => fact.kind === 'error' && !isOfTool(fact);
  const failing = summaries.listHolders([options.source.facts({ kinds: ['error'] })]);
  const accepts = ({ facts }: Handover): boolean => facts.some(isError);
  const { sessions, hasMore } = await summaries.gatherSessions(failing, {
    read: options.read,
    accepts,
    limit: MAX_LISTED_SESSIONS,
  });
  const last = new Map<string, Match>();
  for (const session of sessions)
    for (const match of listMatches(session, (fact) => (isError(fact) ? 'same' : null))) {
      const key = `${match.by.project.id}\n${commandOf(match.fact) ?? match.fact.id}`;
      if (!last.has(key)) last.set(key, match);
    }
  const seen: PastError[] = [];
  for (const match of last.values()) seen.push(await describePastError(match, options));
  seen.sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
  const limit = options.limit ?? seen.length;
  return { lines: [], seen: seen.slice(0, limit), hasMore: hasMore || seen.length > limit };
}

function describeAsked(lines: readonly string[]): AskedError[] {
  // Of a whole trace, a line of few words is in every other.
  const isShort = (line: string): boolean => lines.length > 1 && line.split(' ').length < MIN_WORDS;
  return lines
    .map((line) => ({ ...normaliseError(line), words: isShort(line) ? '' : line.toLowerCase() }))
    .filter((shape) => shape.text !== '');
}

/** How the text of sessions is asked for the same error: by its words, then line by line. */
export function askPassages(text: string): Pick<UncapturedQuestion, 'texts' | 'quote'> {
  const shapes = describeAsked(findErrorLines(text));
  const words = new Set(shapes.flatMap((shape) => listWords(shape.text)));
  const least = Math.min(2, words.size);
  // Looking at the shape of every line would take long.
  const mayBe = (line: string): boolean =>
    listWords(line.toLowerCase()).filter((word) => words.has(word)).length >= least;
  return {
    texts: shapes.map(spellWords),
    quote: ({ text: said }) => {
      const lines = said.split('\n').map((line) => line.slice(0, MAX_LINE_LENGTH));
      const found = lines.filter(mayBe).flatMap((line) => {
        const likeness = compareShapes(line, shapes);
        return likeness === null ? [] : [{ text: line, worth: -RANKS.indexOf(likeness) }];
      });
      return found.sort((a, b) => b.worth - a.worth)[0] ?? null;
    },
  };
}

const RANKS: readonly Similarity[] = ['same', 'alike', 'part', 'near'];
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
  const failures = findFailureLines(clean, MAX_LINES);
  if (failures.length > 0) return failures;
  const lines = clean.split('\n').map(cleanLine);
  return lines.filter((line) => line !== '').slice(-MAX_LINES);
}

const ERRORS: readonly FactKind[] = ['error', 'blocker'];

async function findCandidates(
  shapes: readonly AskedError[],
  { source }: summaries.QuestionOptions,
): Promise<AsyncIterable<summaries.HandoverRef>> {
  const lists: FactDocument[][] = [];
  for (const shape of shapes) {
    const found = await source.mentions(spellWords(shape), ERRORS);
    lists.push(found.filter(({ fact }) => compareLine(shape, fact.text) !== null));
  }
  return summaries.listHolders(lists.map((list) => summaries.filterFacts(list, () => true)));
}

function spellWords({ text, words }: AskedError): string {
  return text.replace(/<\w+>/g, ' ').trim() || words;
}

function compareFact(fact: Fact, shapes: readonly AskedError[]): Similarity | null {
  return ERRORS.includes(fact.kind) ? compareShapes(fact.text, shapes) : null;
}

function compareShapes(line: string, shapes: readonly AskedError[]): Similarity | null {
  const recorded = normaliseError(line);
  const found = new Set(shapes.map((shape) => compareLine(shape, line, recorded)));
  return RANKS.find((rank) => found.has(rank)) ?? null;
}

type Match = summaries.SessionFact & { likeness: Similarity; session: summaries.SessionSummary };

/** The best match per failed command: one failure has many lines. */
function listMatches(session: summaries.SessionSummary, likenessOf: (fact: Fact) => Similarity | null): Match[] {
  const best = new Map<string, Match>();
  for (const each of summaries.listOwnFacts(session)) {
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

async function describePastError(match: Match, options: summaries.QuestionOptions): Promise<PastError> {
  const { fact, by, likeness, session } = match;
  const mark = findMark(fact, by, await options.source.marks(by.project.id));
  const { hasPassed, remedy } = await findRemedy(match, options);
  const isClosed = hasPassed || fact.status === 'closed' || mark?.mark === 'resolved';
  return {
    likeness,
    fact: fact.id,
    text: fact.text,
    ...summaries.describeOrigin(session, by),
    command: commandOf(fact),
    state: isClosed ? 'closed' : fact.status === 'unknown' ? 'unknown' : 'open',
    because: mark?.because ?? null,
    remedy,
  };
}

/** What was changed before the next success of the command: in the same session, or in the one that followed it. */
async function findRemedy(
  { fact, by }: Match,
  options: summaries.QuestionOptions,
): Promise<{ hasPassed: boolean; remedy: Remedy | null }> {
  const { home, read } = options;
  const from = lineOf(fact);
  const { own, later } = await findSuccess(commandOf(fact), { by, from, source: options.source });
  const run = own ?? later;
  const handover = run === null ? null : read(run.handover.id);
  const success = handover?.facts.find(({ id }) => id === run?.fact.id);
  if (handover === null || success === undefined) return { hasPassed: false, remedy: null };
  const followed = handover.previous === null ? null : read(handover.previous)?.session.id;
  if (own === null && followed !== by.session.id) return { hasPassed: true, remedy: null };
  const recovery = { error: fact, success, from: own === null ? -1 : from, home };
  return { hasPassed: true, remedy: describeRemedy(handover, recovery) };
}

async function findSuccess(
  command: string | null,
  { by, from, source }: { by: Handover; from: number; source: summaries.FactSource },
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
    } else if (handover.workedAt > lastWorkOf(by)) later = run;
  }
  return { own, later };
}
