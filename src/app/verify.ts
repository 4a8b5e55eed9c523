import { resolve } from 'node:path';
import * as v from 'valibot';
import { findFailureLines, findTally } from '../distill/outcome.ts';
import { notFoundError } from '../errors.ts';
import { checkClaims, digestCodeNow } from '../handover/claims.ts';
import { addByHand } from '../handover/link.ts';
import { OUTDATED, RAN_ON, VERIFIED } from '../handover/marks.ts';
import { unsealHandover } from '../handover/seal.ts';
import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { cleanLine, cutAtWord } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import type { Claim } from '../model/workspace.ts';
import { isFolder, isLexicallyInside } from '../platform/folders.ts';
import { listAliases } from '../platform/known-projects.ts';
import type { Machine } from '../platform/machine.ts';
import { describeSelf, formatIdentity } from '../platform/process-identity.ts';
import { runInGroup } from '../platform/processes.ts';
import { describePlace, findWorkFolder, type Place } from '../platform/project.ts';
import { parseSection, readUserConfig } from '../platform/settings-file.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { redactDraft } from '../redact/redact-draft.ts';
import { hasPlaceholders } from '../redact/redactor.ts';
import type { SaveResult } from '../store/handovers.ts';
import { readMarked, readMarks } from '../store/marks.ts';
import { saveByPerson } from './capture/save-session.ts';
import { type Context, findStore } from './context.ts';
import { pickHere } from './find-handover.ts';
import { redactPlace } from './resume.ts';

export interface Verification {
  handover: Handover;
  place: Place;
  claims: Claim[];
}

/** Looks again at what a handover states: in the folder that it is about, or in this one where that was moved here. */
export async function verifyHandover(context: Context, words: string | undefined): Promise<Verification> {
  const { machine } = context;
  const here = describePlace('.', machine);
  const handover = readMarked(findStore(context), await pickHere(context, words));
  const { workspace, project } = handover;
  const isHere = listAliases(machine, project.id).includes(here.project.id);
  const folder = findWorkFolder({ ...workspace, folder: '' }, project, machine) ?? (isHere ? here.root : null);
  if (folder === null) {
    const hint = `Go to a clone of it, and repeat: handover verify ${handover.id}`;
    throw notFoundError(`the folder of ${handover.id}, ${workspace.root}, is not on this machine`, hint);
  }
  const place = describePlace(folder, machine);
  return { handover, place, claims: checkClaims(handover, redactPlace(place, machine), machine) };
}

/** A check of the session, to be run again. */
export interface Check {
  fact: Fact;
  command: string;
  folder: string;
  /** The digest of the session's code before it is run. */
  code: string;
}

/** A check that is not run again, and why. */
export interface LeftCheck {
  command: string;
  reason: string;
}

const MAX_CHECKS = 20;

/** The checks that can be run as the session ran them. */
export function listChecks(
  { handover, place }: Verification,
  machine: Machine,
): { checks: Check[]; left: LeftCheck[] } {
  const [checks, left]: [Check[], LeftCheck[]] = [[], []];
  let code: string | null = null;
  for (const fact of handover.facts.filter(({ kind, trust }) => kind === 'check' && trust === 'observed')) {
    const { again, folder: within = '' } = { again: undefined, ...fact.detail };
    const command = typeof again === 'string' ? again : fact.text;
    const base = resolve(place.root, handover.workspace.folder);
    const folder = resolve(base, String(within));
    const refuse = (reason: string): unknown => left.push({ command, reason });
    if (typeof again !== 'string') refuse('it was given variables, or is too long to be kept');
    else if (hasPlaceholders(again)) refuse('a secret in it was redacted');
    else if (!isLexicallyInside(folder, place.root) || !isFolder(folder)) refuse('it ran outside of the worktree');
    else if (checks.length === MAX_CHECKS) refuse(`${MAX_CHECKS} are run at once`);
    else {
      code ??= digestCodeNow(handover, place, machine);
      checks.push({ fact, command, folder, code });
    }
  }
  return { checks, left };
}

const VerifySection = v.object({ run: v.optional(v.array(v.string()), []) });

/** The commands that the user's own settings allow to run without asking. A project's settings are not read. */
export function readAllowed(machine: Machine): ReadonlySet<string> {
  return new Set(parseSection(readUserConfig(machine), 'verify', VerifySection).run);
}

