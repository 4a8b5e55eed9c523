import type { Fact } from '../model/fact.ts';
import { cutAtWord } from '../model/text.ts';
import { draftFact, OBSERVED, type Valuation, weighNames } from './facts.ts';
import { covers, didFail, findFailureLines, findTally, isCheck } from './outcome.ts';
import type { CommandRun, SessionLog } from './session-log.ts';
import { type Segment, splitSegments } from './shell.ts';

const MAX_COMMANDS = 40;
const MAX_COMMAND_BYTES = 110;
const MAX_OUTCOME_BYTES = 140;
const MAX_TALLY_BYTES = 70;
const MAX_VARIABLES = 4;
/** Every check is worth its line, even where another use of the same program is shown. */
const CHECK_POINTS = 1000;
const MAX_ERRORS = 40;
const MAX_ERROR_BYTES = 200;

type LastRun = Segment & { run: CommandRun };

/** The last run of each command that is worth a fact, and what failed. */
export function findCommandFacts(log: SessionLog, valuation: Valuation): (Fact | null)[] {
  const lastRuns = new Map<string, LastRun>();
  for (const run of log.commands)
    for (const segment of splitSegments(run.command)) lastRuns.set(segment.use, { ...segment, run });
  const facts = [...lastRuns.values()]
    .sort((a, b) => b.run.call - a.run.call)
    .slice(0, MAX_COMMANDS)
    .map((lastRun) => draftCommand(log, valuation, lastRun));
  return [...facts, ...findErrors(log, valuation, [...lastRuns.values()])];
}

function draftCommand(log: SessionLog, valuation: Valuation, lastRun: LastRun): Fact | null {
  const { run, text, stem, use, environment } = lastRun;
  const failed = didFail(run);
  const check = isCheck(use);
  const outcome = failed ? findFailureLines(run.output, 1)[0] : check ? findTally(run.output) : null;
  // A command is shown for itself: files in it that probably do not matter must not count against it.
  const weighed = Object.entries(weighNames(`${text}\n${outcome ?? ''}`, valuation));
  const gains = weighed.filter(([, points]) => points > 0);
  return draftFact(check ? 'check' : 'command', {
    text: cutAtWord(text.replaceAll('`', "'"), MAX_COMMAND_BYTES),
    subject: use,
    line: run.line,
    status: statusOf(run, failed),
    ...OBSERVED,
    weight: {
      points: check ? CHECK_POINTS : 0,
      age: log.calls - run.call,
      names: { ...Object.fromEntries(gains), [stem]: valuation.values.stem.get(stem) ?? 0 },
    },
    detail: {
      stem,
      exit: run.exit,
      ...(environment.length === 0 ? {} : { environment: environment.slice(0, MAX_VARIABLES) }),
      ...(outcome ? { outcome: cutAtWord(outcome, failed ? MAX_OUTCOME_BYTES : MAX_TALLY_BYTES) } : {}),
    },
  });
}

function statusOf(run: CommandRun, failed: boolean): string {
  if (run.failed === null) return run.background ? 'running' : 'unknown';
  return failed ? 'failed' : 'ok';
}

/** An open error is worth its line, less so the older it is. */
const OPEN_POINTS = 1500;
const FRESH = 20;
const LINES_OF_OPEN = 6;
const LINES_OF_CLOSED = 1;

/** What commands failed with. An error is open until a later run of the same command succeeds. */
function findErrors(log: SessionLog, valuation: Valuation, lastRuns: readonly LastRun[]): Fact[] {
  const facts: Fact[] = [];
  const successes = lastRuns.filter(({ run }) => run.failed === false && !didFail(run));
  for (const run of log.commands.toReversed()) {
    if (facts.length >= MAX_ERRORS) break;
    const uses = splitSegments(run.command).map((segment) => segment.use);
    if (uses.length === 0 || !didFail(run)) continue;
    const later = successes.filter((success) => success.run.call > run.call);
    const closed = later.some((success) => uses.some((use) => covers(success.use, use)));
    const age = log.calls - run.call;
    const lines = findFailureLines(run.output, closed ? LINES_OF_CLOSED : LINES_OF_OPEN);
    for (const [index, line] of lines.entries()) {
      const fact = draftFact('error', {
        text: cutAtWord(line, MAX_ERROR_BYTES),
        line: run.line,
        status: closed ? 'closed' : 'open',
        ...OBSERVED,
        weight: {
          points: closed || index > 0 ? 0 : Math.round((OPEN_POINTS * FRESH) / (FRESH + age)),
          age,
          names: weighNames(line, valuation),
        },
        detail: { command: uses[0] },
      });
      if (fact !== null) facts.push(fact);
    }
  }
  return facts;
}

export function findRunningFacts(log: SessionLog): Fact[] {
  const facts = [...log.pending.values()]
    .filter((call) => call.source !== 'answer')
    .map(({ what, line, call }) =>
      draftFact('running', {
        text: cutAtWord(what.replace(/\s+/g, ' '), MAX_ERROR_BYTES),
        line,
        status: 'unfinished',
        ...OBSERVED,
        weight: { points: 3000, age: log.calls - call },
      }),
    );
  return facts.filter((fact) => fact !== null).slice(-5);
}
