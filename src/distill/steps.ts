import type { Fact } from '../model/fact.ts';
import { printProse } from '../model/message-lines.ts';
import { cleanLine, cutAtWord, cutToBytes } from '../model/text.ts';
import type { Runs } from './commands.ts';
import { draftFact, OBSERVED } from './facts.ts';
import { findFailureLines, isCheck } from './outcome.ts';
import type { Message, SessionLog, Step } from './session-log.ts';
import { findShownFiles, splitSegments } from './shell.ts';

const MAX_STEPS = 40;
const MAX_INPUT_BYTES = 240;
const MAX_SAID_BYTES = 600;
const MAX_REPEATED_BYTES = 140;
const MAX_OUTCOME_BYTES = 220;
const MAX_ADDED_BYTES = 240;
/** The newest edits are shown at more length. */
const NEWEST_EDITS = 3;
const MAX_NEWEST_BYTES = 600;

/**
 * The last calls and words of the session, oldest first. Each entry is a line; what came of it follows, indented. A run
 * of the same call is one entry.
 */
export function findLogFact(log: SessionLog, runs: Runs): Fact | null {
  const steps = log.steps.slice(-MAX_STEPS);
  const mended = listMended(runs);
  const first = steps[0];
  const edits = steps.filter(({ kind, failed }) => kind === 'edit' && failed !== true).slice(-NEWEST_EDITS);
  const isRecent = ({ call }: Message): boolean => first === undefined || call >= first.call;
  const prompts = log.prompts.filter(isRecent).map(({ call, line, text }) => ({
    call,
    line,
    text: `User: ${cutAtWord(cleanLine(text), MAX_REPEATED_BYTES)}`,
  }));
  // What closed a turn is quoted with the turn.
  const closed = new Set([...log.prompts.map(({ call }) => call), log.calls]);
  const replies = log.replies.filter(isRecent).map(({ call, line, text }) => ({
    call,
    line,
    text: `Assistant: ${cutAtWord(printProse(text), closed.has(call) ? MAX_REPEATED_BYTES : MAX_SAID_BYTES)}`,
  }));
  const entries = [
    ...steps.map((step) => ({
      call: step.call - 0.5,
      line: step.line,
      text: printStep(log, step, { addedBytes: edits.includes(step) ? MAX_NEWEST_BYTES : MAX_ADDED_BYTES, mended }),
    })),
    ...prompts,
    ...replies,
  ]
    .filter(({ text }) => !text.endsWith(': '))
    .sort((a, b) => a.call - b.call || a.line - b.line);
  if (entries.length === 0) return null;
  return draftFact('note', {
    text: joinRepeated(entries.map(({ text }) => text)).join('\n'),
    line: entries.at(-1)?.line ?? 0,
    ...OBSERVED,
    age: 0,
    subject: `log to line ${entries.at(-1)?.line ?? 0} of ${entries.length}`,
    detail: { role: 'log' },
  });
}

function joinRepeated(entries: readonly string[]): string[] {
  const joined: { text: string; count: number }[] = [];
  for (const text of entries) {
    const last = joined.at(-1);
    if (last?.text === text) last.count++;
    else joined.push({ text, count: 1 });
  }
  return joined.map(({ text, count }) => (count === 1 ? text : `${text} (${count} times)`));
}

function printStep(
  log: SessionLog,
  step: Step,
  { addedBytes, mended }: { addedBytes: number; mended: ReadonlySet<number> },
): string {
  const shown = Object.entries(step.input).map(([name, value]) => {
    const bytes = name === 'new_string' ? addedBytes : MAX_INPUT_BYTES;
    return `${JSON.stringify(name)}: ${JSON.stringify(cutToBytes(value, bytes))}`;
  });
  return `Tool: ${cleanLine(step.tool)} {${shown.join(', ')}}${describeOutcome(log, step, mended)}`;
}

/** The calls whose checks failed and ran again since. */
function listMended({ parts, lastChecks }: Runs): Set<number> {
  const last = new Set(lastChecks);
  const failed = parts.filter(({ check, status }) => check !== null && status === 'failed');
  const open = new Set(failed.filter((part) => last.has(part)).map(({ run }) => run.call));
  return new Set(failed.map(({ run }) => run.call).filter((call) => !open.has(call)));
}

/** What came of a call: what failed, or the end of what a command printed. */
function describeOutcome(log: SessionLog, step: Step, mended: ReadonlySet<number>): string {
  const {
    call,
    kind,
    failed,
    input: { command },
  } = step;
  const output = log.commands.findLast((run) => run.call === call)?.output ?? step.output;
  if (failed === null) return '\n  begun, no result seen';
  if (
    command !== undefined &&
    log.steps.some((later) => later.call > call && later.input.command === command && later.failed !== null)
  )
    return '\n  run again later';
  if (failed && mended.has(call)) return '\n  failed, ran again since';
  if (failed) return `\n  FAILED: ${cutAtWord(findFailureLines(output, 3).join(' | '), MAX_OUTCOME_BYTES)}`;
  if (kind === 'delegate') return `\n  Result: ${cutAtWord(printProse(output), MAX_OUTCOME_BYTES)}`;
  if (kind === 'search') return `\n  Result: ${cutAtWord(cleanLine(output), 90) || 'nothing'}`;
  if (command === undefined) return '';
  const lines = output
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '');
  const segments = splitSegments(command);
  // The end of a file that was shown tells nothing.
  if (segments.length === 0 && findShownFiles(command).length > 0) return '';
  const isLong = segments.some(({ use }) => isCheck(use));
  const end = cutAtWord(cleanLine(lines.slice(isLong ? -4 : -3).join(' | ')), MAX_OUTCOME_BYTES);
  return /\p{L}/u.test(end) ? `\n  Result: ${end}` : '';
}
