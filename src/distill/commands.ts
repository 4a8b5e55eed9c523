import type { Fact } from '../model/fact.ts';
import { printProse } from '../model/message-lines.ts';
import { baseName, isProse } from '../model/paths.ts';
import { cleanLine, countUtf8Bytes, cutAtWord, findFirstLine } from '../model/text.ts';
import { findSelectedTest, isSelective, isWider, keyOf, nameCheck, nameCommand, placeOf } from './check-identity.ts';
import { draftFact, OBSERVED, type Relevance } from './facts.ts';
import { findPaths } from './names.ts';
import * as outcomes from './outcome.ts';
import type { CommandRun, PendingCall, SessionLog, Step } from './session-log.ts';
import { type Segment, splitSegments } from './shell.ts';
import { isOutsideWork, relatePath } from './touched-files.ts';

/** One command of a command line with an outcome of its own. */
export interface PartRun extends Segment {
  run: CommandRun;
  check: outcomes.CheckKind | null;
  /** `ran` is a check whose result nothing shows. */
  status: 'ok' | 'failed' | 'running' | 'ran' | 'unknown';
  /** Whether it is the only command of its line: then the whole output is its own. */
  isAlone: boolean;
}

/** Commands that only prepare for those after them. */
const SETUP = /^(?:cd|pushd|export|source|\.|set|echo|sleep|mkdir|true)$/;

/**
 * The commands of a line. A command whose status is that of the line is known by it. Of a check whose status the line
 * hides, only a summary in the output tells. Of a line that failed, one command is blamed where the output or the line
 * leaves no doubt: those before it succeeded, those after it did not run. Else the line as a whole failed.
 */
function listPartRuns(run: CommandRun): PartRun[] {
  const segments = splitSegments(run.command);
  // On what was there before the work: it says nothing about the work.
  const isAside = /\bgit stash\b[\s\S]*\bgit stash (?:pop|apply)\b/.test(run.command);
  const parts = segments.map((segment): PartRun => {
    const check = isAside ? null : outcomes.findCheckKind(segment.use, segment.words);
    return { ...segment, run, check, status: 'unknown', isAlone: segments.length === 1 };
  });
  if (run.failed === null) return parts.map((part) => ({ ...part, status: run.background ? 'running' : 'unknown' }));
  const hidden = parts.filter((part) => part.check !== null && (part.isHidden || LISTING.test(part.use)));
  const verdict = hidden.length === 0 ? null : readHidden(run, hidden.length === 1 && hidden[0]?.check === 'build');
  const ofHidden = (part: PartRun): PartRun['status'] => {
    if (part.afterFailure) return 'unknown';
    const isOwn =
      hidden.length === 1 || (part.check === 'test' && hidden.filter(({ check }) => check === 'test').length === 1);
    return verdict === 'ok' && isOwn ? 'ok' : 'ran';
  };
  // A filter after a pipe fails where it finds nothing: without a word of a failure, nothing is known of what it filtered.
  const isQuiet = run.failed && outcomes.findTellingLines(run.output, 1).length === 0;
  const suspects = parts.filter((part) =>
    hidden.includes(part) ? verdict === 'failed' : run.failed && !(isQuiet && part.isHidden),
  );
  if (suspects.length === 0)
    return parts.map((part) => {
      if (hidden.includes(part)) return { ...part, status: ofHidden(part) };
      return { ...part, status: toStatus(part, run.failed === false) };
    });
  const kind = outcomes.findFailedKind(run.output);
  const ofKind = suspects.filter(({ check }) => check !== null && check === kind);
  const others = suspects.filter(({ use }) => !SETUP.test(use));
  const certain = ofKind.length === 1 ? ofKind[0] : others.length === 1 ? others[0] : undefined;
  const blamed = certain ?? suspects.findLast(({ check }) => check !== null) ?? suspects.at(-1);
  return parts.map((part, at): PartRun => {
    if (part === blamed) {
      if (certain === undefined && parts.length > 1)
        return { ...part, text: parts.map(({ text }) => text).join(CHAIN), status: 'failed' };
      return part.check !== null && outcomes.didNotRun(run.output) ? part : { ...part, status: 'failed' };
    }
    const isReached = certain !== undefined && (run.failed === false || at < parts.indexOf(certain));
    if (hidden.includes(part)) return { ...part, status: isReached ? ofHidden(part) : 'unknown' };
    return { ...part, status: toStatus(part, isReached || run.failed === false) };
  });
}

