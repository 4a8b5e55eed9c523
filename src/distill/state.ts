import type { Fact } from '../model/fact.ts';
import { splitMessage } from '../model/message-lines.ts';
import { baseName } from '../model/paths.ts';
import { cutAtWord } from '../model/text.ts';
import { findOutcome, listLastChecks, listPartRuns, wasEditedSince } from './commands.ts';
import { listCommits } from './commits.ts';
import { BY_AGENT, draftFact, OBSERVED } from './facts.ts';
import type { SessionLog } from './session-log.ts';
import { splitSegments } from './shell.ts';
import { isOutsideWork, relatePath } from './touched-files.ts';
import { printClosing, type Turn } from './turns.ts';

const MAX_COMMITS = 4;
const MAX_FILES = 5;
const MAX_CHECKS = 4;
const MAX_SUBJECT_BYTES = 90;
const MAX_COMMAND_BYTES = 80;

/** Where the session stands, in sentences made of its structure: no word of them is guessed from what was said. */
export function findStateFact(log: SessionLog, turns: readonly Turn[]): Fact | null {
  if (turns.length === 0) return null;
  const lines = [
    describeEnd(log, turns),
    describeCommits(log),
    describeEdits(log),
    describeChecks(log),
    describeActions(log),
  ];
  return draftFact('note', {
    text: lines.filter((line) => line !== null).join('\n'),
    line: 0,
    ...OBSERVED,
    age: 0,
    detail: { role: 'state' },
  });
}

function describeEnd(log: SessionLog, turns: readonly Turn[]): string {
  const last = turns.at(-1);
  const open = [...log.pending.values()]
    .filter(({ command, isBackground }) => !isBackground && (command?.started ?? null) === null)
    .at(-1);
  const branch = log.branch === null ? '' : ` Branch ${log.branch}.`;
  const extent = `Turn ${log.prompts.length}, ${log.calls} calls.`;
  return `${describeLast(log, last, open?.step.tool)} ${extent}${branch}`;
}

