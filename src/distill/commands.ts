import type { Fact } from '../model/fact.ts';
import { splitMessage } from '../model/message-lines.ts';
import { baseName } from '../model/paths.ts';
import { cleanLine, cutAtWord } from '../model/text.ts';
import { draftFact, OBSERVED, type Relevance } from './facts.ts';
import { findPaths } from './names.ts';
import {
  type CheckKind,
  didFail,
  didNotRun,
  findCheckKind,
  findFailedKind,
  findFailureLines,
  findTally,
} from './outcome.ts';
import type { CommandRun, SessionLog } from './session-log.ts';
import { type Segment, splitSegments } from './shell.ts';

/** One command of a command line with an outcome of its own. */
export interface PartRun extends Segment {
  run: CommandRun;
  check: CheckKind | null;
  status: 'ok' | 'failed' | 'running' | 'unknown';
  /** Whether it is the only command of its line: then the whole output is its own. */
  isAlone: boolean;
}

/**
 * The commands of a line. Of a line that failed, one command is blamed: the first whose kind the output shows to have
 * failed, else the last check. Those before it succeeded; those after it did not run.
 */
export function listPartRuns(run: CommandRun): PartRun[] {
  const segments = splitSegments(run.command);
  const parts = segments.map((segment): PartRun => {
    const check = findCheckKind(segment.use);
    return { ...segment, run, check, status: 'unknown', isAlone: segments.length === 1 };
  });
  if (run.failed === null) return parts.map((part) => ({ ...part, status: run.background ? 'running' : 'unknown' }));
  const hasCheck = parts.some(({ check }) => check !== null);
  if (!didFail(run, hasCheck)) return parts.map((part) => ({ ...part, status: part.afterFailure ? 'unknown' : 'ok' }));
  const kind = findFailedKind(run.output);
  const byKind = parts.findIndex(({ check }) => check !== null && check === kind);
  const lastCheck = parts.findLastIndex(({ check }) => check !== null);
  const blamed = byKind !== -1 ? byKind : lastCheck !== -1 ? lastCheck : parts.length - 1;
  return parts.map((part, at): PartRun => {
    if (at < blamed) return { ...part, status: 'ok' };
    if (at > blamed || (part.check !== null && didNotRun(run.output))) return part;
    return { ...part, status: 'failed' };
  });
}

const MAX_COMMANDS = 40;
const MAX_COMMAND_BYTES = 110;
const MAX_OUTCOME_BYTES = 140;
const MAX_VARIABLES = 4;

/** The last run of each command that is worth a fact, and what failed. */
export function findCommandFacts(log: SessionLog, relevance: Relevance): (Fact | null)[] {
  const parts = log.commands.flatMap(listPartRuns);
  const lastRuns = new Map(parts.map((part) => [part.use, part]));
  const facts = [...lastRuns.values()]
    .sort((a, b) => b.run.call - a.run.call)
    .slice(0, MAX_COMMANDS)
    .map((part) => draftCommand(log, relevance, part));
  return [...facts, ...findErrorFacts(log, parts)];
}

function draftCommand(log: SessionLog, relevance: Relevance, part: PartRun): Fact | null {
  const { run, text, stem, use, environment, check, status } = part;
  const outcome = findOutcome(part);
  return draftFact(check === null ? 'command' : 'check', {
    text: cutAtWord(text.replaceAll('`', "'"), MAX_COMMAND_BYTES),
    subject: use,
    line: run.line,
    status,
    ...OBSERVED,
    age: log.calls - run.call,
    detail: {
      stem,
      exit: part.isAlone ? run.exit : null,
      relevance: relevance.stem.get(stem) ?? 0,
      runs: log.index.names.stem.get(stem)?.by.get('command')?.count ?? 1,
      ...(check === null ? {} : { check, edited: wasEditedSince(log, run.call) }),
      ...(environment.length === 0 ? {} : { environment: environment.slice(0, MAX_VARIABLES) }),
      ...(outcome === null ? {} : { outcome: cutAtWord(outcome, MAX_OUTCOME_BYTES) }),
    },
  });
}

/** What the output says of this command. Of a line with several commands only a sum of tests can be told whose it is. */
export function findOutcome({ run, check, status, isAlone }: PartRun): string | null {
  if (status === 'failed') return findFailureLines(run.output, 1)[0] ?? null;
  if (status !== 'ok' || check === null) return null;
  const tally = findTally(run.output);
  return tally !== null && (isAlone || (check === 'test' && /\btests?\b|passed|passing/i.test(tally))) ? tally : null;
}

