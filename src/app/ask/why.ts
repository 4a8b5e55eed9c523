import { findMark, isCarriedOver, type Marks } from '../../handover/marks.ts';
import { isChangedFile } from '../../handover/outcome.ts';
import { type Fact, type FactKind, lineOf } from '../../model/fact.ts';
import { isGuess } from '../../model/fact-roles.ts';
import type { Handover } from '../../model/handover.ts';
import { baseName, locateInProject } from '../../model/paths.ts';
import { cleanLine } from '../../model/text.ts';
import type { Workspace } from '../../model/workspace.ts';
import type { FactState } from '../../search/query.ts';
import { makeMentionTest, PATH_MATCHES, type PathMatch, type PathQuery, testPaths } from './path-query.ts';
import * as summaries from './session-summary.ts';
import type { UncapturedQuestion } from './uncaptured.ts';

/** Something that was settled or said, and its state now. `text` is the whole of a decision, and of words what is about the file. */
export interface Reason extends Pick<Fact, 'id' | 'kind' | 'text' | 'trust' | 'origin'> {
  /** An agent or a commit says it: nobody settled it. */
  said: boolean;
  standing: FactState;
  because: string | null;
  /** `file`: it mentions the file. `request`: the work on it changed the file. `session`: it was settled in a session that changed the file. */
  about: 'file' | 'request' | 'session';
  handover: string;
}

/** A session that touched the file, or settled something about it. */
export interface WhySession extends summaries.SessionOrigin {
  goal: string;
  /** `change`: created, edited, deleted, read, mentioned, or named by hand. */
  touched: { path: string; change: string; edits: number; reads: number }[];
  reasons: Reason[];
  /** How many other reasons the session has. */
  more: number;
}

export interface Why {
  nearness: PathMatch;
  /** The newest first. */
  sessions: WhySession[];
  hasMore: boolean;
}

interface WhyOptions extends summaries.QuestionOptions {
  earlierNames: readonly string[];
}

/** Why a file is as it is. If nothing is known of its path, files with the same end of a path, then with the same name, are tried: files move. */
export async function askWhy(asked: PathQuery, options: WhyOptions): Promise<Why> {
  for (const nearness of PATH_MATCHES) {
    const tests = makePathTests(asked, nearness, options);
    const leads = await findCandidates(asked, tests, options);
    const { sessions, hasMore } = await summaries.gatherSessions(leads, {
      read: options.read,
      accepts: (handover) => handover.facts.some((fact) => tests.touches(fact, handover) || tests.settles(fact)),
      limit: options.limit,
    });
    if (sessions.length > 0) return { nearness, sessions: await describeSessions(sessions, tests, options), hasMore };
  }
  return { nearness: 'exact', sessions: [], hasMore: false };
}

/** How the text of sessions is asked about the same file: for words that name it, the human's before the agent's. */
export function askPassages(
  asked: PathQuery,
  options: Pick<WhyOptions, 'earlierNames' | 'home'>,
): Pick<UncapturedQuestion, 'texts' | 'quote'> {
  const { isAt, mentions } = makePathTests(asked, 'ending', options);
  const isBare = (line: string): boolean => !/\s/.test(line) && isAt(line);
  return {
    texts: [spellNames(asked, options.earlierNames)].filter((words) => words !== ''),
    quote: ({ speaker, text }, isCaptured = false) => {
      if (speaker === 'tool') return null;
      const lines = text.split('\n').map(cleanLine).filter(mentions);
      const line = lines.find((each) => !isBare(each)) ?? lines[0];
      // That a file was opened, a handover says.
      if (line === undefined || (isCaptured && isBare(line))) return null;
      return { text: line, worth: (speaker === 'human' ? 2 : 0) + (isBare(line) ? 0 : 1) };
    },
  };
}

function spellNames({ kind, path, typed, symbol }: PathQuery, earlierNames: readonly string[]): string {
  return symbol ?? (kind === 'file' ? [path, ...earlierNames].map(baseName).join(' ') : typed);
}

type PathTests = ReturnType<typeof makePathTests>;

