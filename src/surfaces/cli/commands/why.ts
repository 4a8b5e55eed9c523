import { type PathQuery, parsePathQuery } from '../../../app/ask/path-query.ts';
import { askWhy, type Reason, type Why, type WhySession } from '../../../app/ask/why.ts';
import { findStore } from '../../../app/context.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { withFactSource } from '../../../app/search.ts';
import { describeAge } from '../../../model/time.ts';
import type { Commit } from '../../../model/workspace.ts';
import { type FileHistory, readFileHistory } from '../../../platform/git-state.ts';
import { identifyProject } from '../../../platform/project.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import type { Redactor } from '../../../redact/redactor.ts';
import { readIntact } from '../../../store/handovers.ts';
import type { CliContext } from '../context.ts';
import { suggestAll, toLimit } from '../filters.ts';
import { argument, command, tuple } from '../flags.ts';
import type { Output } from '../output.ts';
import {
  openFact,
  type QuestionFlags,
  questionFlags,
  requireWords,
  shorten,
  suggestWider,
  toScope,
} from '../questions.ts';

export const why = command('why', runWhy, {
  positional: tuple(argument('A file, a folder, a pattern such as "src/**/*.ts", or FILE:SYMBOL', 'file')),
  flags: questionFlags,
});

const SESSIONS_SHOWN = 10;
const COMMITS_SHOWN = 20;

async function runWhy(this: CliContext, flags: QuestionFlags, words: string): Promise<void> {
  const { machine } = this;
  const here = identifyProject('.', machine);
  const named = parsePathQuery(requireWords(words, 'the file'), here.root, machine);
  const known: FileHistory =
    here.git === 'present'
      ? readFileHistory(here.root, { ...named, limit: COMMITS_SHOWN }, machine)
      : { commits: [], earlierNames: [] };
  const redactor = openRedactor(machine, { folder: here.root, makesKey: false });
  const asked = redactAsked(named, redactor);
  const history = redactHistory(known, redactor);
  const store = findStore(this);
  const answer = await withFactSource(this, await toScope(flags, this), (source) =>
    askWhy(asked, {
      source,
      read: (id) => readIntact(store, id),
      earlierNames: history.earlierNames,
      limit: toLimit(flags, SESSIONS_SHOWN),
      home: machine.home,
    }),
  );
  if (flags.json) return this.out.json(toJson(asked, answer, history));
  const typed = redactor.redactText(words);
  printAnswer(this, asked, answer, suggestAll(`why ${typed}`, flags));
  printCommits(this.out, history.commits);
  if (answer.sessions.length === 0) this.err.line(dim('next: '), suggestWider(flags, `why ${typed}`));
}

/** Git knows a file by its name; handovers have it without the secrets in that name. */
function redactAsked(asked: PathQuery, redactor: Redactor): PathQuery {
  return { ...asked, path: redactor.redactText(asked.path), typed: redactor.redactText(asked.typed) };
}

function redactHistory({ commits, earlierNames }: FileHistory, redactor: Redactor): FileHistory {
  return {
    commits: commits.map((commit) => ({ ...commit, subject: redactor.redactText(commit.subject) })),
    earlierNames: earlierNames.map((name) => redactor.redactText(name)),
  };
}

function toJson(asked: PathQuery, answer: Why, { commits, earlierNames }: FileHistory): unknown {
  return {
    path: asked.path,
    symbol: asked.symbol,
    matched: answer.sessions.length === 0 ? null : answer.nearness,
    earlier_names: earlierNames,
    sessions: answer.sessions.map((session) => ({
      ...session,
      reasons: session.reasons.map((reason) => ({ ...reason, open: openFact(reason.handover, reason.id) })),
      open: `handover show ${session.handover}`,
    })),
    has_more: answer.hasMore,
    commits,
  };
}

/** `all` is the command that shows all sessions. */
function printAnswer({ out, err, machine }: CliContext, asked: PathQuery, answer: Why, all: string): void {
  const { nearness, sessions, hasMore } = answer;
  const name = asked.path === '' ? 'this project' : asked.path;
  if (sessions.length === 0) {
    out.line(`no handover mentions ${name}`);
    return;
  }
  if (nearness !== 'exact') out.line(dim(`no handover mentions ${name} itself; ${NEARBY[nearness]}:`));
  for (const session of sessions) printSession(out, session, machine.clock.now());
  const first = sessions.flatMap(({ reasons }) => reasons)[0];
  if (first !== undefined) out.line(dim(`see where one of these came from: ${openFact(first.handover, first.id)}`));
  if (hasMore) err.line(dim(`there are more sessions; show all: ${all}`));
}

const NEARBY = { ending: 'files whose path ends with it', name: 'files with the same name' } as const;

const PATHS_SHOWN = 3;

function printSession(out: Output, session: WhySession, now: number): void {
  const touched = session.touched
    .slice(0, PATHS_SHOWN)
    .map(({ change, path, edits }) => `${change} ${path}${edits > 1 ? ` (${edits} edits)` : ''}`);
  const more = session.touched.length - touched.length;
  const files = [...touched, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  const age = describeAge(now - Date.parse(session.at));
  out.line(bold(session.handover), `  ${session.agent.padEnd(12)}  ${shorten(session.goal)}`);
  out.line(dim(`  ${session.project.name}, ${age}${files === '' ? '' : `, ${files}`}`));
  for (const reason of session.reasons) printReason(out, reason);
}

function printReason(out: Output, reason: Reason): void {
  const { kind, text, trust, origin, standing, because, about, id } = reason;
  const label = reason.said && kind !== 'reference' ? 'said' : kind;
  const also = about === 'session' ? 'in the same session, ' : '';
  const mark = standing === 'open' ? '' : `, ${standing}${because === null ? '' : `: ${shorten(because)}`}`;
  out.line(`  ${also}${label}: ${shorten(text)}`, dim(`  (${trust}, ${origin}, ${id}${mark})`));
}

function printCommits(out: Output, commits: readonly Commit[]): void {
  if (commits.length === 0) return;
  out.line(bold('commits'));
  for (const { hash, at, subject } of commits) out.line(dim(`  ${hash.slice(0, 10)}  ${at.slice(0, 10)}  `), subject);
}