function describeLast(log: SessionLog, last: Turn | undefined, openTool: string | undefined): string {
  if (last === undefined) return 'Nothing was said.';
  if (log.stop !== null) return 'The agent was stopped by a limit or an error of its provider.';
  const isUntouched = last.replies.length === 0 && last.to < last.from;
  if (isUntouched) return 'The last message of the user is not answered yet.';
  if (log.interrupted.has(last.number)) return 'The user interrupted the agent.';
  if (openTool !== undefined)
    return `The agent was in the middle of the work, in a call of ${openTool} that has no result.`;
  if (last.closing.length === 0)
    return 'The agent was in the middle of the work: its last calls have no closing words yet.';
  const isAsking = splitMessage(printClosing(last))
    .slice(-3)
    .some(({ text }) => /[?？؟]["')*]*$/.test(text));
  return isAsking
    ? 'The agent had answered, and its answer ends in a question to the user.'
    : 'The agent had answered.';
}

function describeCommits(log: SessionLog): string | null {
  const commits = listCommits(log.commands);
  const last = commits.at(-1);
  if (last === undefined) return null;
  const shown = commits
    .slice(-MAX_COMMITS)
    .map(({ hash, subject }) => `${hash === '' ? '' : `${hash} `}${cutAtWord(subject, MAX_SUBJECT_BYTES)}`);
  const pushed = log.commands.findLast((run) => run.failed === false && pushes(run.command));
  const state =
    pushed === undefined
      ? 'No push was seen.'
      : pushed.call >= last.run.call
        ? 'Pushed after the last one.'
        : 'Not pushed since.';
  return `Commits of this session${commits.length > MAX_COMMITS ? `, the last ${MAX_COMMITS} of ${commits.length}` : ''}: ${shown.join('; ')}. ${state}`;
}

function pushes(command: string): boolean {
  return command.includes('push') && splitSegments(command).some(({ use }) => use === 'git push');
}

function describeEdits(log: SessionLog): string | null {
  const since = listCommits(log.commands).at(-1)?.run.call ?? 0;
  const edited = [...log.files.values()]
    .filter((file) => file.edits > 0 && file.lastEdit > since && !file.deleted && !isOutsideWork(file.path))
    .filter((file) => !/[\\/]\.claude[\\/]/.test(file.path))
    .sort((a, b) => b.lastEdit - a.lastEdit);
  if (edited.length === 0) return since === 0 ? null : 'No file was edited since the last commit.';
  const bases = edited.map(({ path }) => baseName(path));
  const nameOf = (path: string): string =>
    bases.filter((base) => base === baseName(path)).length === 1 ? baseName(path) : relatePath(path, log.cwd);
  const names = edited.slice(0, MAX_FILES).map((file) => `${nameOf(file.path)} (${countEdits(file.edits)})`);
  const more = edited.length > MAX_FILES ? ` and ${edited.length - MAX_FILES} more files` : '';
  return `Edited ${since === 0 ? 'and not committed here' : 'since the last commit'}: ${names.join(', ')}${more}.`;
}

function countEdits(edits: number): string {
  return edits === 1 ? '1 edit' : `${edits} edits`;
}

function describeChecks(log: SessionLog): string | null {
  const last = new Map<string, string>();
  for (const part of listLastChecks(log.commands.flatMap(listPartRuns)).toReversed()) {
    const key = `${part.check} ${part.status}`;
    if (last.has(key) || last.size === MAX_CHECKS) continue;
    const outcome = findOutcome(part);
    const order = wasEditedSince(log, part.run.call) ? 'BEFORE the last edit' : 'after the last edit';
    const told = outcome === null ? '' : `: ${cutAtWord(outcome, MAX_COMMAND_BYTES)}`;
    last.set(
      key,
      `\`${cutAtWord(part.text, MAX_COMMAND_BYTES)}\` ${part.status === 'ok' ? 'passed' : 'FAILED'}, ${order}${told}`,
    );
  }
  if (last.size > 0) return `Checks: ${[...last.values()].join('; ')}.`;
  return [...log.files.values()].some(({ edits }) => edits > 0) ? 'Checks: no test, lint or build was run.' : null;
}

const ACTION =
  /\bgh (?:pr|issue|release) (?:create|merge|comment|close|edit)\b|\bglab (?:mr|issue) (?:create|merge|note|close)\b/;
const REFERENCE = /https?:\/\/\S{3,100}\/(?:pull|issues?|merge_requests)\/[\w-]+|(?<!\w)#\d+/;
const TITLE = /--title[= ](["'])(.*?)\1/;
const MAX_ACTIONS = 5;

/** What was done outside of the files: pull requests, issues, comments. */
function describeActions(log: SessionLog): string | null {
  const byCommand = log.commands.flatMap((run) => {
    const action = run.failed === false ? ACTION.exec(run.command)?.[0] : undefined;
    if (action === undefined) return [];
    const reference = REFERENCE.exec(run.output)?.[0] ?? REFERENCE.exec(run.command)?.[0];
    const title = TITLE.exec(run.command)?.[2];
    const parts = [action, reference, title === undefined ? undefined : `"${cutAtWord(title, MAX_SUBJECT_BYTES)}"`];
    return [{ call: run.call, text: parts.filter((part) => part !== undefined).join(' ') }];
  });
  const unique = [...new Set([...byCommand, ...log.actions].sort((a, b) => a.call - b.call).map(({ text }) => text))];
  return unique.length === 0 ? null : `Done outside of the files: ${unique.slice(-MAX_ACTIONS).join('; ')}.`;
}

const MAX_QUESTIONS = 3;
const MAX_BYTES = 300;

/** What the session waits for: a limit that stopped it, and unanswered questions. */
export function findBlockerFacts(log: SessionLog): (Fact | null)[] {
  const { stop } = log;
  const common = { status: 'open', age: 0 };
  const questions = findQuestions(log).map(({ text, line }) =>
    draftFact('question', { text: cutAtWord(text.replace(/\s+/g, ' '), MAX_BYTES), line, ...BY_AGENT, ...common }),
  );
  if (stop === null) return questions;
  const text = `the session was stopped: ${cutAtWord(stop.text.replace(/\s+/g, ' '), MAX_BYTES)}`;
  return [draftFact('blocker', { text, line: stop.line, ...OBSERVED, ...common }), ...questions];
}

/** A break in the middle of a sentence. */
const BROKEN_LINE = /(?<=[\p{L}\p{N},])\n(?=\p{Ll})/gu;

/** Questions asked by a call, and those at the end of the last reply if no call followed it. */
function findQuestions(log: SessionLog): { text: string; line: number }[] {
  const asked = [...log.pending.values()].filter((call) => call.source === 'answer');
  const last = log.replies.at(-1);
  const waits = log.lastSpeaker === 'agent' && last?.call === log.calls;
  const spoken = splitMessage(waits ? last.text.replace(BROKEN_LINE, ' ') : '')
    .filter(({ isCode }) => !isCode)
    .flatMap(({ text }) => text.split(/(?<=[.!?؟]["')]?)\s+|(?<=[？。！])/))
    .filter((sentence) => /[?？؟]["')]?$/.test(sentence.trim()))
    .slice(-MAX_QUESTIONS);
  return [
    ...asked.map(({ what, line }) => ({ text: what, line })),
    ...spoken.map((text) => ({ text: text.trim(), line: last?.line ?? 0 })),
  ];
}

/** The plan as it stands, item by item. */
export function findTaskFacts(log: SessionLog): (Fact | null)[] {
  return log.plan.map(({ id, text, status, detail }) =>
    draftFact('task', {
      text,
      line: log.planLine,
      status,
      trust: 'observed',
      origin: 'agent',
      age: 0,
      detail: { ...(id === undefined ? {} : { number: id }), ...(detail === undefined ? {} : { more: detail }) },
    }),
  );
}
