import { readRetention } from '../handover/expiry.ts';
import { forgetInCaches, forgetVectorsOf } from '../search/forget.ts';
import type { CatalogRow } from '../store/catalog.ts';
import { forgetHandover } from '../store/handovers.ts';
import { findExpired } from '../store/retention.ts';
import type { Store } from '../store/store.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { notFoundError } from './failure.ts';
import { findId } from './find-handover.ts';
import { isFromTerminal } from './restore.ts';
import { findNotes } from './search.ts';

/** Deletes handovers. Every id is resolved before the first is deleted: a wrong one changes nothing. */
export async function forgetHandovers(
  context: Context,
  words: readonly string[],
  onDeleted: (id: string) => void,
): Promise<string[]> {
  const store = findStore(context);
  const found = new Set<string>();
  for (const word of words) found.add(await findId(store, word));
  const ids = [...found];
  forgetVectorsOf(store, ids);
  for (const id of ids) {
    if (!forgetHandover(store, id)) throw notFoundError(`${id} is already gone`, 'List handovers: handover list');
    onDeleted(id);
  }
  await forgetDerived(context, store);
  return ids;
}

/** The index and the caches hold titles and texts too: they are deleted now, not at the next listing. */
async function forgetDerived(context: Context, store: Store): Promise<void> {
  await withCatalog(context, store, () => undefined);
  await forgetInCaches({ store, notes: await findNotes(context.machine) });
}

/** Deletes the stored text of a session, and does not read it again. Returns the session's id. */
export async function forgetSessionText(context: Context, words: string): Promise<string> {
  const { openSession } = await import('../search/sessions/read-session.ts');
  const { forgetSession } = await import('../search/sessions/maintenance.ts');
  const store = findStore(context);
  const { head } = await openSession(store, words);
  forgetSession(store, head);
  return head.id;
}

const DAY_MS = 86_400_000;

/** Deletes what is older than the retention period; a dry run only says what would go. */
export async function cleanUp(
  context: Context,
  request: { terminal: string | undefined; dryRun: boolean; onRemoved(row: CatalogRow): void },
) {
  const { terminal, dryRun, onRemoved } = request;
  const store = findStore(context);
  const retentionMs = readRetention(context.machine.env);
  const days = retentionMs / DAY_MS;
  const { expired, kept } = await withCatalog(context, store, (catalog) => findExpired(store, catalog, retentionMs));
  const rows = terminal === undefined ? expired : expired.filter((row) => isFromTerminal(row, terminal));
  const removed: string[] = [];
  const ids = rows.map(({ id }) => id);
  if (!dryRun) forgetVectorsOf(store, ids);
  for (const row of rows) {
    if (!dryRun && !forgetHandover(store, row.id, `older than ${days} days`)) continue;
    removed.push(row.id);
    onRemoved(row);
  }
  if (removed.length > 0 && !dryRun) await forgetDerived(context, store);
  const removedSessions = terminal === undefined ? await cleanTexts(store, retentionMs, dryRun) : [];
  return { days, removed, removedSessions, kept };
}

/** The text of a session outlives the agent's own file, for as long as handovers do (HANDOFF_RETENTION_DAYS). */
async function cleanTexts(store: Store, retentionMs: number, dryRun: boolean): Promise<string[]> {
  const { findExpiredTexts, removeTexts } = await import('../search/sessions/maintenance.ts');
  const expired = await findExpiredTexts(store, retentionMs);
  if (!dryRun && expired.length > 0) removeTexts(store, expired);
  return expired.map(({ id }) => id).sort();
}
