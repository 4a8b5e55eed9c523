import { gatherSessions } from '../../../app/ask/session-summary.ts';
import { buildTimeline, type Day, type SessionOfDay } from '../../../app/ask/timeline.ts';
import { findStore, withCatalog } from '../../../app/context.ts';
import { bold, dim, green, type Part, red } from '../../../app/describe/styled-text.ts';
import { NO_AGENT } from '../../../model/fact-roles.ts';
import type { Handover } from '../../../model/handover.ts';
import { compareCodeUnits } from '../../../model/hash.ts';
import { cleanLine, countNouns } from '../../../model/text.ts';
import { formatTimestamp, lastWorkOf } from '../../../model/time.ts';
import { readCommitsSince } from '../../../platform/git-state.ts';
import { identifyProject } from '../../../platform/project.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { listByWork, listProjectIds, withAliases } from '../../../store/catalog.ts';
import { readIntact } from '../../../store/handovers.ts';
import { readEntriesOf } from '../../../store/journal.ts';
import type { CliContext } from '../context.ts';
import { suggestAll, toLimit } from '../filters.ts';
import { command } from '../flags.ts';
import type { Output } from '../output.ts';
import { type AskFlags, askFlags, askUncapturedSessions, printNext, shorten, toScope } from '../questions.ts';

export const timeline = command('timeline', runTimeline, { flags: askFlags });

const SESSIONS_SHOWN = 20;
const SHOWN_ENTRIES = ['delivered', 'consumed', 'pinned', 'resolved', 'refuted'] as const;

async function runTimeline(this: CliContext, flags: AskFlags): Promise<void> {
  const { out, err } = this;
  const scope = await toScope(flags, this);
  const store = findStore(this);
  const read = (id: string) => readIntact(store, id);
  const { project, sinceMs = null } = withAliases(store, scope);
  const since = sinceMs === null ? null : formatTimestamp(sinceMs);
  const accepts = (handover: Handover): boolean => since === null || lastWorkOf(handover) >= since;
  const limit = toLimit(flags, SESSIONS_SHOWN);
  const options = { read, accepts, limit };
  const { sessions, hasMore } = await withCatalog(this, store, (catalog) =>
    gatherSessions(listByWork(catalog, scope), options),
  );
  const uncaptured = await askUncapturedSessions(this, { scope, limit, texts: null });
  const [first = ''] = hasMore ? sessions.slice(-1).map(({ newest }) => lastWorkOf(newest)) : [];
  const days = buildTimeline(sessions, {
    uncaptured: uncaptured.sessions.filter(({ at }) => at >= first),
    entries: readEntriesOf(store, SHOWN_ENTRIES),
    read,
    since,
    projects: project === undefined ? [] : listProjectIds(project),
    listCommits: (begin) => (flags.all || flags.project !== undefined ? [] : listCommitsHere(this, begin)),
  });
  if (flags.json) return out.json({ days, has_more: hasMore || uncaptured.hasMore, session_index: uncaptured.index });
  const listed = days.flatMap((day) => day.sessions.flatMap(({ commits }) => commits.map(({ text }) => hashOf(text))));
  for (const { commits, ...day } of days) {
    const others = commits.filter(({ hash }) => !listed.some((known) => known !== '' && hash.startsWith(known)));
    printDay(out, { ...day, commits: others }, flags.all);
  }
  if (days.length === 0) {
    out.line(since === null ? 'no handovers found' : 'nothing happened since then, as far as is known');
    await printNext(this, flags, 'timeline');
  }
  if (hasMore || uncaptured.hasMore)
    err.line(dim(`there are earlier sessions; show all: ${suggestAll('timeline', flags)}`));
}

function listCommitsHere({ machine }: CliContext, since: string): Day['commits'] {
  const { root, name: project, git } = identifyProject('.', machine);
  if (git !== 'present') return [];
  const redactor = openRedactor(machine, { folder: root, makesKey: false });
  const commits = readCommitsSince(root, Date.parse(since), machine);
  return commits.map((commit) => ({ ...commit, subject: redactor.redactText(commit.subject), project }));
}

const COMMITS_OF_A_DAY = 10;

/** The newest first, whatever it is. */
function printDay(out: Output, { date, sessions, marks, commits, uncaptured }: Day, all: boolean): void {
  out.line(bold(date));
  const printMark = ({ at, mark, text, because }: Day['marks'][number]): void => {
    const why = because === null ? '' : `; because: ${shorten(because)}`;
    out.line(dim(`  ${timeOf(at)}  `), `${mark}: ${shorten(text)}${why}`);
  };
  const printCommit = ({ hash, at, subject }: Day['commits'][number]): void =>
    out.line(dim(`  ${timeOf(at)}  commit ${hash.slice(0, 10)}  `), subject);
  const entries = [
    ...sessions.map((session) => ({ at: session.at, print: () => printSession(out, session, all) })),
    ...uncaptured.map((session) => ({ at: session.at, print: () => printUncaptured(out, session, all) })),
    ...marks.map((mark) => ({ at: mark.at, print: () => printMark(mark) })),
    ...commits.slice(0, COMMITS_OF_A_DAY).map((commit) => ({ at: commit.at, print: () => printCommit(commit) })),
  ];
  for (const { print } of entries.sort((a, b) => compareCodeUnits(b.at, a.at))) print();
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

const HEAD_COLUMNS = '  12:00  claude-code   '.length;
const DECISIONS_SHOWN = 3;
const REQUESTS_SHOWN = 3;
const COMMITS_SHOWN = 5;

function printSession(out: Output, session: SessionOfDay, all: boolean): void {
  const { at, agent, title, decisions, checks } = session;
  const project = all ? `${session.project.name}: ` : '';
  out.line(dim(`  ${timeOf(at)}  `), `${agent.padEnd(12)}  `, out.fit(`${project}${shorten(title)}`, HEAD_COLUMNS));
  const requests = session.requests.filter(({ text }) => !cleanLine(text).startsWith(title.replace(/…$/, '')));
  if (requests.length > REQUESTS_SHOWN)
    out.line(dim(`         and ${requests.length - REQUESTS_SHOWN} earlier requests`));
  for (const { text } of requests.slice(-REQUESTS_SHOWN)) out.line(dim('         asked: '), out.fit(shorten(text), 16));
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

function printUncaptured(out: Output, session: Day['uncaptured'][number], all: boolean): void {
  const { at, agent, project, title, open } = session;
  const name = all && project !== null ? `${project.name}: ` : '';
  out.line(
    dim(`  ${timeOf(at)}  `),
    `${agent.padEnd(12)}  `,
    out.fit(`${name}${shorten(title ?? 'without a title')}`, HEAD_COLUMNS),
  );
  out.line(dim(`         from a session, not captured; see it: ${open}`));
}

function describeRest(described: SessionOfDay): string {
  const { agent, session, files_changed, open_errors, given_at, handover, handovers } = described;
  const [given] = given_at.slice(-1);
  return [
    ...(files_changed === 0 ? [] : [`${countNouns(files_changed, 'file')} changed`]),
    ...(open_errors === 0 ? [] : [`${countNouns(open_errors, 'error')} open`]),
    ...(agent === NO_AGENT && session === null ? ['saved by hand'] : []),
    ...(given === undefined ? [] : [`resumed ${given.slice(0, 10)} ${timeOf(given)}`]),
    handovers === 1 ? handover : `${handover} and ${handovers - 1} before it`,
  ].join(', ');
}