const PROSE_FILE = /\.(?:mdx?|txt|rst)$/;

export function wasEditedSince(log: SessionLog, call: number): boolean {
  return [...log.files.values()].some(
    ({ path, lastEdit, edits }) => edits > 0 && lastEdit > call && !PROSE_FILE.test(path),
  );
}

/** How a check is the same check again: without the flags that only change how much it prints. */
function keyOf(text: string): string {
  return cleanLine(
    text.replace(/ (?:-v|-vv|-q|--verbose|--quiet|-count=\d+|-race|--silent|--reporter[= ]\S+)(?= |$)/g, ''),
  );
}

/** A check of a part: a test by name, a file, a package. */
const PARTIAL =
  /(?:^| )(?:-run|-k|-t|--grep|--filter|--testNamePattern)\b|::|\.(?:go|py|[jt]sx?|rs|rb|java|php)\b|(?:^| )\.\/[\w-]+/;

/** Older ones say nothing about where the work stands. */
const MAX_CHECKS = 100;

/** By command, the last run of each check; one that failed is left out once a check at least as wide has run. */
export function listLastChecks(parts: readonly PartRun[]): PartRun[] {
  const last = new Map<string, PartRun>();
  for (const part of parts) {
    if (part.check === null || (part.status !== 'ok' && part.status !== 'failed')) continue;
    const key = keyOf(part.text);
    last.delete(key);
    last.set(key, part);
    for (const oldest of last.keys()) if (last.size > MAX_CHECKS) last.delete(oldest);
    for (const [other, failed] of last)
      if (failed !== part && failed.status === 'failed' && settles(part, failed)) last.delete(other);
  }
  return [...last.values()];
}

function settles(passed: PartRun, failed: PartRun): boolean {
  const isWide = !PARTIAL.test(passed.text);
  if (failed.check === 'build' && passed.check !== 'lint' && isWide) return true;
  if (passed.check !== failed.check) return false;
  const [ours, theirs] = [keyOf(passed.text), keyOf(failed.text)];
  return isWide || theirs.includes(ours) || (passed.use === failed.use && ours.length <= theirs.length);
}

const MAX_ERRORS = 40;
const MAX_ERROR_BYTES = 200;
const LINES_OF_OPEN = 6;
const LINES_OF_OTHERS = 1;
/** Older failures were left behind, or another command showed that they are gone. */
const OPEN_FOR_CALLS = 60;

/** What commands failed with. Open is only what the last run of a check shows. */
function findErrorFacts(log: SessionLog, parts: readonly PartRun[]): Fact[] {
  const open = new Set(listLastChecks(parts).filter(({ status }) => status === 'failed'));
  const facts: Fact[] = [];
  for (const part of parts.toReversed()) {
    if (facts.length >= MAX_ERRORS) break;
    if (part.status !== 'failed') continue;
    const { run, use, text } = part;
    const age = log.calls - run.call;
    const isLast = open.has(part);
    const isOpen = isLast && age < OPEN_FOR_CALLS && !wasMendedSince(log, run);
    const isOver =
      (part.check !== null && !isLast) ||
      parts.some((later) => later.use === use && later.run.call > run.call && later.status === 'ok');
    const lines = findFailureLines(run.output, isOpen ? LINES_OF_OPEN : LINES_OF_OTHERS);
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
                run: cutAtWord(text, MAX_COMMAND_BYTES),
                order: index,
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

/** Whether a file that the failure names, or one beside it, was edited after the run: nobody knows until it runs again. */
function wasMendedSince(log: SessionLog, run: CommandRun): boolean {
  const named = findPaths(findFailureLines(run.output, LINES_OF_OPEN).join('\n'));
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
  const line =
    reply === undefined
      ? undefined
      : cleanLine(
          splitMessage(reply.text)
            .filter(({ isCode }) => !isCode)
            .map(({ text }) => text)
            .join(' '),
        );
  return line === undefined || line === '' ? {} : { said: cutAtWord(line, MAX_READING_BYTES) };
}

const MAX_RUNNING = 5;

/** Work in the background that was started and not seen to end. */
export function findRunningFacts(log: SessionLog): (Fact | null)[] {
  return [...log.pending.values()]
    .filter(({ isBackground }) => isBackground)
    .slice(-MAX_RUNNING)
    .map(({ what, line, call }) =>
      draftFact('running', {
        text: cutAtWord(what.replace(/\s+/g, ' '), MAX_ERROR_BYTES),
        line,
        status: 'unfinished',
        ...OBSERVED,
        age: log.calls - call,
      }),
    );
}