/** What is asked, as tests of facts. */
function makePathTests(
  asked: PathQuery,
  nearness: PathMatch,
  { earlierNames, home }: Pick<WhyOptions, 'earlierNames' | 'home'>,
) {
  const names = new Set(earlierNames);
  const isNear = testPaths(asked, nearness);
  const isAt = (path: string): boolean => isNear(path) || names.has(path);
  const isMentioned = makeMentionTest(asked, isAt);
  const { symbol } = asked;
  const mentions = (text: string): boolean => (symbol === null ? isMentioned(text) : namesSymbol(text, symbol));
  const locate = (fact: Pick<Fact, 'text' | 'trust'>, place: Pick<Workspace, 'root' | 'folder'>): string =>
    locateInProject(fact, place, home);
  return {
    locate,
    isAt,
    mentions,
    isOfSymbol: symbol !== null,
    touches: (fact: Fact, { workspace, facts }: Handover): boolean =>
      fact.kind === 'file' &&
      isAt(locate(fact, workspace)) &&
      (symbol === null || hasSymbol(fact, symbol) || wasWorkedOn(symbol, baseName(fact.text), facts)),
    settles: (fact: Fact): boolean => isReason(fact) !== null && !isCarriedOver(fact) && mentions(textOf(fact)),
  };
}

const REASONS: readonly FactKind[] = ['decision', 'constraint', 'rejected', 'note', 'goal', 'reference'];

/** The handovers with a file fact for such a path, or with a reason that mentions it. */
async function findCandidates(
  asked: PathQuery,
  tests: PathTests,
  { source, earlierNames }: WhyOptions,
): Promise<AsyncIterable<summaries.HandoverRef>> {
  const names = asked.kind === 'file' ? [asked.path, ...earlierNames].map(baseName) : [];
  const files: FactKind[] = ['file'];
  const filters = names.length === 0 ? [{ kinds: files }] : [...new Set(names)].map((fileName) => ({ fileName }));
  const touching = filters.map((filter) =>
    summaries.filterFacts(source.facts(filter), ({ fact, handover }) => tests.isAt(tests.locate(fact, handover))),
  );
  const speaking = await source.mentions(spellNames(asked, earlierNames), REASONS);
  return summaries.listHolders([...touching, summaries.filterFacts(speaking, ({ fact }) => tests.mentions(fact.text))]);
}

/** A file fact lists symbols that the session worked on: those that it declared and spoke of; in earlier versions, by their weight. */
function hasSymbol({ detail }: Fact, symbol: string): boolean {
  const { declared, names } = detail ?? {};
  const known = Array.isArray(declared) ? declared.map(String) : Object.keys(Object(names));
  return known.some((name) => name === symbol || lastPart(name) === symbol);
}

/** Whether one of the last calls of the session names both the symbol and the file. */
function wasWorkedOn(symbol: string, file: string, facts: readonly Fact[]): boolean {
  const steps = facts.filter(({ detail }) => detail?.role === 'log').flatMap(({ text }) => text.split('\n'));
  return steps.some((step) => step.includes(file) && namesSymbol(step.replaceAll('\\n', ' '), symbol));
}

function lastPart(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf(':'), name.lastIndexOf('#')) + 1);
}

function namesSymbol(text: string, symbol: string): boolean {
  const name = lastPart(symbol);
  return [...text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]*/gu)].some(([word]) => word === name);
}

/** What was settled; and what was said: messages of the user, the words that closed a turn of the agent, commits. */
function isReason(fact: Fact): 'settled' | 'said' | null {
  const { kind, origin, trust, detail } = fact;
  if (kind === 'decision' || kind === 'constraint' || kind === 'rejected') return isGuess(fact) ? 'said' : 'settled';
  if (kind === 'reference') return detail?.about === 'commit' ? 'said' : null;
  if (kind !== 'note' && kind !== 'goal') return null;
  return origin === 'human' || trust === 'declared' || summaries.closesTurn(fact) ? 'said' : null;
}

/** A commit with its message. */
function textOf({ text, detail }: Fact): string {
  return typeof detail?.body === 'string' ? `${text}\n${detail.body}` : text;
}

/** The line that is about the file, of words and messages that are about much else. */
function quoteMention(fact: Fact, tests: PathTests): string {
  const text = textOf(fact);
  if (fact.kind === 'reference') {
    const line = text.split('\n').slice(1).find(tests.mentions);
    return line === undefined ? fact.text : `${fact.text}: ${cleanLine(line)}`;
  }
  if (!summaries.closesTurn(fact)) return fact.text;
  return quoteLine(text.split('\n'), tests);
}