/** Of a command that nothing tells to have failed: whether it went well shows only in a status that is its own. */
function toStatus({ isHidden, afterFailure }: Segment, isReached: boolean): PartRun['status'] {
  return isReached && !isHidden && !afterFailure ? 'ok' : 'unknown';
}

/** What the output says of checks whose status the line hides. */
function readHidden({ command, output }: CommandRun, isBuild: boolean): 'ok' | 'failed' | null {
  const verdict = outcomes.readVerdict(output, /\|\s*(?:grep|rg|head)\b/.test(command));
  return verdict ?? (isBuild ? outcomes.readCompiler(output, /2>&1/.test(command)) : null);
}

/** Tools that succeed whatever they find, and list it. */
const LISTING = /^gofmt\b/;

export interface Runs {
  parts: PartRun[];
  /** See `listLastChecks`. */
  lastChecks: PartRun[];
}

export function listRuns(commands: readonly CommandRun[]): Runs {
  const parts = commands.flatMap(listPartRuns);
  return { parts, lastChecks: listLastChecks(parts) };
}

const MAX_COMMANDS = 40;
const MAX_COMMAND_BYTES = 110;
const MAX_OUTCOME_BYTES = 140;
const MAX_VARIABLES = 4;

/**
 * The last run of each command that is worth a fact, and what failed. A check that fails still is not hidden by another
 * run of its program: it is known by its whole text.
 */
export function findCommandFacts(log: SessionLog, relevance: Relevance, runs: Runs): (Fact | null)[] {
  const lastRuns = new Map(runs.parts.map((part) => [part.use, part]));
  const byAge = (a: PartRun, b: PartRun): number => b.run.call - a.run.call;
  const last = [...lastRuns.values()].sort(byAge).slice(0, MAX_COMMANDS);
  const others = listOthers(log, runs)
    .filter((part) => lastRuns.get(part.use) !== part)
    .sort(byAge)
    .slice(0, MAX_OTHERS);
  const named = new Set(others.map(nameCheck));
  return [
    ...last.map((part) => draftCommand(part, { log, relevance, subject: named.has(part.use) ? part.text : part.use })),
    ...others.map((part) => draftCommand(part, { log, relevance, subject: nameCheck(part), isOther: true })),
    ...findErrorFacts(log, runs),
    ...findToolErrors(log),
  ];
}

const MAX_OTHERS = 20;
const INSTALLING = /^\S+ (?:i|install|add|get|require)$/;

/** Runs that a later one of the same command does not stand for: checks of something else, and what else was installed. */
function listOthers(log: SessionLog, { parts, lastChecks }: Runs): PartRun[] {
  const isOver = (part: PartRun): boolean =>
    isLeftBehind(log, part) || lastChecks.some((later) => later.run.call > part.run.call && settles(later, part));
  const installed = parts.filter(
    ({ check, use, status }) => check === null && status !== 'failed' && INSTALLING.test(use),
  );
  const checks = lastChecks.filter((part) => (part.status === 'ok' || isFailing(log, part)) && !isOver(part));
  return [...checks, ...new Map(installed.map((part) => [nameCheck(part), part])).values()];
}

interface CommandDraft {
  log: SessionLog;
  relevance: Relevance;
  subject: string;
  /** Not the last run of its command: known by what was run. */
  isOther?: boolean;
}

