import { gatherSessions } from '../../../app/ask/session-summary.ts';
import { buildTimeline, type Day, type SessionOfDay } from '../../../app/ask/timeline.ts';
import { findStore, withCatalog } from '../../../app/context.ts';
import { bold, dim, green, type Part, red } from '../../../app/describe/styled-text.ts';
import { readIntact } from '../../../store/handovers.ts';
import { readEntriesOf } from '../../../store/journal.ts';
import { sortByWork } from '../../../store/newest.ts';
import type { CliContext } from '../context.ts';
import { suggestAll, toLimit } from '../filters.ts';
import { command } from '../flags.ts';
import type { Output } from '../output.ts';
import { type QuestionFlags, questionFlags, shorten, suggestWider, toScope } from '../questions.ts';

export const timeline = command('timeline', runTimeline, { flags: questionFlags });

const SESSIONS_SHOWN = 20;
const SHOWN_ENTRIES = ['delivered', 'consumed', 'pinned', 'resolved', 'refuted'] as const;

async function runTimeline(this: CliContext, flags: QuestionFlags): Promise<void> {
  const { out, err } = this;
  const scope = await toScope(flags, this);
  const store = findStore(this);
  const read = (id: string) => readIntact(store, id);
  const options = { read, accepts: () => true, limit: toLimit(flags, SESSIONS_SHOWN) };
  const { sessions, hasMore } = await withCatalog(this, store, (catalog) =>
    gatherSessions(sortByWork(catalog.rows(scope)), options),
  );
  const entries = sessions.length === 0 ? [] : readEntriesOf(store, SHOWN_ENTRIES);
  const days = buildTimeline(sessions, { entries, read });
  if (flags.json) return out.json({ days, has_more: hasMore });
  const told = days.flatMap((day) => day.sessions.flatMap(({ commits }) => commits.map(({ text }) => hashOf(text))));
  for (const { commits, ...day } of days) {
    const others = commits.filter(({ hash }) => !told.some((known) => known !== '' && hash.startsWith(known)));
    printDay(out, { ...day, commits: others }, flags.all);
  }
  if (days.length === 0) {
    out.line('no handovers found');
    err.line(dim('next: '), suggestWider(flags, 'timeline'));
  }
  if (hasMore) err.line(dim(`there are earlier sessions; show all: ${suggestAll('timeline', flags)}`));
}

const COMMITS_OF_A_DAY = 10;

function printDay(out: Output, { date, sessions, marks, commits }: Day, all: boolean): void {
  out.line(bold(date));
  for (const session of sessions) printSession(out, session, all);
  for (const { at, mark, text, because } of marks) {
    const why = because === null ? '' : `; because: ${shorten(because)}`;
    out.line(dim(`  ${timeOf(at)}  `), `${mark}: ${shorten(text)}${why}`);
  }
  for (const { hash, at, subject } of commits.slice(0, COMMITS_OF_A_DAY))
    out.line(dim(`  ${timeOf(at)}  commit ${hash.slice(0, 10)}  `), subject);
  if (commits.length > COMMITS_OF_A_DAY)
    out.line(dim(`         and ${commits.length - COMMITS_OF_A_DAY} more commits`));
}

/** Of a commit that a session made: its fact begins with the hash as git printed it. */
function hashOf(text: string): string {
  return /^commit ([0-9a-f]{7,40})\b/.exec(text)?.[1] ?? '';
}

function timeOf(at: string): string {
  return at.slice('2026-01-31T'.length, '2026-01-31T12:00'.length);
}

const DECISIONS_SHOWN = 3;
const REQUESTS_SHOWN = 3;
const COMMITS_SHOWN = 5;

function printSession(out: Output, session: SessionOfDay, all: boolean): void {
  const { at, agent, goal, decisions, checks } = session;
  const project = all ? `${session.project.name}: ` : '';
  out.line(dim(`  ${timeOf(at)}  `), `${agent.padEnd(12)}  ${project}${shorten(goal)}`);
  const requests = session.requests.filter(({ text }) => text !== goal);
  if (requests.length > REQUESTS_SHOWN)
    out.line(dim(`         and ${requests.length - REQUESTS_SHOWN} earlier requests`));
  for (const { text } of requests.slice(-REQUESTS_SHOWN)) out.line(dim('         asked: '), shorten(text));
  const { commits } = session;
  for (const { text } of commits.slice(-COMMITS_SHOWN)) out.line(dim('         '), shorten(text));
  for (const { kind, text } of decisions.slice(0, DECISIONS_SHOWN))
    out.line(dim(`         ${kind === 'decision' ? 'decided' : 'rejected'}: `), shorten(text));
  if (decisions.length > DECISIONS_SHOWN)
    out.line(dim(`         and ${decisions.length - DECISIONS_SHOWN} more decisions`));
  const outcomes: Part[] = [
    ...checks.failed.map((text) => red(`${text} failed`)),
    ...checks.passed.map((text) => green(`${text} passed`)),
  ];
  if (outcomes.length > 0)
    out.line(dim('         checks: '), ...outcomes.flatMap((part, at) => (at === 0 ? [part] : [', ', part])));
  out.line(dim(`         ${describeRest(session)}`));
}

function describeRest({ files_changed, open_errors, given_at, handover, handovers }: SessionOfDay): string {
  const [given] = given_at.slice(-1);
  return [
    ...(files_changed === 0 ? [] : [`${files_changed} ${files_changed === 1 ? 'file' : 'files'} changed`]),
    ...(open_errors === 0 ? [] : [`${open_errors} ${open_errors === 1 ? 'error' : 'errors'} open`]),
    ...(given === undefined ? [] : [`resumed ${given.slice(0, 10)} ${timeOf(given)}`]),
    handovers === 1 ? handover : `${handover} and ${handovers - 1} before it`,
  ].join(', ');
}
