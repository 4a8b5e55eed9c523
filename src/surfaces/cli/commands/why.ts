import { buildCommand, type Command } from '@stricli/core';
import { type AskedPath, readAskedPath } from '../../../app/ask/asked-path.ts';
import { askWhy, type Involved, type Reason, type Why } from '../../../app/ask/why.ts';
import { describeAge } from '../../../model/time.ts';
import type { Commit } from '../../../model/workspace.ts';
import { type FileHistory, readFileHistory } from '../../../platform/file-history.ts';
import { identifyProject } from '../../../platform/project.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import type { Redactor } from '../../../redact/redactor.ts';
import { readIntact } from '../../../store/handovers.ts';
import { type CliContext, findStore } from '../context.ts';
import { toLimit } from '../filters.ts';
import { bold, dim, type Output } from '../output.ts';
import {
  openFact,
  type QuestionFlags,
  questionFlags,
  requireWords,
  shorten,
  widen,
  withFactSource,
} from '../question-flags.ts';

const SESSIONS_SHOWN = 10;
const COMMITS_SHOWN = 20;

export async function runWhy(this: CliContext, flags: QuestionFlags, words: string): Promise<void> {
  const { machine } = this;
  const here = identifyProject('.', machine);
  const named = readAskedPath(requireWords(words, 'the file'), here.root, machine);
  const known: FileHistory =
    here.git === 'present'
      ? readFileHistory(here.root, { ...named, limit: COMMITS_SHOWN }, machine)
      : { commits: [], earlierNames: [] };
  const redactor = openRedactor(machine, { folder: here.root, makesKey: false });
  const asked = redactAsked(named, redactor);
  const history = redactHistory(known, redactor);
  const store = findStore(this);
  const answer = await withFactSource(this, flags, (source) =>
    askWhy(asked, {
      source,
      read: (id) => readIntact(store, id),
      earlierNames: history.earlierNames,
      limit: toLimit(flags, SESSIONS_SHOWN),
      home: machine.home,
    }),
  );
  if (flags.json) {
    this.out.json(toJson(asked, answer, history));
    return;
  }
  const told = redactor.redactText(words);
  printAnswer(this, { asked, answer, words: told });
  printCommits(this.out, history.commits);
  if (answer.sessions.length === 0) this.err.line(dim('next: '), widen(flags, `why ${told}`));
}

/** Git knows a file by its name; what was handed over tells of it without the secrets in that name. */
function redactAsked(asked: AskedPath, redactor: Redactor): AskedPath {
  return { ...asked, path: redactor.redactText(asked.path), typed: redactor.redactText(asked.typed) };
}

function redactHistory({ commits, earlierNames }: FileHistory, redactor: Redactor): FileHistory {
  return {
    commits: commits.map((commit) => ({ ...commit, subject: redactor.redactText(commit.subject) })),
    earlierNames: earlierNames.map((name) => redactor.redactText(name)),
  };
}

function toJson(asked: AskedPath, answer: Why, { commits, earlierNames }: FileHistory): unknown {
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

interface Printed {
  asked: AskedPath;
  answer: Why;
  /** As they were typed, but for secrets. */
  words: string;
}

function printAnswer({ out, err, machine }: CliContext, { asked, answer, words }: Printed): void {
  const { nearness, sessions, hasMore } = answer;
  const name = asked.path === '' ? 'this project' : asked.path;
  if (sessions.length === 0) {
    out.line(`nothing that was handed over tells of ${name}`);
    return;
  }
  if (nearness !== 'exact') out.line(dim(`nothing tells of ${name} itself; of files ${WHICH[nearness]}:`));
  for (const session of sessions) printSession(out, session, machine.clock.now());
  const first = sessions.flatMap(({ reasons }) => reasons)[0];
  if (first !== undefined)
    out.line(dim(`the words around one of these: ${openFact(first.handover, first.id)}`));
  if (hasMore) err.line(dim(`more sessions are kept; all of them: handover why ${words} --limit 0`));
}

const WHICH = { ending: 'whose path ends so', name: 'of that name' } as const;

const PATHS_SHOWN = 3;

function printSession(out: Output, session: Involved, now: number): void {
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
  const also = about === 'session' ? 'in the same session, ' : '';
  const mark = standing === 'open' ? '' : `, ${standing}${because === null ? '' : `: ${shorten(because)}`}`;
  out.line(`  ${also}${kind}: ${shorten(text)}`, dim(`  (${trust}, ${origin}, ${id}${mark})`));
}

function printCommits(out: Output, commits: readonly Commit[]): void {
  if (commits.length === 0) return;
  out.line(bold('commits'));
  for (const { hash, at, subject } of commits)
    out.line(dim(`  ${hash.slice(0, 10)}  ${at.slice(0, 10)}  `), subject);
}

export const why: Command<CliContext> = buildCommand<QuestionFlags, [string], CliContext>({
  func: runWhy,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: (input: string): string => input,
          brief: 'A file, a folder, a pattern such as "src/**/*.ts", or FILE:SYMBOL',
          placeholder: 'file',
        },
      ],
    },
    flags: questionFlags,
  },
  docs: { brief: 'Why a file is as it is: what was decided, by which sessions, in which commits' },
});