function draftCommand(part: PartRun, { log, relevance, subject, isOther = false }: CommandDraft): Fact | null {
  const { run, stem, environment, check, status } = part;
  const outcome = findOutcome(part);
  return draftFact(check === null ? 'command' : 'check', {
    text: cutAtWord((isOther ? subject : nameCommand(part, log.cwd)).replaceAll('`', "'"), MAX_COMMAND_BYTES),
    subject,
    line: run.line,
    status: status === 'ran' ? 'unknown' : status,
    ...OBSERVED,
    age: log.calls - run.call,
    detail: {
      stem,
      exit: part.isAlone ? run.exit : null,
      // Whoever reads on needs the last run first.
      relevance: isOther ? 0 : (relevance.stem.get(stem) ?? 0),
      ...(check === null ? {} : { check, edited: wasEditedSince(log, run.call), ...describeAgain(part, log) }),
      ...(environment.length === 0 ? {} : { environment: environment.slice(0, MAX_VARIABLES) }),
      ...(outcome === null ? {} : { outcome: cutAtWord(outcome, MAX_OUTCOME_BYTES) }),
    },
  });
}

const MAX_AGAIN_BYTES = 1000;

/** How to run a check again, word for word: not where it is told on one line, nor one that was given variables. */
function describeAgain(part: PartRun, { cwd }: SessionLog): { again?: string; folder?: string } {
  const isCut = part.run.command.includes('\n') || part.text.includes('…');
  if (part.assigned.length > 0 || isCut || countUtf8Bytes(part.text) > MAX_AGAIN_BYTES) return {};
  const place = placeOf(part);
  const folder = place === null || place === cwd ? {} : { folder: relatePath(place, cwd) };
  return { again: part.text, ...folder };
}

/** What the output says of this command. Of a line with several commands only a sum of tests can be told whose it is. */
export function findOutcome({ run, check, status, isAlone }: PartRun): string | null {
  if (status === 'failed') return outcomes.findFailureLines(run.output, 1)[0] ?? null;
  if (status !== 'ok' || check === null) return null;
  const tally = outcomes.findTally(run.output);
  return tally !== null && (isAlone || (check === 'test' && /\btests?\b|passed|passing/i.test(tally))) ? tally : null;
}

export function wasEditedSince({ files, cwd }: SessionLog, call: number): boolean {
  const isOfWork = (path: string): boolean => !isOutsideWork(path, cwd) || relatePath(path, cwd) !== path;
  return [...files.values()].some(
    ({ path, lastEdit, edits }) => edits > 0 && lastEdit > call && !isProse(path) && isOfWork(path),
  );
}

/** Older ones say nothing about where the work stands. */
const MAX_CHECKS = 100;

/** By command, the last run of each check; one that failed is left out once the same or more has run. */
function listLastChecks(parts: readonly PartRun[]): PartRun[] {
  const last = new Map<string, PartRun>();
  const endFailures = (isEnded: (failed: PartRun) => boolean): void => {
    for (const [key, failed] of last) if (failed.status === 'failed' && isEnded(failed)) last.delete(key);
  };
  for (const part of parts) {
    // One that has no result yet leaves open what the last one said.
    if (part.check !== null && part.run.failed === null) endFailures((failed) => settles(part, failed));
    if (part.status === 'ok') endFailures(({ run, text }) => run !== part.run && isPartOf(part.text, text));
    if (part.check === null || !SEEN.has(part.status)) continue;
    const key = keyOf(part, placeOf(part));
    last.delete(key);
    last.set(key, part);
    for (const oldest of last.keys()) if (last.size > MAX_CHECKS) last.delete(oldest);
    endFailures((failed) => failed !== part && settles(part, failed));
  }
  return [...last.values()];
}

const CHAIN = ' && ';

/** Whether a command is one of several that were blamed together. */
function isPartOf(text: string, chain: string): boolean {
  return chain !== text && chain.split(CHAIN).includes(text);
}

/** Whether a failure is too old to say where the work stands. */
export function isLeftBehind(log: SessionLog, { run, status }: PartRun): boolean {
  return status === 'failed' && log.calls - run.call >= OPEN_FOR_CALLS;
}

