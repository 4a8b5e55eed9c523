import { buildCommand, type Command } from '@stricli/core';
import { findSessions } from '../../../app/capture/find-session.ts';
import { EXIT } from '../../../errors.ts';
import { readFreshness, readRetention } from '../../../handover/periods.ts';
import { formatTimestamp } from '../../../model/time.ts';
import { describePlace } from '../../../platform/place.ts';
import { VERSION } from '../../../version.ts';
import { type CliContext, findStore, withCatalog } from '../context.ts';
import { dim, type Output, red } from '../output.ts';
import { terminalFlag } from '../terminal-flag.ts';
import { findWaiting, type Waiting } from '../waiting.ts';

export interface DebugFlags {
  terminal?: string;
  json: boolean;
}

export const debug: Command<CliContext> = buildCommand<DebugFlags, [], CliContext>({
  func: runDebug,
  parameters: {
    flags: {
      terminal: terminalFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Tell what restore would do here, and why' },
});

interface Report {
  version: string;
  store: string;
  project: { id: string; name: string };
  root: string;
  terminal: string | null;
  freshness_minutes: number;
  retention_days: number;
  /** The handover that `restore` would look at. */
  newest: { id: string; created_at: string; status: string; restores: boolean; reason: string | null } | null;
  /** Of all agents, in this worktree. */
  sessions: { count: number; newest: { agent: string; id: string; changed_at: string } | null };
  damaged: string[];
}

/** Exit status 65 when something stands in the way that `doctor` can tell more of. */
export async function runDebug(this: CliContext, flags: DebugFlags): Promise<void> {
  const { machine } = this;
  const store = findStore(this);
  const place = describePlace('.', machine);
  const waiting = await findWaiting(this, place, flags.terminal);
  const sessions = await findSessions(machine, { project: place.project.id, root: place.root });
  const damaged = await withCatalog(this, store, async (catalog) => {
    // Without an index, damage is met only by going through the files.
    for await (const _ of catalog.rows({}));
    return await catalog.damaged();
  });
  const [session] = sessions;
  const report: Report = {
    version: VERSION,
    store: store.root,
    project: { id: place.project.id, name: place.project.name },
    root: place.workspace.root,
    terminal: flags.terminal ?? null,
    freshness_minutes: readFreshness(machine.env) / 60_000,
    retention_days: readRetention(machine.env) / 86_400_000,
    newest: waiting === null ? null : describeWaiting(waiting),
    sessions: {
      count: sessions.length,
      newest:
        session === undefined
          ? null
          : { agent: session.agent, id: session.id, changed_at: formatTimestamp(session.changedMs) },
    },
    damaged: damaged.map(({ path }) => path),
  };
  if (flags.json) this.out.json(report);
  else print(this.out, report);
  if (damaged.length > 0) this.process.exitCode = EXIT.data;
}

function describeWaiting({ handover, status, restorability }: Waiting): Report['newest'] {
  return {
    id: handover.id,
    created_at: handover.created_at,
    status: status.status,
    restores: restorability.ok,
    reason: restorability.ok ? null : restorability.reason,
  };
}

function print(out: Output, report: Report): void {
  const { newest, sessions } = report;
  out.line(dim('version  '), report.version);
  out.line(dim('store    '), report.store);
  out.line(dim('project  '), `${report.project.name} (${report.project.id})`);
  out.line(dim('folder   '), report.root);
  out.line(dim('terminal '), report.terminal ?? 'any');
  out.line(
    dim('periods  '),
    `restored for ${report.freshness_minutes} minutes, kept for ${report.retention_days} days at least`,
  );
  out.line(
    dim('sessions '),
    sessions.newest === null
      ? 'none of this worktree'
      : `${sessions.count} of this worktree, the newest of ${sessions.newest.agent}, changed ${sessions.newest.changed_at}`,
  );
  if (newest === null) out.line(dim('newest   '), 'no handover of this worktree');
  else {
    out.line(dim('newest   '), `${newest.id}, ${newest.created_at}, ${newest.status}`);
    out.line(
      dim('restore  '),
      newest.restores ? 'would restore it' : `would not restore it: ${newest.reason}`,
    );
  }
  for (const path of report.damaged) out.line(red('damaged  '), path);
}
