import type { Fact } from '../model/fact.ts';
import { cutAtWord } from '../model/text.ts';
import type { Account, RanCommand } from './account.ts';
import { draftFact } from './draft-fact.ts';
import { covers, didFail, findFailureLines, findTally, isCheck } from './outcome.ts';
import { type Segment, splitSegments } from './shell.ts';
import type { Valuation } from './value.ts';
import { weighNames } from './weigh.ts';

const MAX_COMMANDS = 40;
const MAX_COMMAND_BYTES = 110;
const MAX_OUTCOME_BYTES = 140;
const MAX_TALLY_BYTES = 70;
const MAX_VARIABLES = 4;
/** Every check is worth its line, also when another use of the same program is shown. */
const CHECK_POINTS = 1000;
const MAX_ERRORS = 40;
const MAX_ERROR_BYTES = 200;

interface LastRun extends Segment {
  ran: RanCommand;
}

/** The last run of each command that means something, and what is still failing. */
export function findCommandFacts(account: Account, valuation: Valuation): Fact[] {
  const runs = lastRuns(account);
  const facts = [...runs.values()]
    .sort((a, b) => b.ran.call - a.ran.call)
    .slice(0, MAX_COMMANDS)
    .map((run) => makeCommandFact(account, valuation, run));
  return [...facts, ...findErrors(account, valuation, runs)].filter((fact) => fact !== null);
}

function lastRuns(account: Account): Map<string, LastRun> {
  const runs = new Map<string, LastRun>();
  for (const ran of account.commands) {
    for (const segment of splitSegments(ran.command)) runs.set(segment.use, { ...segment, ran });
  }
  return runs;
}

function makeCommandFact(account: Account, valuation: Valuation, run: LastRun): Fact | null {
  const { ran, text, stem, use, environment } = run;
  const failed = didFail(ran);
  const check = isCheck(use);
  const outcome = failed ? findFailureLines(ran.output, 1)[0] : check ? findTally(ran.output) : null;
  return draftFact(check ? 'check' : 'command', {
    text: cutAtWord(text.replaceAll('`', "'"), MAX_COMMAND_BYTES),
    subject: use,
    line: ran.line,
    status: statusOf(ran, failed),
    trust: 'observed',
    origin: 'tool',
    weight: {
      points: check ? CHECK_POINTS : 0,
      age: account.calls - ran.call,
      names: {
        ...onlyGains(weighNames(`${text}\n${outcome ?? ''}`, valuation)),
        [stem]: valuation.values.stem.get(stem) ?? 0,
      },
    },
    detail: {
      stem,
      exit: ran.exit,
      ...(environment.length === 0 ? {} : { environment: environment.slice(0, MAX_VARIABLES) }),
      ...(outcome ? { outcome: cutAtWord(outcome, failed ? MAX_OUTCOME_BYTES : MAX_TALLY_BYTES) } : {}),
    },
  });
}

/** A command is shown for itself: the files in it do not speak against it. */
function onlyGains(names: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(names).filter(([, points]) => points > 0));
}

function statusOf(ran: RanCommand, failed: boolean): string {
  if (ran.failed === null) return ran.background ? 'running' : 'unknown';
  return failed ? 'failed' : 'ok';
}

/** An open error is worth its line, less so the longer nobody came back to it. */
const OPEN_POINTS = 1500;
const FRESH = 20;
const LINES_OF_OPEN = 6;
const LINES_OF_CLOSED = 1;

/** What commands failed with. An error is open until a later run of the same command succeeds. */
function findErrors(account: Account, valuation: Valuation, runs: ReadonlyMap<string, LastRun>): Fact[] {
  const facts: Fact[] = [];
  const greens = [...runs.values()]
    .filter(({ ran }) => ran.failed === false && !didFail(ran))
    .map(({ use, ran }) => ({ use, call: ran.call }));
  for (const ran of account.commands.toReversed()) {
    if (facts.length >= MAX_ERRORS) break;
    const uses = splitSegments(ran.command).map((segment) => segment.use);
    if (uses.length === 0 || !didFail(ran)) continue;
    const closed = greens.some(({ use, call }) => call > ran.call && uses.some((own) => covers(use, own)));
    const age = account.calls - ran.call;
    const lines = findFailureLines(ran.output, closed ? LINES_OF_CLOSED : LINES_OF_OPEN);
    for (const [index, line] of lines.entries()) {
      const fact = draftFact('error', {
        text: cutAtWord(line, MAX_ERROR_BYTES),
        line: ran.line,
        status: closed ? 'closed' : 'open',
        trust: 'observed',
        origin: 'tool',
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

/** What was started and has not come back. */
export function findRunningFacts(account: Account): Fact[] {
  const facts = [...account.open.values()]
    .filter((call) => call.voice !== 'answer')
    .map(({ what, line, call }) =>
      draftFact('running', {
        text: cutAtWord(what.replace(/\s+/g, ' '), MAX_ERROR_BYTES),
        line,
        status: 'unfinished',
        trust: 'observed',
        origin: 'tool',
        weight: { points: 3000, age: account.calls - call },
      }),
    );
  return facts.filter((fact) => fact !== null).slice(-5);
}