const LIST_MARK = /^(?:#{1,6}|[-*+]|\d{1,2}[.)]) +/;

/** A line that only leads to the next one is quoted with it. */
function quoteLine(lines: readonly string[], { mentions }: PathTests): string {
  const plain = lines
    .map((line) => cleanLine(line.replaceAll('**', '')).replace(LIST_MARK, ''))
    .filter((line) => line !== '');
  const isWhole = (line: string): boolean => !line.endsWith(':');
  const whole = plain.find((line) => mentions(line) && isWhole(line));
  if (whole !== undefined) return whole;
  const at = plain.findIndex(mentions);
  return at === -1 ? plain.join(' ') : plain.slice(at, at + 2).join(' ');
}

async function describeSessions(
  sessions: readonly summaries.SessionSummary[],
  tests: PathTests,
  { source }: WhyOptions,
): Promise<WhySession[]> {
  const described = sessions.map(async (session): Promise<WhySession> => {
    const { newest } = session;
    const own = summaries.listOwnFacts(session);
    const touching = own.filter(({ fact, by }) => tests.touches(fact, by));
    return {
      ...summaries.describeOrigin(session),
      goal: summaries.findGoal(newest),
      touched: touching.map(({ fact, by }) => describeTouch(fact, tests.locate(fact, by.workspace))),
      ...listReasons(own, touching, { tests, marks: await source.marks(newest.project.id) }),
    };
  });
  return await Promise.all(described);
}

function describeTouch({ status, detail }: Fact, path: string): WhySession['touched'][number] {
  const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
  return { path, change: status ?? 'named', edits: count(detail?.edits), reads: count(detail?.reads) };
}

/** How many other reasons of a session that changed the file are shown. */
const MAX_OF_SESSION = 3;
/** How many words of the agent and commits about the file are shown, and how many requests that led to changes of it: the newest. */
const MAX_SAID = 5;

/** First those that mention the file, then requests that led to changes of it, then those nearest to its change; each in the order of the transcript. */
function listReasons(
  own: readonly summaries.SessionFact[],
  touching: readonly summaries.SessionFact[],
  { tests, marks }: { tests: PathTests; marks: Marks },
): Pick<WhySession, 'reasons' | 'more'> {
  const describe = ({ fact, by }: summaries.SessionFact, about: Reason['about']): Reason => {
    const { id, kind, trust, origin } = fact;
    const text = about === 'file' ? quoteMention(fact, tests) : fact.text;
    const said = origin !== 'human' && isReason(fact) === 'said';
    const mark = findMark(fact, by, marks);
    const standing = standingOf(fact, mark?.mark);
    const because = mark?.because ?? null;
    return { id, kind, text, trust, origin, said, standing, because, about, handover: by.id };
  };
  const about = own.filter(({ fact }) => tests.settles(fact)).sort(compareLines);
  const spoken = about.filter(({ fact }) => fact.origin !== 'human' && isReason(fact) === 'said');
  const older = new Set(spoken.slice(0, -MAX_SAID));
  const said = about.filter((each) => !older.has(each));
  const asked = tests.isOfSymbol ? [] : listRequests(own, touching).filter((each) => !about.includes(each));
  const requests = asked.slice(-MAX_SAID);
  const change = touching.find(({ fact }) => isChangedFile(fact));
  const changedAt = change === undefined ? 0 : lineOf(change.fact);
  const wayTo = ({ fact }: summaries.SessionFact): number => Math.abs(lineOf(fact) - changedAt);
  const settled = own
    .filter((each) => change !== undefined && isReason(each.fact) === 'settled' && ![...about, ...asked].includes(each))
    .sort((a, b) => wayTo(a) - wayTo(b));
  const others = settled.slice(0, MAX_OF_SESSION).sort(compareLines);
  return {
    reasons: [
      ...said.map((each) => describe(each, 'file')),
      ...requests.map((each) => describe(each, 'request')),
      ...others.map((each) => describe(each, 'session')),
    ],
    more: about.length + asked.length + settled.length - said.length - requests.length - others.length,
  };
}

/** The requests whose work changed one of these files: the note of a turn's work has the line of its request. What one settled is told as that. */
function listRequests(
  own: readonly summaries.SessionFact[],
  touching: readonly summaries.SessionFact[],
): summaries.SessionFact[] {
  const names = touching.filter(({ fact }) => isChangedFile(fact)).map(({ fact }) => baseName(fact.text));
  const turns = own.filter(({ fact: { text, detail } }) => {
    return detail?.role === 'work' && names.some((name) => text.split('; ', 1)[0]?.includes(` ${name} (`));
  });
  const lines = new Set(turns.map(({ fact }) => lineOf(fact)));
  for (const { fact } of own) if (isReason(fact) === 'settled') lines.delete(lineOf(fact));
  return own.filter(({ fact }) => summaries.isRequest(fact) && lines.has(lineOf(fact))).sort(compareLines);
}

function standingOf(fact: Fact, mark: string | undefined): FactState {
  if (mark === 'resolved' || mark === 'refuted' || mark === 'pinned') return mark;
  if (mark === 'unpinned') return 'open';
  if (fact.status === 'refuted') return 'refuted';
  return fact.pinned === true ? 'pinned' : 'open';
}

function compareLines(a: summaries.SessionFact, b: summaries.SessionFact): number {
  return lineOf(a.fact) - lineOf(b.fact);
}