export interface CheckResult extends Check {
  outcome: 'passed' | 'failed' | 'timed out' | 'wrote too much';
  exit: number | null;
  /** The line that says most. */
  line: string | null;
  seconds: number;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Runs one check through the shell, as the session did. Nothing of it is left running where it takes too long or writes too much. */
export async function runCheck(check: Check, machine: Machine, timeoutMs: number): Promise<CheckResult> {
  const redactor = openRedactor(machine, { folder: check.folder, makesKey: false });
  const started = machine.clock.now();
  const [shell, args] =
    machine.platform === 'win32'
      ? ['cmd', ['/d', '/s', '/c', check.command]]
      : ['sh', ['-c', `exec 2>&1\n${check.command}`]];
  // Of checks in a row, none is taken for one that timed out later.
  const mark = ['HANDOVER_CHECK', `${formatIdentity(describeSelf())}-${check.fact.id}`] as const;
  const options = { cwd: check.folder, env: machine.env, timeoutMs, maxBytes: MAX_OUTPUT_BYTES, mark };
  const result = await runInGroup(shell, args, options);
  const seconds = (machine.clock.now() - started) / 1000;
  if (typeof result === 'string') return { ...check, outcome: result, exit: null, line: null, seconds };
  const output = result.stdout.toString('utf8');
  const outcome = result.status === 0 ? 'passed' : 'failed';
  const line = outcome === 'passed' ? findTally(output) : (findFailureLines(output, 1)[0] ?? null);
  return {
    ...check,
    outcome,
    exit: result.status,
    line: line === null ? null : redactor.redactText(cleanLine(line)),
    seconds,
  };
}

const MAX_LINE_BYTES = 140;

/**
 * Saves what came out as facts that were observed now, on top of the handover. Nothing where no check ended. What the checks
 * themselves wrote, such as reports, is no change since.
 */
export function saveResults(
  context: Context,
  { handover: base, place, claims }: Verification,
  results: readonly CheckResult[],
): SaveResult | null {
  const ended = results.filter(({ outcome }) => outcome === 'passed' || outcome === 'failed');
  if (ended.length === 0) return null;
  const store = findStore(context);
  const { clock } = context.machine;
  const facts = ended.map(({ fact, outcome, exit, line, code }): Fact => {
    const then = { outcome: null, [OUTDATED]: null, ...fact.detail };
    const { outcome: _, [OUTDATED]: __, ...known } = { ...then, exit, age: 0, edited: false };
    const detail = { ...known, [RAN_ON]: code, ...(line === null ? {} : { outcome: cutAtWord(line, MAX_LINE_BYTES) }) };
    const sources = [{ ref: `${VERIFIED}${formatTimestamp(clock.now())}` }];
    return { ...fact, status: outcome === 'passed' ? 'ok' : 'failed', sources, detail };
  });
  const redactor = openRedactor(context.machine, { folder: place.root, makesKey: true });
  const stated = [
    ...facts,
    ...restate(base, ended, formatTimestamp(clock.now())),
    ...noteOutdated(base, claims, facts),
  ];
  const { workspace } = describePlace(place.root, context.machine);
  // What was redacted of the base is added by `addByHand`.
  const own = { ...unsealHandover(base), workspace, facts: stated, redactions: [] };
  const draft = redactDraft(own, redactor);
  return saveByPerson(store, addByHand(draft, base, readMarks(store, base.project.id)), place.root);
}

/** The checks that were not run again, and of which it can no longer be told: the new handover is of another state of git. */
function noteOutdated({ facts }: Handover, claims: readonly Claim[], again: readonly Fact[]): Fact[] {
  return facts.flatMap((fact) => {
    const now = claims.find((claim) => claim.about === 'check' && claim.fact === fact.id)?.now ?? null;
    if (now === null || again.some(({ id }) => id === fact.id)) return [];
    return [{ ...fact, detail: { ...fact.detail, [OUTDATED]: now } }];
  });
}

/** The state of the session, with the results of the checks now instead of then. */
function restate({ facts }: Handover, results: readonly CheckResult[], at: string): Fact[] {
  const shown = results.map(({ command, outcome, line }) => {
    const said = line === null ? '' : `: "${cutAtWord(line.replaceAll('"', "'"), MAX_LINE_BYTES)}"`;
    return `\`${cutAtWord(command, MAX_LINE_BYTES)}\` ${outcome === 'passed' ? 'passed' : 'FAILED'}${said}`;
  });
  return facts.flatMap((fact) => {
    const about = fact.detail?.role === 'state' && Array.isArray(fact.detail.about) ? fact.detail.about : null;
    const now = `Checks, run again by hand ${at}: ${shown.join('; ')}.`;
    const lines = fact.text.split('\n').map((line, index) => (about?.[index] === 'checks' ? now : line));
    return about === null ? [] : [{ ...fact, text: lines.join('\n') }];
  });
}
