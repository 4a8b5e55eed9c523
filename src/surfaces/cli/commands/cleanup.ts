import { buildCommand, type Command } from '@stricli/core';
import { readRetention } from '../../../handover/periods.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import type { CatalogRow } from '../../../store/catalog.ts';
import { forgetHandover } from '../../../store/handovers.ts';
import { type Expiry, findExpired } from '../../../store/retention.ts';
import type { Store } from '../../../store/store.ts';
import { type CliContext, findStore, withCatalog } from '../context.ts';
import { findNotes } from '../find-notes.ts';
import { bold, dim } from '../output.ts';
import { isOfTerminal, terminalFlag } from '../terminal-flag.ts';

export interface CleanupFlags {
  terminal?: string;
  dryRun: boolean;
  json: boolean;
}

export const cleanup: Command<CliContext> = buildCommand<CleanupFlags, [], CliContext>({
  func: runCleanup,
  parameters: {
    flags: {
      terminal: terminalFlag,
      dryRun: { kind: 'boolean', default: false, withNegated: false, brief: 'Only say what would go' },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Delete what is older than HANDOFF_RETENTION_DAYS (90), but nothing pinned or latest' },
});

const DAY_MS = 86_400_000;

/** What is counted is what went, one by one; a dry run counts what would. */
export async function runCleanup(this: CliContext, flags: CleanupFlags): Promise<void> {
  const store = findStore(this);
  const retentionMs = readRetention(this.machine.env);
  const { expired, kept } = await withCatalog(this, store, (catalog) =>
    findExpired(store, catalog, retentionMs),
  );
  const { terminal } = flags;
  const chosen = terminal === undefined ? expired : expired.filter((row) => isOfTerminal(row, terminal));
  const days = retentionMs / DAY_MS;
  const removed: string[] = [];
  const { forgetInCaches, forgetMeaning } = await import('../../../search/forget.ts');
  if (!flags.dryRun)
    forgetMeaning(
      store,
      chosen.map(({ id }) => id),
    );
  for (const row of chosen) {
    if (!flags.dryRun && !forgetHandover(store, row.id, `older than ${days} days`)) continue;
    removed.push(row.id);
    if (!flags.json) printRow(this, row, flags);
  }
  // The index holds titles and texts too: they go now, not when somebody lists next.
  if (removed.length > 0 && !flags.dryRun) {
    await withCatalog(this, store, () => undefined);
    await forgetInCaches({ store, notes: await findNotes(this.machine) });
  }
  const texts = terminal === undefined ? await cleanTexts(store, retentionMs, flags) : [];
  if (flags.json)
    this.out.json({ dry_run: flags.dryRun, retention_days: days, removed, removed_sessions: texts, kept });
  else {
    this.out.line(summarize(removed.length, { days, kept, dryRun: flags.dryRun }));
    if (texts.length > 0)
      this.out.line(`texts of sessions that their agents deleted: ${texts.length}, as old`);
  }
}

/** The text of a session is kept when its agent deletes it, and goes when it is as old as handovers that go. */
async function cleanTexts(store: Store, retentionMs: number, { dryRun }: CleanupFlags): Promise<string[]> {
  const { findExpiredTexts, removeTexts } = await import('../../../search/sessions/retention.ts');
  const expired = await findExpiredTexts(store, retentionMs);
  if (!dryRun && expired.length > 0) removeTexts(store, expired);
  return expired.map(({ id }) => id).sort();
}

function printRow({ out, machine }: CliContext, row: CatalogRow, { dryRun }: CleanupFlags): void {
  const age = describeAge(machine.clock.now() - Date.parse(row.created_at));
  const title = cutToBytes(cleanLine(row.title), 80);
  out.line(
    dryRun ? 'would delete ' : 'deleted ',
    bold(row.id),
    `  ${title}`,
    dim(`  ${row.project.name}, ${age}`),
  );
}

function summarize(
  count: number,
  { days, kept, dryRun }: { days: number; kept: Expiry['kept']; dryRun: boolean },
): string {
  const what = count === 1 ? '1 handover' : `${count} handovers`;
  const gone = dryRun
    ? `${what} would be deleted`
    : count === 1
      ? `${what} was deleted`
      : `${what} were deleted`;
  return `${gone}: older than ${days} days; as old and kept: ${kept.latest} as the latest of a worktree, ${kept.pinned} for what is pinned`;
}
