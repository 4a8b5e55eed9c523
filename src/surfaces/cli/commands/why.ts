import { type PathQuery, parsePathQuery } from '../../../app/ask/path-query.ts';
import type { SessionName } from '../../../app/ask/uncaptured.ts';
import { askPassages, askWhy, type Reason, type Why, type WhySession } from '../../../app/ask/why.ts';
import { findStore } from '../../../app/context.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { withFactSource } from '../../../app/search.ts';
import { quoteForShell } from '../../../model/text.ts';
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
import { type Output, showItem } from '../output.ts';
import * as questions from '../questions.ts';

export const why = command('why', runWhy, {
  positional: tuple(argument('A file, a folder, a pattern such as "src/**/*.ts", or FILE:SYMBOL', 'file')),
  flags: questions.askFlags,
});

const SESSIONS_SHOWN = 10;
const COMMITS_SHOWN = 20;

async function runWhy(this: CliContext, flags: questions.AskFlags, words: string): Promise<void> {
  const { machine } = this;
  const here = identifyProject('.', machine);
  const named = parsePathQuery(questions.requireWords(words, 'the file'), here.root, machine);
  const redactor = openRedactor(machine, { folder: here.root, makesKey: false });
  const asked = redactAsked(named, redactor);
  const store = findStore(this);
  const [scope, limit] = [await questions.toScope(flags, this), toLimit(flags, SESSIONS_SHOWN)];
  const { home } = machine;
  const ask = async (symbol: string | null): Promise<{ history: FileHistory; answer: Why }> => {
    const known: FileHistory =
      here.git === 'present'
        ? readFileHistory(here.root, { ...named, symbol, limit: COMMITS_SHOWN }, machine)
        : { commits: [], earlierNames: [] };
    const history = redactHistory(known, redactor);
    const { earlierNames } = history;
    const answer = await withFactSource(this, scope, (source) =>
      askWhy({ ...asked, symbol }, { source, read: (id) => readIntact(store, id), earlierNames, limit, home }),
    );
    return { history, answer };
  };
  const found = await ask(asked.symbol);
  const lacksSymbol = asked.symbol !== null && found.answer.sessions.length === 0;
  const { history, answer } = lacksSymbol ? await ask(null) : found;
  const uncaptured = await questions.askUncapturedSessions(this, {
    scope,
    limit,
    isAnswered: lacksSymbol ? () => answer.hasMore : listAnswered(answer),
    ...askPassages(asked, { earlierNames: history.earlierNames, home }),
  });
  if (flags.json)
    return this.out.json({
      ...toJson(asked, answer, history),
      symbol_found: asked.symbol === null ? null : !lacksSymbol,
      ...questions.uncapturedToJson(uncaptured),
    });
  const typed = `why ${quoteForShell(redactor.redactText(words))}`;
  const all = suggestAll(typed, flags);
  if (lacksSymbol && answer.sessions.length > 0)
    this.out.line(dim(`no handover says what was done to ${asked.symbol}; about the whole file:`));
  printAnswer(this, asked, answer, all);
  questions.printUncaptured(this, uncaptured, all);
  printCommits(this.out, history.commits);
  if (answer.sessions.length === 0) await questions.printNext(this, flags, typed);
}

/** Sessions beyond the limit are asked for with a higher one. */
function listAnswered({ sessions, hasMore }: Why): (session: SessionName) => boolean {
  const isAbout = ({ about }: Reason): boolean => about !== 'session';
  return ({ agent, id }) => {
    const shown = sessions.filter((session) => session.agent === agent && session.session === id);
    return shown.length === 0 ? hasMore : shown.some(({ reasons }) => reasons.some(isAbout));
  };
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

function toJson(asked: PathQuery, answer: Why, { commits, earlierNames }: FileHistory) {
  return {
    path: asked.path,
    symbol: asked.symbol,
    matched: answer.sessions.length === 0 ? null : answer.nearness,
    earlier_names: earlierNames,
    sessions: answer.sessions.map((session) => ({
      ...session,
      reasons: session.reasons.map((reason) => ({ ...reason, open: questions.openFact(reason.handover, reason.id) })),
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
  if (first !== undefined)
    out.line(dim(`see where one of these came from: ${questions.openFact(first.handover, first.id)}`));
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
  const head = { id: session.handover, agent: session.agent, title: session.title };
  out.line(...showItem(out, head), dim(`  ${session.project.name}, ${age}${files === '' ? '' : `, ${files}`}`));
  for (const reason of session.reasons) printReason(out, reason);
  if (session.more > 0) out.line(dim(`  and ${session.more} more in handover show ${session.handover}`));
}

function printReason(out: Output, reason: Reason): void {
  const { kind, text, trust, origin, standing, because, about, id } = reason;
  const spoken = reason.said && kind !== 'reference' ? 'said' : kind;
  const label = { file: spoken, request: 'asked before a change', session: `in the same session, ${spoken}` }[about];
  const mark = standing === 'open' ? '' : `, ${standing}${because === null ? '' : `: ${questions.shorten(because)}`}`;
  out.line(`  ${label}: ${questions.shorten(text)}`, dim(`  (${trust}, ${origin}, ${id}${mark})`));
}

function printCommits(out: Output, commits: readonly Commit[]): void {
  if (commits.length === 0) return;
  out.line(bold('commits'));
  for (const { hash, at, subject } of commits) out.line(dim(`  ${hash.slice(0, 10)}  ${at.slice(0, 10)}  `), subject);
}
