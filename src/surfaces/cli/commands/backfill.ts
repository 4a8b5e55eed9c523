import { join } from 'node:path';
import type { FoundSession } from '../../../agents/agent.ts';
import { type BackfillResult, captureHistory, findHistory } from '../../../app/capture/backfill.ts';
import { findStore } from '../../../app/context.ts';
import { bold, dim, yellow } from '../../../app/describe/styled-text.ts';
import { countNouns } from '../../../model/text.ts';
import { formatTimestamp } from '../../../model/time.ts';
import { startDetached } from '../../../platform/detached.ts';
import { findPackageFolder, lowerPriority } from '../../../platform/processes.ts';
import { identifyProject } from '../../../platform/project.ts';
import type { Store } from '../../../store/store.ts';
import type { CliContext } from '../context.ts';
import { command, conflictError, type FlagValues, json, toggle } from '../flags.ts';
import { sessionFlags, toSessionFilter } from './sessions.ts';

const flags = {
  ...sessionFlags,
  background: toggle('Return at once and capture in the background'),
  dryRun: toggle('Show what would be captured, capture nothing'),
  json,
};
type BackfillFlags = FlagValues<typeof flags>;

export const backfill = command('backfill', runBackfill, { flags });

async function runBackfill(this: CliContext, values: BackfillFlags): Promise<void> {
  const { dryRun, background } = values;
  if (dryRun && background) throw conflictError('--dry-run', '--background');
  const store = findStore(this);
  const sessions = await findHistory(store, toSessionFilter(values, this.machine));
  if (dryRun || sessions.length === 0) showHistory(this, sessions, values.json);
  else if (background) await startInBackground(this, sessions, values);
  else await captureNow(this, store, { sessions, asJson: values.json });
}

async function captureNow(
  context: CliContext,
  store: Store,
  { sessions, asJson }: { sessions: readonly FoundSession[]; asJson: boolean },
): Promise<void> {
  const { clock } = context.machine;
  lowerPriority();
  const startedMs = clock.now();
  const progress = context.progress('capturing sessions');
  const results: BackfillResult[] = [];
  for await (const result of captureHistory(store, sessions)) {
    results.push(result);
    progress?.(results.length, sessions.length);
  }
  if (asJson) context.out.json(toJson(results));
  else showResults(context, results, (clock.now() - startedMs) / 1000);
}

function showHistory({ out }: CliContext, sessions: readonly FoundSession[], asJson: boolean): void {
  if (asJson) {
    out.json({ sessions: sessions.length, bytes: sumBytes(sessions), agents: countAgents(sessions) });
    return;
  }
  if (sessions.length === 0) {
    out.line('no session is left to capture; those that were forgotten stay so');
    return;
  }
  out.line(bold(countNouns(sessions.length, 'session')), ` never captured: ${estimate(sessions)}`);
  for (const [agent, count] of Object.entries(countAgents(sessions))) out.line(`  ${agent.padEnd(12)} ${count}`);
}

async function startInBackground(
  context: CliContext,
  sessions: readonly FoundSession[],
  { agent, project, since, json: asJson }: BackfillFlags,
): Promise<void> {
  const given = Object.entries({ agent, project: project && identifyProject(project, context.machine).root, since });
  await startDetachedBackfill(
    context,
    given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
  );
  if (asJson) showHistory(context, sessions, asJson);
  else announce(context, sessions);
}

/** Captures every earlier session in the background. */
export async function startBackfill(context: CliContext): Promise<void> {
  const sessions = await findHistory(findStore(context), {});
  await startDetachedBackfill(context, []);
  announce(context, sessions);
}

async function startDetachedBackfill({ machine }: CliContext, args: readonly string[]): Promise<void> {
  const program = join(findPackageFolder(), 'bin', 'handover.cjs');
  await startDetached([program, 'backfill', ...args], { env: machine.env, input: null });
}

function announce({ out }: CliContext, sessions: readonly FoundSession[]): void {
  out.line(`capturing ${countNouns(sessions.length, 'session')} in the background: ${estimate(sessions)}`);
  out.line(dim('see how many are left: handover backfill --dry-run'));
}

function showResults({ out }: CliContext, results: readonly BackfillResult[], seconds: number): void {
  const kept = results.filter(({ outcome }) => outcome === 'kept');
  const refused = results.filter((result) => result.outcome === 'refused');
  const empty = results.length - kept.length - refused.length;
  out.line(
    'captured ',
    bold(`${kept.length} of ${countNouns(results.length, 'session')}`),
    ` in ${describeSeconds(seconds)}`,
  );
  if (empty > 0) out.line(dim(`  ${empty} empty: nothing was said in them`));
  for (const { session, reason } of refused) out.line(yellow('  refused '), `${session.path}: ${reason}`);
  if (kept.length > 0) out.line(dim('search them: handover search WORDS'));
}

function toJson(results: readonly BackfillResult[]): unknown {
  return results.map(({ session: { agent, id, path, changedMs }, ...result }) => ({
    agent,
    session: id,
    path,
    changed_at: formatTimestamp(changedMs),
    ...result,
  }));
}

/** Measured on sessions of some megabytes; a slow disk doubles it. */
const BYTES_PER_SECOND = 10_000_000;
const SECONDS_PER_SESSION = 0.05;

function estimate(sessions: readonly FoundSession[]): string {
  const bytes = sumBytes(sessions);
  const seconds = bytes / BYTES_PER_SECOND + sessions.length * SECONDS_PER_SESSION;
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB, about ${describeSeconds(seconds)}`;
}

function describeSeconds(seconds: number): string {
  if (seconds >= 90) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 1.5 ? 'a second' : `${Math.round(seconds)} seconds`;
}

/** A database holds many sessions, and counts once. */
function sumBytes(sessions: readonly FoundSession[]): number {
  const files = new Map(sessions.map(({ path, bytes }) => [path, bytes]));
  return [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function countAgents(sessions: readonly FoundSession[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { agent } of sessions) counts[agent] = (counts[agent] ?? 0) + 1;
  return counts;
}
