import { isChangedFile } from '../../handover/outcome.ts';
import { type Fact, lineOf } from '../../model/fact.ts';
import { isGuess } from '../../model/fact-roles.ts';
import type { Handover } from '../../model/handover.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import type { JournalEntry } from '../../model/journal-entry.ts';
import { lastWorkOf } from '../../model/time.ts';
import type { Commit } from '../../model/workspace.ts';
import { findGoal, findTitle, isRequest, listOwnFacts, type SessionSummary } from './session-summary.ts';
import type { UncapturedSession } from './uncaptured.ts';

/** What happened on one day, in UTC, the newest first. */
export interface Day {
  date: string;
  sessions: SessionOfDay[];
  marks: { at: string; mark: string; fact: string; text: string; because: string | null }[];
  commits: CommitOfDay[];
  /** Sessions that were never captured. */
  uncaptured: UncapturedOfDay[];
}

type UncapturedOfDay = Omit<UncapturedSession, 'passages' | 'more'>;

export type SessionOfDay = ReturnType<typeof describeSession>;
type CommitOfDay = Commit & { project: string };

interface TimelineOptions {
  uncaptured: readonly UncapturedOfDay[];
  /** Marks and deliveries, in order. */
  entries: readonly JournalEntry[];
  read(id: string): Handover | null;
  /** From when on; null for the day of the first session. */
  since: string | null;
  /** The ids of the project that is asked about, if it is one. */
  projects: readonly string[];
  /** The commits that are there now, besides those that sessions saw. */
  listCommits(since: string): CommitOfDay[];
}

/** What happened since then, the newest day first, and in a day the newest of each kind. */
export function buildTimeline(sessions: readonly SessionSummary[], options: TimelineOptions): Day[] {
  const { entries, read } = options;
  const days = new Map<string, Day>();
  const dayOf = (at: string): Day => {
    const date = at.slice(0, DATE_LENGTH);
    const day = days.get(date) ?? { date, sessions: [], marks: [], commits: [], uncaptured: [] };
    days.set(date, day);
    return day;
  };
  const delivered = entries.filter(({ event }) => DELIVERED.has(event));
  for (const session of sessions) {
    const described = describeSession(session, delivered);
    dayOf(described.at).sessions.push(described);
  }
  for (const { agent, session, project, at, title, open } of options.uncaptured)
    dayOf(at).uncaptured.push({ agent, session, project, at, title, open });
  const [first = ''] = sessions.map(({ newest }) => lastWorkOf(newest)).sort(compareCodeUnits);
  const begin = options.since ?? first.slice(0, DATE_LENGTH);
  const commits = begin === '' ? [] : [...listSeenCommits(sessions), ...options.listCommits(begin)];
  for (const commit of new Map(commits.map((each) => [each.hash, each])).values())
    if (commit.at >= begin) dayOf(commit.at).commits.push(commit);
  const projects = new Set([...options.projects, ...sessions.map(({ newest }) => newest.project.id)]);
  for (const entry of entries) {
    const isOurs = typeof entry.detail?.project === 'string' && projects.has(entry.detail.project);
    if (DELIVERED.has(entry.event) || !isOurs || entry.at < begin) continue;
    const { at, event: mark, reason: because = null } = entry;
    const fact = read(entry.subject)?.facts.find(({ id }) => id === entry.fact);
    if (fact !== undefined) dayOf(at).marks.push({ at, mark, fact: fact.id, text: fact.text, because });
  }
  for (const day of days.values())
    for (const list of [day.sessions, day.marks, day.commits, day.uncaptured])
      list.sort((a, b) => compareCodeUnits(b.at, a.at));
  return [...days.values()].sort((a, b) => compareCodeUnits(b.date, a.date));
}

const DATE_LENGTH = '2026-01-31'.length;
const DELIVERED: ReadonlySet<string> = new Set(['delivered', 'consumed']);

function describeSession(session: SessionSummary, delivered: readonly JournalEntry[]) {
  const { newest, handovers } = session;
  const own = listOwnFacts(session).map(({ fact }) => fact);
  const checks = (status: string): string[] =>
    own.filter((fact) => fact.kind === 'check' && fact.status === status).map(({ text }) => text);
  const ids = new Set(handovers.map(({ id }) => id));
  const inOrder = (test: (fact: Fact) => boolean): { id: string; text: string }[] =>
    own
      .filter(test)
      .sort((a, b) => lineOf(a) - lineOf(b))
      .map(({ id, text }) => ({ id, text }));
  return {
    /** Its newest handover, and how many it has. */
    handover: newest.id,
    handovers: handovers.length,
    agent: newest.session.agent,
    session: newest.session.id,
    project: { id: newest.project.id, name: newest.project.name },
    started_at: newest.session.started_at,
    at: lastWorkOf(newest),
    title: findTitle(newest),
    goal: findGoal(newest),
    /** What it was asked for, and its own commits, in their order. */
    requests: inOrder(isRequest),
    commits: [
      ...inOrder(({ kind, detail }) => kind === 'reference' && detail?.about === 'commit'),
      ...inOrder(({ detail }) => detail?.role === 'work').flatMap(listQuietCommits),
    ],
    /** What was settled. Where an agent only said so, nothing was. */
    decisions: own
      .filter((fact) => (fact.kind === 'decision' || fact.kind === 'rejected') && !isGuess(fact))
      .map(({ id, kind, text }) => ({ id, kind, text })),
    checks: { passed: checks('ok'), failed: checks('failed') },
    open_errors: own.filter(({ kind, status }) => kind === 'error' && status === 'open').length,
    files_changed: own.filter(isChangedFile).length,
    /** When its handovers were delivered to another session. */
    given_at: delivered.filter(({ subject }) => ids.has(subject)).map(({ at }) => at),
  };
}

/** Commits whose hash nobody printed, from what a turn did. */
function listQuietCommits({ id, text }: { id: string; text: string }): { id: string; text: string }[] {
  return Array.from(text.matchAll(/(?:^|; )committed "([^"]+)"/g), ([, subject]) => ({
    id,
    text: `commit: ${subject}`,
  }));
}

function listSeenCommits(sessions: readonly SessionSummary[]): CommitOfDay[] {
  return sessions.flatMap(({ handovers }) =>
    handovers.flatMap(({ workspace: { git }, project: { name: project } }) =>
      (git?.commits ?? []).map((commit) => ({ ...commit, project })),
    ),
  );
}
