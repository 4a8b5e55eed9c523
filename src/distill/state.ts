import type { Fact } from '../model/fact.ts';
import { isQuestion, splitMessage } from '../model/message-lines.ts';
import { baseName, isProse } from '../model/paths.ts';
import { cleanLine, countNouns, cutAtWord, cutStart, revealControls } from '../model/text.ts';
import { describeActions, describeIssues } from './actions.ts';
import { nameCheck } from './check-identity.ts';
import { splitCommands } from './command-line.ts';
import {
  findOutcome,
  isFailing,
  isLeftBehind,
  type PartRun,
  type Runs,
  wasEditedSince,
  wasMendedSince,
} from './commands.ts';
import { type Commit, type CommitHistory, hasFile } from './commits.ts';
import { BY_AGENT, draftFact, OBSERVED } from './facts.ts';
import type { CommandRun, SessionLog } from './session-log.ts';
import { splitSegments } from './shell.ts';
import { isOutsideWork, mayWrite, relatePath, type TouchedFile } from './touched-files.ts';
import { printClosing, type Turn } from './turns.ts';

const MAX_COMMITS = 4;
const MAX_FILES = 5;
/** Checks that are told, by kind and result; and how many more that fail. */
const MAX_CHECKS = 4;
const MAX_SUBJECT_BYTES = 90;
const MAX_COMMAND_BYTES = 80;

/** Where the session stands, in sentences made of its structure: no word of them is guessed from what was said. */
export function findStateFact(
  log: SessionLog,
  turns: readonly Turn[],
  { runs, commits: history }: { runs: Runs; commits: CommitHistory },
): Fact | null {
  if (turns.length === 0) return null;
  const last = findLastCalls(log);
  const lines = {
    end: describeEnd(log, turns, history.commits),
    merge: describeMerge(log),
    commits: describeCommits(log, history),
    edits: describeEdits(log, history.commits, last),
    checks: describeChecks(log, runs, last),
    issues: describeIssues(log),
    actions: describeActions(log),
  };
  const told = Object.entries(lines).flatMap(([about, line]) => (line === null ? [] : [{ about, line }]));
  return draftFact('note', {
    text: told.map(({ line }) => cleanLine(line)).join('\n'),
    line: 0,
    ...OBSERVED,
    age: 0,
    detail: {
      role: 'state',
      about: told.map(({ about }) => about),
      ...(log.branch === null ? {} : { branch: log.branch }),
    },
  });
}

/** What the session names, so that it cannot pass for the words around it. */
function quote(text: string, bytes: number): string {
  return `"${cutAtWord(text, bytes).replaceAll('"', "'")}"`;
}

function describeEnd(log: SessionLog, turns: readonly Turn[], commits: readonly Commit[]): string {
  const last = turns.at(-1);
  // Whoever speaks after a call no longer waits for it: its result was lost, at a compaction for example.
  const spoken = Math.max(log.replies.at(-1)?.call ?? 0, log.prompts.at(-1)?.call ?? 0);
  const open = [...log.pending.values()].findLast(
    ({ call, command, isBackground }) => call > spoken && !isBackground && (command?.started ?? null) === null,
  );
  const branch = log.branch === null ? '' : ` Branch ${log.branch}${describeOtherBranch(log, commits)}.`;
  const asked = turns.filter(({ prompt }) => prompt !== null).length;
  const extent = `Turn ${asked}, ${countNouns(log.calls, 'call')}.`;
  return `${describeLast(log, last, open?.step.tool)} ${extent}${branch}`;
}

