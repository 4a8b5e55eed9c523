import { bold, dim, green, type Part, red, yellow } from '../../../app/describe/styled-text.ts';
import { listJournalNotices } from '../../../app/notices.ts';
import { parseCount } from '../../../app/parse.ts';
import {
  type Check,
  type CheckResult,
  type LeftCheck,
  listChecks,
  readAllowed,
  runCheck,
  saveResults,
  type Verification,
  verifyHandover,
} from '../../../app/verify.ts';
import { HandoverError, usageError } from '../../../errors.ts';
import { isChanged } from '../../../handover/claims.ts';
import { cleanLine } from '../../../model/text.ts';
import type { Claim } from '../../../model/workspace.ts';
import { abbreviateHome } from '../../../platform/paths.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, json, optionalArgument, textOr, toggle, tuple } from '../flags.ts';

const flags = {
  all: toggle('Also show what still holds and what cannot be told'),
  run: toggle('Run the tests, builds and lints of the session again, after asking'),
  timeout: textOr('600', 'With --run: seconds that one check may take', 'seconds'),
  json,
};
type VerifyFlags = FlagValues<typeof flags>;

export const verify = command('verify', runVerify, {
  positional: tuple(
    optionalArgument('An id, its start or end, or latest; the newest of this project if left out', 'id'),
  ),
  flags,
});

async function runVerify(this: CliContext, values: VerifyFlags, words?: string): Promise<void> {
  const verification = await verifyHandover(this, words);
  const { handover, place, claims } = verification;
  const changed = claims.filter(({ state }) => isChanged(state));
  if (!values.json) printClaims(this, verification, values.all);
  const ran = values.run ? await runAgain(this, verification, values) : null;
  if (values.json) {
    const run = ran === null ? {} : { run: describeRun(ran) };
    this.out.json({ id: handover.id, folder: place.root, changed: changed.length, claims, ...run });
  }
  const failed = ran?.results.some(({ outcome }) => outcome !== 'passed') ?? false;
  if (changed.length > 0 || failed) this.process.exitCode = SOMETHING_CHANGED;
}

const SOMETHING_CHANGED = 1;
const STATES = ['changed', 'gone', 'unknown', 'holds'] as const;
const NAMES: Record<Claim['state'], Part> = {
  changed: yellow('changed '),
  gone: red('gone    '),
  unknown: dim('unknown '),
  holds: green('holds   '),
};
const ABOUT_COLUMNS = 12;
const STATE_COLUMNS = 9;

function printClaims({ out, machine }: CliContext, { handover, place, claims }: Verification, all: boolean): void {
  out.line(bold(handover.id), `  ${out.fit(handover.title, handover.id.length + 2)}`);
  if (place.root !== machine.cwd) out.line(dim(`in ${abbreviateHome(place.root, machine)}`));
  for (const state of STATES)
    for (const { about, what, now } of claims.filter(
      (claim) => claim.state === state && (all || isWorthALook(claim)),
    )) {
      const isTold = now !== null && now !== 'changed since' && now !== 'gone';
      const text = out.fit(`${cleanLine(what)}${isTold ? ` -> ${cleanLine(now)}` : ''}`, STATE_COLUMNS + ABOUT_COLUMNS);
      out.line(NAMES[state], ` ${about.padEnd(ABOUT_COLUMNS)}`, text);
    }
  const count = (state: Claim['state']): number => claims.filter((claim) => claim.state === state).length;
  const counts = [
    `${count('holds')} hold`,
    `${count('changed')} changed`,
    `${count('gone')} gone`,
    ...(count('unknown') === 0 ? [] : [`${count('unknown')} cannot be told`]),
  ];
  out.line(claims.length === 0 ? 'it states nothing that can be looked at again' : counts.join(', '));
  if (!all && count('holds') + count('unknown') > 0) out.line(dim('see all: handover verify --all'));
}

/** A file that was written since may be another one. That a check can no longer be told follows from what is shown anyway. */
function isWorthALook({ state, about, now }: Claim): boolean {
  return isChanged(state) || (now !== null && about !== 'check');
}

interface Rerun {
  results: CheckResult[];
  left: readonly LeftCheck[];
  saved: string | null;
}

async function runAgain(context: CliContext, verification: Verification, values: VerifyFlags): Promise<Rerun> {
  const { machine, out, err } = context;
  const seconds = parseCount(values.timeout, 1);
  const { checks, left } = listChecks(verification, machine);
  for (const { command: text, reason } of left) err.line(dim(`not run: ${cleanLine(text)} (${reason})`));
  if (checks.length === 0) {
    err.line('the session has no check that can be run again');
    return { results: [], left, saved: null };
  }
  const agreed = await agree(context, checks);
  const results: CheckResult[] = [];
  for (const check of agreed) {
    const result = await runCheck(check, machine, seconds * 1000);
    if (!values.json) printResult(context, result);
    results.push(result);
  }
  const saved = saveResults(context, verification, results);
  if (saved !== null) for (const notice of listJournalNotices(saved)) context.notify(notice);
  if (saved !== null && !values.json) out.line('saved ', bold(saved.handover.id));
  return { results, left, saved: saved?.handover.id ?? null };
}

/**
 * The checks to run. The commands come from a transcript: a person sees them first, or has allowed each of them in the own
 * settings.
 */
async function agree({ machine, err, interactive }: CliContext, checks: readonly Check[]): Promise<readonly Check[]> {
  const allowed = readAllowed(machine);
  const asked = checks.filter((check) => !allowed.has(check.command));
  if (asked.length === 0) return checks;
  for (const { command: text, folder } of asked) err.line(`  ${cleanLine(text)}`, dim(`  in ${folder}`));
  if (!interactive) {
    const first = JSON.stringify(asked[0]?.command);
    const hint = `Repeat it in a terminal, or allow them in your own config.toml: [verify] run = [${first}]`;
    if (asked.length === checks.length)
      throw usageError('these commands would be run, and there is no terminal to ask in', hint);
    err.line(dim('these were not run: your own config.toml does not name them'));
    return checks.filter((check) => !asked.includes(check));
  }
  const { askYesNo } = await import('../prompts.ts');
  if (await askYesNo('Run these commands?', false)) return checks;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was run');
}

function printResult({ out }: CliContext, { command: text, outcome, line, seconds }: CheckResult): void {
  const name = outcome === 'passed' ? green(outcome) : red(outcome);
  out.line(name, `  ${cleanLine(text)}`, dim(`  ${seconds.toFixed(1)} s${line === null ? '' : `: ${line}`}`));
}

function describeRun({ results, left, saved }: Rerun): unknown {
  const checks = results.map(({ fact, command: text, outcome, exit, line, seconds }) => ({
    ...{ fact: fact.id, command: text, outcome, exit, line, seconds },
  }));
  return { saved, left, checks };
}
