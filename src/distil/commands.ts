import type { Fact } from '../model/fact.ts';
import { cutAtWord } from '../model/text.ts';
import type { Account, RanCommand } from './account.ts';
import { draftFact } from './draft-fact.ts';
import { findFailureLines, isCheck, splitSegments } from './shell.ts';
import type { Valuation } from './value.ts';
import { weighNames } from './weigh.ts';

const MAX_COMMANDS = 40;
const MAX_COMMAND_BYTES = 110;
const MAX_OUTCOME_BYTES = 140;
const MAX_ERRORS = 40;
const MAX_ERROR_BYTES = 200;

interface LastRun {
  ran: RanCommand;
  text: string;
  stem: string;
}

/** The last run of each command that means something, and what is still failing. */
export function findCommandFacts(account: Account, valuation: Valuation): Fact[] {
  const runs = lastRuns(account);
  const facts = [...runs.values()]
    .sort((a, b) => b.ran.call - a.ran.call)
    .slice(0, MAX_COMMANDS)
    .map((run) => makeCommandFact(account, valuation, run));
  return [...facts, ...findOpenErrors(account, valuation, runs)].filter((fact) => fact !== null);
}

function lastRuns(account: Account): Map<string, LastRun> {
  const runs = new Map<string, LastRun>();
  for (const ran of account.commands) {
    for (const { text, stem } of splitSegments(ran.command)) runs.set(stem, { ran, text, stem });
  }
  return runs;
}

function makeCommandFact(account: Account, valuation: Valuation, { ran, text, stem }: LastRun): Fact | null {
  const failed = didFail(ran);
  const [outcome] = failed ? findFailureLines(ran.output, 1) : [];
  return draftFact(isCheck(stem) ? 'check' : 'command', {
    text: cutAtWord(text.replaceAll('`', "'"), MAX_COMMAND_BYTES),
    subject: stem,
    line: ran.line,
    status: statusOf(ran, failed),
    trust: 'observed',
    origin: 'tool',
    weight: {
      points: 0,
      age: account.calls - ran.call,
      names: {
        ...onlyGains(weighNames(`${text}\n${outcome ?? ''}`, valuation)),
        [stem]: valuation.values.stem.get(stem) ?? 0,
      },
    },
    detail: {
      stem,
      exit: ran.exit,
      ...(outcome === undefined ? {} : { outcome: cutAtWord(outcome, MAX_OUTCOME_BYTES) }),
    },
  });
}

/** A command is shown for itself: the files in it do not speak against it. */
function onlyGains(names: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(names).filter(([, points]) => points > 0));
}

const FAILED_OUTPUT =
  /^(?:FAIL\b|--- FAIL|panic:|Traceback|npm (?:ERR|error)|fatal:|error:|error\[|make: \*\*\*)|\b[1-9]\d* failed\b/m;

/** A pipe hides the exit status of what is before it, so a green status is not believed against a red output. */
function didFail(ran: RanCommand): boolean {
  return ran.failed === true || FAILED_OUTPUT.test(ran.output.slice(-4000));
}

function statusOf(ran: RanCommand, failed: boolean): string {
  if (ran.failed === null) return ran.background ? 'running' : 'unknown';
  return failed ? 'failed' : 'ok';
}

/** An error is open until a later run of the same command succeeds. */
function findOpenErrors(account: Account, valuation: Valuation, runs: ReadonlyMap<string, LastRun>): Fact[] {
  const facts: Fact[] = [];
  for (const ran of account.commands.toReversed()) {
    if (facts.length >= MAX_ERRORS) break;
    const stems = splitSegments(ran.command).map((segment) => segment.stem);
    const healed = stems.some((stem) => {
      const last = runs.get(stem);
      return last !== undefined && last.ran.call > ran.call && !didFail(last.ran);
    });
    if (stems.length === 0 || healed || !didFail(ran)) continue;
    for (const line of findFailureLines(ran.output, 6)) {
      const fact = draftFact('error', {
        text: cutAtWord(line, MAX_ERROR_BYTES),
        line: ran.line,
        status: 'open',
        trust: 'observed',
        origin: 'tool',
        weight: { points: 0, age: account.calls - ran.call, names: weighNames(line, valuation) },
        detail: { command: stems[0] },
      });
      if (fact !== null) facts.push(fact);
    }
  }
  return facts;
}

/** What was started and has not come back. */
export function findRunningFacts(account: Account): Fact[] {
  const facts = [...account.open.values()].map(({ what, line, call }) =>
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