/** Of the last checks: whether it failed, and nothing since says that it may be mended. */
export function isFailing(log: SessionLog, part: PartRun): boolean {
  return part.status === 'failed' && !isLeftBehind(log, part) && !wasMendedSince(log, part.run);
}

const SEEN: ReadonlySet<PartRun['status']> = new Set(['ok', 'failed', 'ran']);

/**
 * A run of at least as much replaces a failure, and so does one of all tests that reports what failed as passed; a test that
 * passed alone does where no other is named.
 */
function settles(later: PartRun, failed: PartRun): boolean {
  const isOther = later.run !== failed.run && later.check === 'test' && failed.check === 'test';
  if (isOther && !isSelective(later) && outcomes.passesAll(later.run.output, failed.run.output)) return true;
  if (later.status !== 'ran' && placeOf(later) === placeOf(failed) && isWider(later, failed)) return true;
  const test = later.status === 'ok' && later.check === failed.check ? findSelectedTest(later) : undefined;
  if (test === undefined) return false;
  const named = outcomes.findFailedTests(failed.run.output);
  return named.length > 0 && named.every((line) => line.includes(test));
}

const MAX_ERRORS = 40;
const MAX_ERROR_BYTES = 200;
const LINES_OF_OPEN = 6;
const LINES_OF_OTHERS = 1;
/** Older failures were left behind, or another command showed that they are gone. */
const OPEN_FOR_CALLS = 60;

/** What commands failed with. Open is only what the last run of a check shows. */
function findErrorFacts(log: SessionLog, { parts, lastChecks }: Runs): Fact[] {
  const open = new Set(lastChecks.filter(({ status }) => status === 'failed'));
  const facts: Fact[] = [];
  for (const part of parts.toReversed()) {
    if (facts.length >= MAX_ERRORS) break;
    if (part.status !== 'failed') continue;
    const { run, use } = part;
    const age = log.calls - run.call;
    const isLast = open.has(part);
    const isOpen = isLast && isFailing(log, part);
    const isOver =
      (part.check !== null && !isLast) ||
      parts.some((later) => later.use === use && later.run.call > run.call && later.status === 'ok');
    const lines = outcomes.findFailureLines(run.output, isOpen ? LINES_OF_OPEN : LINES_OF_OTHERS);
    for (const [index, line] of lines.entries()) {
      const fact = draftFact('error', {
        text: cutAtWord(line, MAX_ERROR_BYTES),
        line: run.line,
        status: isOpen ? 'open' : isOver ? 'closed' : 'unknown',
        ...OBSERVED,
        age,
        detail: {
          command: use,
          ...(isOpen
            ? {
                ...(index === 0 ? describeReading(log, run.call) : {}),
                run: cutAtWord(nameCheck(part), MAX_COMMAND_BYTES),
                edited: wasEditedSince(log, run.call),
              }
            : {}),
        },
      });
      if (fact !== null) facts.push(fact);
    }
  }
  return facts;
}

const MAX_TOOL_ERRORS = 10;

/** What calls of other tools failed with, by the first line. None is open: the agent went on. */
function findToolErrors({ steps, calls }: SessionLog): (Fact | null)[] {
  const failures = steps.filter(({ kind, failed }) => kind !== 'command' && failed === true);
  return failures.slice(-MAX_TOOL_ERRORS).map(({ call, line, tool, input, output }) => {
    const isSame = (step: Step): boolean => step.tool === tool && step.input.file_path === input.file_path;
    const isOver = steps.some((step) => step.call > call && step.failed === false && isSame(step));
    return draftFact('error', {
      text: cutAtWord(output.trim().split('\n', 1)[0] ?? '', MAX_ERROR_BYTES),
      line,
      status: isOver ? 'closed' : 'unknown',
      ...OBSERVED,
      age: calls - call,
      detail: { command: tool },
    });
  });
}