/** How git names the branch in its status. */
const ON_BRANCH = /^(?:## |On branch )([^\s.]+(?:\.(?!\.\.)[^\s.]+)*)/m;

/** The branch of the work, where that is in another worktree than the session, and that was not removed since. */
function describeOtherBranch({ branch, commands, cwd }: SessionLog, commits: readonly Commit[]): string {
  const last = commits.findLast((commit) => commit.branch !== '');
  const status = commands.findLast(
    ({ call, command, folder, output }) =>
      folder !== null &&
      folder !== cwd &&
      command.includes('git status') &&
      ON_BRANCH.test(output) &&
      !commands.some((later) => later.call > call && removes(later, folder)),
  );
  const seen = ON_BRANCH.exec(status?.output ?? '')?.[1];
  if (status !== undefined && seen !== undefined && status.call > (last?.run.call ?? 0))
    return seen === branch ? '' : `; in ${baseName(status.folder ?? '')} it is ${seen}`;
  return last === undefined || last.branch === branch ? '' : `; the last commit is on ${last.branch}`;
}

const REMOVING = /^(?:remove|rm|delete)$/;

/** Whether a command removes a worktree by its folder or its name, as git and its helpers do. */
function removes({ command, failed }: CommandRun, folder: string): boolean {
  if (failed !== false || !command.includes(baseName(folder))) return false;
  return splitCommands(command).some(
    ({ words }) =>
      words.some((word) => REMOVING.test(word)) &&
      words.some((word) => baseName(word.replace(/^["']|["'/]+$/g, '')) === baseName(folder)),
  );
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
    .some(({ text }) => isQuestion(text));
  return isAsking ? 'The agent spoke last, and its words end in a question to the user.' : 'The agent spoke last.';
}

const MERGE = /^git (merge|rebase|cherry-pick|pull|stash)$/;
const MERGE_OVER = /^git (?:commit|merge|rebase|cherry-pick|reset|checkout)$/;

/** Git names conflicts in English whatever the language of the session. */
function describeMerge(log: SessionLog): string | null {
  const at = log.commands.findLastIndex(({ output }) => /^CONFLICT \(/m.test(output));
  const run = log.commands[at];
  const merge = splitSegments(run?.command ?? '').find(({ use }) => MERGE.test(use));
  if (run === undefined || merge === undefined) return null;
  const isOver = log.commands
    .slice(at + 1)
    .some(({ command, failed }) => failed === false && splitSegments(command).some(({ use }) => MERGE_OVER.test(use)));
  return isOver ? null : `\`${cutAtWord(merge.text, MAX_COMMAND_BYTES)}\` met conflicts and was not seen to end.`;
}

function describeCommits(log: SessionLog, { commits, resetTo }: CommitHistory): string | null {
  const last = commits.at(-1);
  const reset = resetTo === null ? null : `Earlier commits were reset to ${cutAtWord(resetTo, MAX_COMMAND_BYTES)}.`;
  if (last === undefined) return reset;
  const shown = commits
    .slice(-MAX_COMMITS)
    .map(({ hash, subject }) => `${hash === '' ? '' : `${hash} `}${quote(subject, MAX_SUBJECT_BYTES)}`);
  const pushed = log.commands.findLast(pushes);
  const state =
    pushed === undefined
      ? 'No push was seen.'
      : pushed.call >= last.run.call
        ? 'Pushed after the last one.'
        : 'Not pushed since.';
  const made = `Commits of this session${commits.length > MAX_COMMITS ? `, the last ${MAX_COMMITS} of ${commits.length}` : ''}: ${shown.join('; ')}. ${state}`;
  return reset === null ? made : `${made} ${reset}`;
}

const NOT_PUSHED = /^ ! \[|^(?:error|fatal): /m;

function pushes({ command, failed, output }: CommandRun): boolean {
  if (failed !== false || !command.includes('push') || NOT_PUSHED.test(output)) return false;
  return splitSegments(command).some(
    ({ use, words, isHidden }) =>
      use === 'git push' &&
      !words.some((word) => /^(?:--dry-run|-n|--delete|-d|--tags)$/.test(word)) &&
      (!isHidden || / -> |^Everything up-to-date$/m.test(output)),
  );
}

function describeEdits(log: SessionLog, commits: readonly Commit[], last: LastCalls): string | null {
  const since = commits.at(-1)?.run.call ?? 0;
  const files = [...log.files.values()].filter(
    ({ path, edits }) => edits > 0 && !isOutsideWork(path, log.cwd) && !/[\\/]\.claude[\\/]/.test(path),
  );
  const edited = files
    .filter((file) => file.lastEdit > Math.max(since, last.clean, file.undone) && !file.deleted)
    .sort((a, b) => b.lastEdit - a.lastEdit);
  if (edited.length === 0)
    return since > 0 && isAllCommitted(files, commits, last) ? 'No file was edited since the last commit.' : null;
  const bases = files.map(({ path }) => baseName(path));
  const nameOf = (path: string): string =>
    bases.filter((base) => base === baseName(path)).length === 1 ? baseName(path) : relatePath(path, log.cwd);
  const names = edited.slice(0, MAX_FILES).map(({ path, editCalls }) => {
    const count = editCalls.filter((call) => call > since).length;
    return `${revealControls(nameOf(path))} (${count === 0 ? 'moved' : countEdits(count)})`;
  });
  const more = edited.length > MAX_FILES ? ` and ${countNouns(edited.length - MAX_FILES, 'more file')}` : '';
  return `Edited ${since === 0 ? 'and in no commit seen here' : 'since the last commit'}: ${names.join(', ')}${more}.`;
}

/** Whether nothing can have been left out of the commits or changed since the last one. */
function isAllCommitted(files: readonly TouchedFile[], commits: readonly Commit[], last: LastCalls): boolean {
  const since = commits.at(-1)?.run.call ?? 0;
  if (Math.max(last.write, last.delegation) > since || files.some(({ lastEdit }) => lastEdit > since)) return false;
  const isHeld = (file: TouchedFile): boolean => file.deleted || commits.some((commit) => hasFile(commit, file));
  return last.clean > since || files.every(isHeld);
}

/** The last calls of some kinds; 0 where there is none. */
interface LastCalls {
  /** A command of the shell that may have written files. */
  write: number;
  /** To another agent: what that did is not in the transcript. */
  delegation: number;
  /** One that showed that nothing is left to commit. */
  clean: number;
}

function findLastCalls({ commands, steps, cwd }: SessionLog): LastCalls {
  const isClean = ({ command, output, failed }: CommandRun): boolean =>
    /^nothing to commit, working tree clean$/m.test(output) ||
    (failed === false && output.trim() === '' && /^git status (?:-s|--short|--porcelain)$/.test(command.trim()));
  // In the order of their results, which need not be that of the calls.
  const writes = commands.reduce((last, { call, command }) => (call > last && mayWrite(command, cwd) ? call : last), 0);
  const delegation = steps.findLast(({ kind }) => kind === 'delegate')?.call ?? 0;
  return { write: writes, delegation, clean: commands.findLast(isClean)?.call ?? 0 };
}

function countEdits(edits: number): string {
  return countNouns(edits, 'edit');
}

/** Of each kind and result the last one; and whatever fails still. */
function describeChecks(log: SessionLog, { parts, lastChecks }: Runs, calls: LastCalls): string | null {
  const last = new Map<string, string>();
  const others: PartRun[] = [];
  for (const part of lastChecks.toReversed()) {
    const key = `${part.check} ${part.status}`;
    if (isLeftBehind(log, part)) continue;
    // What is not known says nothing beside a later result of its kind.
    if (part.status === 'ran' && (last.has(`${part.check} ok`) || last.has(`${part.check} failed`))) continue;
    // What failed to build cannot have been so when tests passed later.
    if (part.check === 'build' && part.status === 'failed' && last.has('test ok')) continue;
    if (last.has(key) || last.size === MAX_CHECKS) {
      others.push(part);
      continue;
    }
    const outcome = wasMendedSince(log, part.run) ? null : findOutcome(part);
    const told = outcome === null ? '' : `: ${quote(outcome, MAX_COMMAND_BYTES)}`;
    const result = part.status === 'ok' ? 'passed' : part.status === 'failed' ? 'FAILED' : 'ran, result unknown';
    const name = cutAtWord(nameCheck(part), MAX_COMMAND_BYTES);
    last.set(key, `\`${name}\` ${result}${describeOrder(log, part.run.call, calls)}${told}`);
  }
  if (last.size > 0) return `Checks: ${[...last.values(), ...describeOthers(log, others)].join('; ')}.`;
  const isUnseen = parts.some(({ check }) => check !== null) || calls.delegation > 0;
  const isEdited = [...log.files.values()].some(({ edits }) => edits > 0);
  return isEdited && !isUnseen ? 'Checks: no test, lint or build was seen.' : null;
}

/** The rest by name. What passed before the last edit says nothing of what stands. */
function describeOthers(log: SessionLog, others: readonly PartRun[]): string[] {
  const failed = others.filter((part) => isFailing(log, part));
  const passed = others.filter(({ status, run }) => status === 'ok' && !wasEditedSince(log, run.call));
  return [
    ...(failed.length === 0 ? [] : [`${failed.length} more FAILED: ${nameParts(failed)}`]),
    ...(passed.length === 0 ? [] : [`also passed: ${nameParts(passed)}`]),
  ];
}

const MAX_NAMED = 3;

function nameParts(parts: readonly PartRun[]): string {
  const names = parts.slice(0, MAX_NAMED).map((part) => `\`${cutAtWord(nameCheck(part), MAX_COMMAND_BYTES)}\``);
  return `${names.join(', ')}${parts.length > MAX_NAMED ? ` and ${parts.length - MAX_NAMED} more` : ''}`;
}

/** Nothing where it cannot be told: a command of the shell, or another agent, may have written since. */
function describeOrder(log: SessionLog, call: number, last: LastCalls): string {
  if (wasEditedSince(log, call)) return ', BEFORE the last edit';
  const edited = [...log.files.values()].filter(({ edits }) => edits > 0);
  if (edited.every(({ path }) => isProse(path)) || Math.max(last.delegation, last.write) > call) return '';
  return `, after the last edit${edited.some(({ lastEdit }) => lastEdit > call) ? ' of code' : ''}`;
}

const MAX_QUESTIONS = 3;
const MAX_BYTES = 300;

/** What the session waits for: a limit that stopped it, and unanswered questions. */
export function findBlockerFacts(log: SessionLog): (Fact | null)[] {
  const { stop } = log;
  const common = { status: 'open', age: 0 };
  const questions = findQuestions(log).map(({ text, line }) =>
    draftFact('question', { text: cutStart(text.replace(/\s+/g, ' '), MAX_BYTES), line, ...BY_AGENT, ...common }),
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
  const spoken = waits ? listLastQuestions(last.text.replace(BROKEN_LINE, ' ')).slice(-MAX_QUESTIONS) : [];
  return [
    ...asked.map(({ what, line }) => ({ text: what, line })),
    ...spoken.map((text) => ({ text: text.trim(), line: last?.line ?? 0 })),
  ];
}

const LINES_AFTER_QUESTION = 1;

/** The questions that a message ends in: its last line, or one that options or a single line follow. */
function listLastQuestions(message: string): string[] {
  const lines = splitMessage(message).filter(({ isCode }) => !isCode);
  let after = 0;
  const start = lines.findLastIndex((line) => {
    if (!line.isItem && !isQuestion(line.text)) after++;
    return after > LINES_AFTER_QUESTION;
  });
  const asking = lines.slice(start + 1).filter(({ text }) => isQuestion(text));
  return asking.flatMap(({ text }) => {
    const sentences = text.split(/(?<=[.!?؟]["')]?)\s+|(?<=[？。！])/);
    return sentences.slice(sentences.findLastIndex((sentence) => !isQuestion(sentence.trim())) + 1);
  });
}

/** The plan as it stands, item by item. */
const MAX_TASKS = 1000;

/** Of too many, those that are open come first, then the latest. */
export function findTaskFacts({ plan, planLine, planCall, calls }: SessionLog): (Fact | null)[] {
  const isOpen = ({ status }: (typeof plan)[number]): boolean => status === 'pending' || status === 'in_progress';
  const ranked = [...plan.filter(isOpen), ...plan.filter((task) => !isOpen(task)).reverse()];
  const tasks = plan.length <= MAX_TASKS ? plan : ranked.slice(0, MAX_TASKS);
  return tasks.map(({ id, text, status, detail }) =>
    draftFact('task', {
      text,
      line: planLine,
      status,
      trust: 'observed',
      origin: 'agent',
      age: calls - planCall,
      detail: { ...(id === undefined ? {} : { number: id }), ...(detail === undefined ? {} : { more: detail }) },
    }),
  );
}
