import { join } from 'node:path';
import { dropCheckpoints } from '../agents/transcript-checkpoint.ts';
import { notFoundError } from '../errors.ts';
import { readRetention } from '../handover/expiry.ts';
import type { FactKind } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { countNouns } from '../model/text.ts';
import { DAY_MS } from '../model/time.ts';
import { removeFile } from '../platform/durable-file.ts';
import { walkFolder } from '../platform/folders.ts';
import { type CatalogRow, takeRows } from '../store/catalog.ts';
import { expireHandover, forgetHandover, readIntact } from '../store/handovers.ts';
import { blankReasons } from '../store/journal.ts';
import { findExpired } from '../store/retention.ts';
import { DOCUMENTS, HANDOVERS, QUARANTINE, type Store, TRANSCRIPT_CHECKPOINTS } from '../store/store.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { findId, isFromTerminal, isLatest, pickToSend } from './find-handover.ts';
import { dropCaches, forgetDerived, forgetVectorsOf } from './forget-derived.ts';

/**
 * Deletes handovers. Every id is resolved before the first is deleted: a wrong one changes nothing. `latest` is the newest of
 * this project that was made here, as `show` has it, and never one of another project.
 */
export async function forgetHandovers(
  context: Context,
  words: readonly string[],
  onDeleted: (id: string) => void,
): Promise<string[]> {
  const store = findStore(context);
  const found = new Set<string>();
  for (const word of words)
    found.add(isLatest(word) ? (await pickToSend(context, word)).id : await findId(store, word));
  const ids = [...found];
  const going = ids.flatMap((id) => readIntact(store, id) ?? []);
  forgetVectorsOf(store, ids);
  for (const id of ids) {
    if (!forgetHandover(store, id)) throw notFoundError(`${id} is already gone`, 'List handovers: handover list');
    onDeleted(id);
  }
  await forgetDerived(context, store);
  const others = await listSharing(context, store, going);
  if (others.length > 0)
    context.notify({
      level: 'note',
      text: `facts of it are also in ${countNouns(others.length, 'other handover')}, which ${others.length === 1 ? 'stays' : 'stay'}: ${others.join(' ')}`,
    });
  return ids;
}

/** Where facts are the same though neither took them from the other. */
const OF_THE_WORK: ReadonlySet<FactKind> = new Set(['file', 'command', 'check', 'reference']);

/** The handovers of the same projects that have facts of these, which are gone, the newest first. */
async function listSharing(context: Context, store: Store, gone: readonly Handover[]): Promise<string[]> {
  const facts = new Set(
    gone.flatMap((handover) => handover.facts.flatMap(({ id, kind }) => (OF_THE_WORK.has(kind) ? [] : [id]))),
  );
  return await withCatalog(context, store, async (catalog) => {
    const sharing: string[] = [];
    for (const project of new Set(gone.map((handover) => handover.project.id)))
      for await (const { id } of catalog.rows({ project: { id: project } }))
        if (readIntact(store, id)?.facts.some((fact) => facts.has(fact.id))) sharing.push(id);
    return sharing;
  });
}

/** How much `forgetEverything` would delete. */
export async function countStored(context: Context): Promise<{ ids: string[]; projects: number }> {
  return await withCatalog(context, findStore(context), async (catalog) => {
    const rows = await takeRows(catalog.rows({}), Number.POSITIVE_INFINITY);
    return { ids: rows.map(({ id }) => id), projects: new Set(rows.map(({ project }) => project.id)).size };
  });
}

/** Deletes everything in the store about anybody's work. Files of agents and projects stay. */
export async function forgetEverything(context: Context, onDeleted: (id: string) => void): Promise<string[]> {
  const store = findStore(context);
  const { removeTexts } = await import('../search/sessions/maintenance.ts');
  const { listTexts, readText, removeText } = await import('../search/sessions/archive.ts');
  const forgotten = await forgetHandovers(context, (await countStored(context)).ids, onDeleted);
  const heads = listTexts(store).flatMap((name) => readText(store, name)?.head ?? []);
  if (heads.length > 0) removeTexts(store, heads);
  for (const name of listTexts(store)) removeText(store, name);
  for (const folder of [HANDOVERS, DOCUMENTS, QUARANTINE])
    for (const { path, kind } of walkFolder(join(store.root, folder))) if (kind === 'file') removeFile(path);
  blankReasons(store);
  // Caches have copies of the journal.
  dropCheckpoints(join(store.root, TRANSCRIPT_CHECKPOINTS));
  dropCaches(store);
  return forgotten;
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

/** Says which handovers of a session are still there. */
export async function noteHandoversOf(context: Context, session: string): Promise<void> {
  const rows = await withCatalog(context, findStore(context), (catalog) =>
    takeRows(catalog.rows({}), Number.POSITIVE_INFINITY),
  );
  const ids = rows.filter((row) => row.session === session).map(({ id }) => id);
  if (ids.length > 0)
    context.notify({ level: 'note', text: `its handovers stay; to delete them: handover forget ${ids.join(' ')}` });
}

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
    if (!dryRun && !expireHandover(store, row.id, `older than ${countNouns(days, 'day')}`)) continue;
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