/** Whether a file that the failure names, or one beside it, was edited after the run: nobody knows until it runs again. */
export function wasMendedSince(log: SessionLog, run: CommandRun): boolean {
  const named = findPaths(outcomes.findFailureLines(run.output, LINES_OF_OPEN).join('\n'));
  const folders = new Set(named.map(folderOf).filter((folder) => folder !== ''));
  return [...log.files.values()].some(({ path, lastEdit, edits }) => {
    if (edits === 0 || lastEdit <= run.call) return false;
    return named.some((name) => path.endsWith(name)) || [...folders].some((folder) => folderOf(path).endsWith(folder));
  });
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.length - baseName(path).length - 1));
}

const MAX_READING_BYTES = 240;
const SHORTEST_READING = 60;

/** What the agent said right after a run, if it said something. */
function describeReading(log: SessionLog, call: number): { said?: string } {
  const reply = log.replies.find((other) => other.call === call && other.text.length > SHORTEST_READING);
  const line = printProse(reply?.text ?? '');
  return line === '' ? {} : { said: cutAtWord(line, MAX_READING_BYTES) };
}

const MAX_RUNNING = 5;

/** Of a command that only was not waited for, and that nobody looked at again, nothing is known after so many calls. */
const UNWATCHED_CALLS = 6;

/** Work in the background that was started, not seen to end and not run again since. */
export function findRunningFacts(log: SessionLog): (Fact | null)[] {
  return [...log.pending.values()]
    .filter(({ isBackground, command }) => isBackground && !wasRunAgain(log, command))
    .map((pending) => ({ pending, place: findPlaceOf(pending, log) }))
    .filter(({ pending: { call, command }, place }) => {
      const isMeant = command === null || command.background || place.some((part) => part !== null);
      return isMeant || log.calls - call <= UNWATCHED_CALLS;
    })
    .slice(-MAX_RUNNING)
    .map(({ pending, place: [port, pid] }) => {
      const { line, call } = pending;
      return draftFact('running', {
        text: nameWork(pending),
        line,
        status: 'unfinished',
        ...OBSERVED,
        age: log.calls - call,
        ...(port === null && pid === null ? {} : { detail: { ...(port && { port }), ...(pid && { pid }) } }),
      });
    });
}

function wasRunAgain({ commands }: SessionLog, command: CommandRun | null): boolean {
  return commands.some((run) => run.call > (command?.call ?? Infinity) && run.command === command?.command);
}

/** The title of what another agent was asked; a command without the variables that it is given. */
function nameWork({ what, command }: PendingCall): string {
  if (command === null) return cutAtWord(findFirstLine(what), MAX_COMMAND_BYTES);
  return cutAtWord(cleanLine(what).replace(/^(?:\w+=(?:"[^"]*"|'[^']*'|\S*) )+(?=\S)/, ''), MAX_ERROR_BYTES);
}

const PORT_OPTION = /--port[= ](\d{2,5})\b|(?:^|\s)PORT=(\d{2,5})\b/;
/** Where a server says that it listens. A command may name the addresses of others. */
const ADDRESS = /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})\b/;
const PID = /^\[\d+\] (\d{2,7})$|\bpid:? (\d{2,7})\b/im;
const SHORTEST_ID = 4;

/** The port and the pid that the command, its first output or a look at it later shows. */
function findPlaceOf({ what, call, command, step }: PendingCall, { steps }: SessionLog): (number | null)[] {
  const begun = `${command?.started ?? ''}\n${step.output}`;
  const isAbout = ({ input }: Step): boolean =>
    Object.values(input).some((value) => value.length >= SHORTEST_ID && begun.includes(value));
  const later = steps.filter((other) => other.call > call && isAbout(other)).map(({ output }) => output);
  const printed = [begun, ...later].join('\n');
  const find = (pattern: RegExp, text: string): number | null =>
    Number(pattern.exec(text)?.slice(1).find(Boolean) ?? 0) || null;
  return [find(PORT_OPTION, what) ?? find(ADDRESS, printed), find(PID, printed)];
}
