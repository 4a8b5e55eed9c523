import { dateSessions, findSessions } from '../../../agents/find-session.ts';
import { findStore, withCatalog } from '../../../app/context.ts';
import { dim, red } from '../../../app/describe/styled-text.ts';
import { findRestoreCandidate, type RestoreCandidate } from '../../../app/restore.ts';
import { EXIT } from '../../../errors.ts';
import { readFreshness, readRetention } from '../../../handover/expiry.ts';
import { countNouns } from '../../../model/text.ts';
import { formatTimestamp, lastWorkOf } from '../../../model/time.ts';
import { describePlace } from '../../../platform/project.ts';
import { VERSION } from '../../../version.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, json, terminalFlag } from '../flags.ts';
import type { Output } from '../output.ts';

const flags = { terminal: terminalFlag, json };

export const debug = command('debug', runDebug, { flags });

/** Exit status 65 when damaged files are in the way; `doctor` says more about them. */
async function runDebug(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const report = await makeReport(this, values.terminal);
  if (values.json) this.out.json(report);
  else print(this.out, report);
  if (report.damaged.length > 0) this.process.exitCode = EXIT.data;
}

async function makeReport(context: CliContext, terminal: string | undefined) {
  const { machine } = context;
  const store = findStore(context);
  const place = describePlace('.', machine);
  const candidate = await findRestoreCandidate(context, place, terminal);
  const sessions = dateSessions(await findSessions(machine, { project: place.project.id, root: place.root }));
  const unreadable = await withCatalog(context, store, async (catalog) => {
    // Without an index, damage is only found by reading all files.
    for await (const _ of catalog.rows({}));
    return await catalog.unreadable();
  });
  const [session] = sessions;
  return {
    version: VERSION,
    store: store.root,
    project: { id: place.project.id, name: place.project.name },
    root: place.workspace.root,
    terminal: terminal ?? null,
    freshness_minutes: readFreshness(machine.env) / 60_000,
    retention_days: readRetention(machine.env) / 86_400_000,
    /** The handover that `restore` would look at. */
    newest: candidate === null ? null : describeCandidate(candidate),
    /** Of all agents, in this worktree. */
    sessions: {
      count: sessions.length,
      newest:
        session === undefined
          ? null
          : { agent: session.agent, id: session.id, changed_at: formatTimestamp(session.changedMs) },
    },
    damaged: unreadable.filter(({ isNewer }) => !isNewer).map(({ path }) => path),
    /** Handovers that a newer version wrote. */
    newer: unreadable.filter(({ isNewer }) => isNewer).map(({ path }) => path),
  };
}

function describeCandidate({ handover, status, restorability }: RestoreCandidate) {
  return {
    id: handover.id,
    created_at: handover.created_at,
    worked_at: lastWorkOf(handover),
    noted_at: handover.noted_at ?? null,
    status: status.status,
    restores: restorability.ok,
    reason: restorability.ok ? null : restorability.reason,
  };
}

function print(out: Output, report: Awaited<ReturnType<typeof makeReport>>): void {
  const { newest, sessions } = report;
  out.line(dim('version  '), report.version);
  out.line(dim('store    '), report.store);
  out.line(dim('project  '), `${report.project.name} (${report.project.id})`);
  out.line(dim('folder   '), report.root);
  out.line(dim('terminal '), report.terminal ?? 'any');
  const { freshness_minutes: minutes, retention_days: days } = report;
  out.line(
    dim('periods  '),
    `restorable for ${countNouns(minutes, 'minute')}, kept for at least ${countNouns(days, 'day')}`,
  );
  out.line(
    dim('sessions '),
    sessions.newest === null
      ? 'none in this worktree'
      : `${sessions.count} in this worktree, the newest from ${sessions.newest.agent}, changed ${sessions.newest.changed_at}`,
  );
  if (newest === null) out.line(dim('newest   '), 'no handover of this worktree');
  else {
    const noted = newest.noted_at === null ? '' : `, added to by hand ${newest.noted_at}`;
    out.line(dim('newest   '), `${newest.id}, worked on until ${newest.worked_at}${noted}, ${newest.status}`);
    const { restores, reason } = newest;
    out.line(dim('restore  '), restores ? 'would restore it' : `would not restore it: ${reason}`);
  }
  for (const path of report.damaged) out.line(red('damaged  '), path);
  for (const path of report.newer) out.line(dim('newer    '), path);
}
