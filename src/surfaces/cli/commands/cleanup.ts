import { bold, dim } from '../../../app/describe/styled-text.ts';
import { cleanUp } from '../../../app/forget.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import type { CatalogRow } from '../../../store/catalog.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, json, terminalFlag, toggle } from '../flags.ts';

const flags = { terminal: terminalFlag, dryRun: toggle('Show what would be deleted, delete nothing'), json };

export const cleanup = command('cleanup', runCleanup, { flags });

async function runCleanup(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const { dryRun, terminal } = values;
  const now = this.machine.clock.now();
  const verb = dryRun ? 'would delete' : 'deleted';
  const onRemoved = ({ id, title, created_at, project }: CatalogRow): void => {
    if (values.json) return;
    const about = dim(`  ${project.name}, ${describeAge(now - Date.parse(created_at))}`);
    this.out.line(`${verb} `, bold(id), `  ${cutToBytes(cleanLine(title), 80)}`, about);
  };
  const { days, removed, removedSessions, kept } = await cleanUp(this, { terminal, dryRun, onRemoved });
  if (values.json)
    return this.out.json({ dry_run: dryRun, retention_days: days, removed, removed_sessions: removedSessions, kept });
  const count = removed.length === 1 ? '1 handover' : `${removed.length} handovers`;
  this.out.line(
    `${verb} ${count} older than ${days} days; kept ${kept.latest} that are the latest of a worktree and ${kept.pinned} with pinned facts`,
  );
  if (removedSessions.length > 0)
    this.out.line(`texts of sessions whose transcripts are gone: ${removedSessions.length}`);
}
