import type { Event } from '../model/event.ts';
import { computeFactId, type Fact, MAX_FACTS } from '../model/fact.ts';
import { cleanLine, cutAtWord, cutToBytes } from '../model/text.ts';
import type { Commit } from '../model/workspace.ts';
import { findCommandFacts, findRunningFacts, listRuns } from './commands.ts';
import { type CommitHistory, followCommits } from './commits.ts';
import { BY_GIT, draftFact, rateNames } from './facts.ts';
import { findFileFacts } from './files.ts';
import { closeSessionLog, logEvent } from './log-events.ts';
import { findCurrentPrompt, type Message, SessionLog } from './session-log.ts';
import { findSettledFacts } from './settled.ts';
import { findBlockerFacts, findStateFact, findTaskFacts } from './state.ts';
import { findLogFact } from './steps.ts';
import { findDocumentFacts, findPromptFacts, findSummaryFact, findTurnFacts, listTurns } from './turns.ts';

export interface Distillation {
  title: string;
  facts: Fact[];
  /** Commits that git did not report, by their subjects: what their hashes are, only the repository knows. */
  quiet: Fact[];
  cwd: string | null;
  model: string | null;
  startedAt: string | null;
  lastAt: string | null;
}

/** Deterministic: the same events give the same facts, byte for byte. */
export function distillEvents(events: Iterable<Event>): Distillation {
  const log = new SessionLog();
  for (const event of events) logEvent(log, event);
  closeSessionLog(log);
  return distillLog(log);
}

/** The log has to be closed. */
export function distillLog(log: SessionLog): Distillation {
  const relevance = rateNames(log);
  const turns = listTurns(log);
  const runs = listRuns(log.commands);
  const commits = followCommits(log);
  const named = commits.commits.filter(({ hash }) => hash !== '');
  const quiet = commits.commits.filter(({ hash }) => hash === '');
  const facts = [
    findStateFact(log, turns, { runs, commits }),
    ...findPromptFacts(log),
    ...findTaskFacts(log),
    ...findBlockerFacts(log),
    ...findRunningFacts(log),
    ...findSettledFacts(log, turns),
    ...findTurnFacts(log, turns, {
      ...commits,
      runs,
    }),
    findSummaryFact(log),
    ...findDocumentFacts(log),
    findLogFact(log, runs),
    ...findFileFacts(log, relevance, commits.commits),
    ...findCommandFacts(log, relevance, runs),
    // Where the work is to be found outside of the session: branch, commits, pull requests and issues.
    ...[findBranch(log), ...draftCommits(log, named), ...findLinks(log)],
  ].filter((fact) => fact !== null);
  const current = log.prompts[findCurrentPrompt(log)];
  const title = cutToBytes(cleanLine(current?.text ?? ''), MAX_TITLE_BYTES);
  return {
    title: title || 'a session without a request',
    facts: [...new Map(facts.map((fact) => [fact.id, fact])).values()].slice(0, MAX_FACTS),
    quiet: draftCommits(log, quiet).filter((fact) => fact !== null),
    cwd: log.cwd,
    model: log.model,
    startedAt: log.firstAt,
    lastAt: log.lastAt,
  };
}

const MAX_TITLE_BYTES = 100;

const MAX_COMMITS = 8;
const MAX_LINKS = 8;
const MAX_MESSAGE_BYTES = 120;
const MAX_BODY_BYTES = 2000;

const MAIN_BRANCH = /^(?:main|master|trunk|develop|HEAD)$/;
const CHANGE_LINK = /https?:\/\/[^\s)>\]"'`]{3,100}\/(?:pull|issues?|merge_requests|browse)\/[\w-]{1,20}/g;

function findBranch({ branch }: SessionLog): Fact | null {
  if (branch === null || MAIN_BRANCH.test(branch)) return null;
  return draftFact('reference', { text: `branch ${branch}`, line: 0, ...BY_GIT, age: 0, detail: { about: 'branch' } });
}

function draftCommits(log: SessionLog, commits: CommitHistory['commits']): (Fact | null)[] {
  return commits.slice(-MAX_COMMITS).map(({ hash, branch, subject, body, run }) => {
    const where = branch === log.branch || branch === '' ? '' : ` on ${branch}`;
    const text = `commit ${hash}${where}: ${cutAtWord(subject, MAX_MESSAGE_BYTES)}`;
    return draftFact('reference', {
      ...(hash === '' ? { text: subject } : { text, subject: hash }),
      line: run.line,
      ...BY_GIT,
      age: log.calls - run.call,
      detail: { about: 'commit', ...(body === '' ? {} : { body: cutAtWord(body, MAX_BODY_BYTES) }) },
    });
  });
}

/** The quiet commits of a session that the repository has by their subject and time, by their hashes. */
export function nameQuietCommits(
  { quiet, facts }: Pick<Distillation, 'quiet' | 'facts'>,
  commits: readonly Commit[],
  { startedMs, endedMs }: { startedMs: number; endedMs: number },
): Fact[] {
  const known = new Set(facts.map(({ id }) => id));
  return quiet.flatMap((fact) => {
    const isIt = ({ subject, at }: Commit): boolean =>
      subject === fact.text && Date.parse(at) >= startedMs && Date.parse(at) <= endedMs;
    const [found, ...others] = commits.filter(isIt);
    if (found === undefined || others.length > 0) return [];
    const hash = found.hash.slice(0, HASH_LENGTH);
    const id = computeFactId('reference', hash);
    if (known.has(id) || facts.some(({ text }) => hash.startsWith(/^commit (\w+)/.exec(text)?.[1] ?? ' '))) return [];
    return [{ ...fact, id, text: `commit ${hash}: ${cutAtWord(fact.text, MAX_MESSAGE_BYTES)}` }];
  });
}

const HASH_LENGTH = 10;

const MAX_ANSWER = 4000;
const ANSWER_LINES = 4;

/** The newest mention of each link counts. */
function findLinks(log: SessionLog): (Fact | null)[] {
  const seen = new Map<string, Message & Pick<Fact, 'origin'>>();
  const collect = (origin: Fact['origin'], messages: readonly Message[]): void => {
    for (const message of messages)
      for (const [link] of message.text.matchAll(CHANGE_LINK)) seen.set(link, { ...message, origin });
  };
  collect('human', log.prompts);
  collect('agent', log.replies);
  // Who makes a pull request or an issue is told its address, and little else; other outputs name those of anybody.
  const outputs = log.commands
    .filter(({ output }) => output.length < MAX_ANSWER && output.trim().split('\n').length <= ANSWER_LINES)
    .map(({ output, call, line }) => ({ call, line, text: output }));
  collect('tool', outputs);
  return [...seen]
    .sort(([, a], [, b]) => b.call - a.call)
    .slice(0, MAX_LINKS)
    .map(([link, { call, line, origin }]) =>
      draftFact('reference', {
        text: link,
        line,
        trust: 'quoted',
        origin,
        age: log.calls - call,
        detail: { about: 'link' },
      }),
    );
}
