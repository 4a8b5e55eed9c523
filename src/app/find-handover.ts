import { resolve } from 'node:path';
import { HandoverError, hasCode, notFoundError, usageError } from '../errors.ts';
import { findSigner, type Handover, isForeign, SYNC_FORMAT } from '../model/handover.ts';
import { PROJECT_ID } from '../model/id.ts';
import { cleanLine, countNouns, quoteForShell, quoteInput } from '../model/text.ts';
import { isFolder } from '../platform/folders.ts';
import { listAliases } from '../platform/known-projects.ts';
import type { Machine } from '../platform/machine.ts';
import { abbreviateHome } from '../platform/paths.ts';
import { describePlace, identifyProject, type Place } from '../platform/project.ts';
import { suggestNames } from '../search/typos.ts';
import { type Catalog, type CatalogRow, listByWork, type ProjectMatch, takeRows } from '../store/catalog.ts';
import {
  findLatestRow,
  findMergeOf,
  listPlausible,
  rememberGone,
  requireHandover,
  resolveId,
} from '../store/find-handover.ts';
import { withCatalogOpener } from '../store/open-catalog.ts';
import type { Store } from '../store/store.ts';
import { type Context, findStore, listRunningSessions, withCatalog } from './context.ts';

/** The handover with this id or id prefix; for `latest`, or nothing, the newest of this project, made here rather than imported, or else of all. */
export async function pickHandover(context: Context, words: string | undefined): Promise<Handover> {
  const store = findStore(context);
  const isNewest = words === undefined || isLatest(words);
  return requireHandover(store, isNewest ? await pickNewest(context, store) : await findId(store, words));
}

/** The same, but of this worktree; where nothing was done here, an imported one. */
export async function pickHere(context: Context, words: string | undefined): Promise<Handover> {
  if (words !== undefined && !isLatest(words)) return await pickHandover(context, words);
  const place = describePlace('.', context.machine);
  const newest = await findNewestHere(context, place, { imports: true });
  if (newest === null) throw await nothingHereError(context, place);
  return newest;
}

export function isLatest(words: string): boolean {
  return words.trim().toLowerCase() === 'latest';
}

/**
 * For what is sent to others: `latest`, or nothing, is the newest of this project, and the start of an id matches only
 * handovers of it. One of another project must be named by its whole id, unless `allProjects` is set.
 */
export async function pickToSend(
  context: Context,
  words: string | undefined,
  { allProjects = false }: { allProjects?: boolean | undefined } = {},
): Promise<Handover> {
  const isNewest = words === undefined || isLatest(words);
  const store = findStore(context);
  if (allProjects && words !== undefined) return requireHandover(store, await findId(store, words));
  if (allProjects) return await pickHandover(context, words);
  const { id: project, name } = identifyProject('.', context.machine);
  if (isNewest) {
    const id = await withCatalog(context, store, (catalog) => findOwn(store, catalog, project));
    if (id !== null) return requireHandover(store, id);
    throw notFoundError(`${name} has no handover yet`, await suggestNext(store, { folder: '.' }));
  }
  const handover = requireHandover(store, await findId(store, words));
  const isWhole = handover.id === words.trim().toLowerCase();
  if (isWhole || listAliases(context.machine, project).includes(handover.project.id)) return handover;
  const hint = `To take it all the same, write its whole id, ${handover.id}.`;
  throw notFoundError(`no handover of ${name} has this id: it is of ${handover.project.name}`, hint);
}

export async function findId(store: Store, words: string): Promise<string> {
  return await withCatalogOpener(store, async (open) => {
    try {
      return await resolveId(store, words, open);
    } catch (error) {
      if (!hasCode(error, 'HANDOVER_NOT_FOUND') && !hasCode(error, 'HANDOVER_STORE_EMPTY')) throw error;
      throw await suggestIds(error, words, { store, catalog: await open() });
    }
  });
}

const ROWS_COMPARED = 5000;

/** The same error, with the ids that the words may be a typo of, or with what to do where there are none. */
async function suggestIds(
  error: HandoverError,
  words: string,
  { store, catalog }: { store: Store; catalog: Catalog },
): Promise<HandoverError> {
  const typed = words.trim().toLowerCase();
  const ids = (await takeRows(catalog.rows({}), ROWS_COMPARED)).map(({ id }) => id);
  const near = /^\d{8}/.test(typed) ? suggestNames(typed, ids) : [];
  if (ids.length > 0 && near.length === 0) return error;
  const hint =
    ids.length === 0
      ? await suggestNext(store, { folder: '.' })
      : `Did you mean: ${near.join(', ')}? ${error.hint ?? ''}`;
  return new HandoverError(error.code, error.message, { hint, cause: error });
}

async function pickNewest(context: Context, store: Store): Promise<string> {
  const { id, name } = identifyProject('.', context.machine);
  const newest = await withCatalog(context, store, async (catalog) => {
    const own = await findOwn(store, catalog, id);
    if (own !== null) return own;
    const imported = await findLatestRow(store, catalog, { id });
    const row = imported ?? (await findLatestRow(store, catalog));
    if (row === null) return null;
    const from = imported === null ? `the newest of all, from ${row.project.name}` : 'the newest one that was imported';
    const text = `${name} has no handover of its own yet; this is ${from}`;
    context.notify({ level: 'note', text });
    return row.id;
  });
  if (newest !== null) return newest;
  const hint = await suggestNext(store, { folder: '.' });
  throw new HandoverError('HANDOVER_STORE_EMPTY', 'no handover has been saved yet', { hint });
}

/** The newest handover made here, or what it was merged into: a merge is as old as its session. Imported ones must be named, however new they are. */
async function findOwn(store: Store, catalog: Catalog, projectId: string): Promise<string | null> {
  const own = await findMadeHere(store, catalog, projectId);
  return own === null ? null : ((await findMergeOf({ store, catalog }, own))?.id ?? own.id);
}

async function findMadeHere(store: Store, catalog: Catalog, projectId: string): Promise<Handover | null> {
  const latest = await findLatestRow(store, catalog, { id: projectId });
  if (latest === null) return null;
  const newest = requireHandover(store, latest.id);
  if (!isForeign(newest)) return newest;
  for await (const row of listByWork(catalog, { project: { id: projectId } })) {
    const handover = requireHandover(store, row.id);
    if (!isForeign(handover)) return handover;
  }
  return null;
}

/**
 * The newest handover of a worktree whose catalog row passes the test; null for none. Where it has none, the newest of a
 * folder of the project that is gone: it was moved or cloned again; with `imports`, also one that was imported. An import
 * never takes the place of what was done here, but it is named where it is newer.
 */
export async function findNewestHere(
  context: Context,
  { project, workspace }: Place,
  { accepts = () => true, imports = false }: { accepts?: (row: CatalogRow) => boolean; imports?: boolean } = {},
): Promise<Handover | null> {
  const store = findStore(context);
  const isGone = rememberGone(store);
  return await withCatalog(context, store, async (catalog) => {
    const others: Handover[] = [];
    for await (const row of listPlausible(store, catalog, { project: { id: project.id } })) {
      const isFromHere = row.root === workspace.root;
      if (!accepts(row) || !(isFromHere || isGone(row.root))) continue;
      const handover = requireHandover(store, row.id);
      const writer = isFromHere ? null : await findKnownWriter(handover, context.machine);
      const isHere = isFromHere || writer !== null;
      if (isForeign(handover) && writer === null ? imports : !isHere && others.length === 0) others.push(handover);
      if ((isForeign(handover) && writer === null) || !isHere) continue;
      if (writer !== null) context.notify({ level: 'note', text: `this is from ${writer}: handover show ${row.id}` });
      const newer = others.find(isForeign);
      const text = `an imported handover of newer work is here: handover render ${newer?.id}`;
      if (newer !== undefined) context.notify({ level: 'note', text });
      return handover;
    }
    return others[0] ?? null;
  });
}

/** Who sent a handover by `sync`, if that is this user elsewhere or one of the team: then it counts as work of this place. */
async function findKnownWriter({ imported }: Handover, machine: Machine): Promise<string | null> {
  if (imported?.format !== SYNC_FORMAT) return null;
  const { readSyncSettings } = await import('../platform/remote-settings.ts');
  const { self, team } = readSyncSettings(machine);
  const name = findSigner(imported)?.name ?? '';
  return (imported.signer === undefined ? self : team).includes(name) || self.includes(name) ? name : null;
}

/**
 * A project by its id, its folder or its name. An existing folder matches all worktrees of its project; a missing one only
 * its path. A name or id must have a handover.
 */
export async function requireProject(context: Context, words: string): Promise<ProjectMatch> {
  const { machine } = context;
  if (words.trim() === '') throw usageError('the project is empty', 'Pass a folder, a name or an id.');
  const folder = resolve(machine.cwd, words);
  if (isFolder(folder)) return { id: identifyProject(folder, machine).id };
  const project = PROJECT_ID.test(words) ? { id: words } : { name: words, root: abbreviateHome(folder, machine) };
  return await withCatalog(context, findStore(context), async (catalog) => {
    if ((await takeRows(catalog.rows({ project }), 1)).length > 0) return project;
    throw await unknownProjectError(words, catalog);
  });
}

/** The same as an id: of a name, that of its newest handover. */
export async function requireProjectId(context: Context, words: string): Promise<string> {
  const project = await requireProject(context, words);
  if (project.id !== undefined) return project.id;
  return await withCatalog(context, findStore(context), async (catalog) => {
    const [row] = await takeRows(catalog.rows({ project }), 1);
    if (row === undefined) throw await unknownProjectError(words, catalog);
    return row.project.id;
  });
}

const NAMES_SHOWN = 5;

async function unknownProjectError(words: string, catalog: Catalog): Promise<HandoverError> {
  const rows = await takeRows(listByWork(catalog, {}), ROWS_COMPARED);
  const names = [...new Set(rows.map(({ project }) => cleanLine(project.name)))];
  const near = suggestNames(words, names);
  const known = `Projects with handovers: ${names.slice(0, NAMES_SHOWN).join(', ')}${names.length > NAMES_SHOWN ? ', …' : ''}`;
  const guess = near.length === 0 ? known : `Did you mean: ${near.join(', ')}?`;
  const hint = names.length === 0 ? 'Pass a folder. No project has a handover yet.' : guess;
  return notFoundError(`there is no folder here, and no project with handovers, called ${quoteInput(words)}`, hint);
}

export async function nothingHereError(context: Context, { project, root, workspace }: Place): Promise<HandoverError> {
  const hint = await suggestNext(findStore(context), { folder: root });
  return notFoundError(`no handover of ${project.name} in ${workspace.root}`, hint);
}

interface Looked {
  /** The project that was looked in, as it was named; all projects if left out, or if it is no folder. */
  folder?: string | undefined;
  /** The same command for all projects. */
  wider?: string | undefined;
}

/** What to type where a command found nothing: the one command that leads on from what is there. */
export async function suggestNext(store: Store, { folder, wider }: Looked = {}): Promise<string> {
  const { machine } = store;
  const path = resolve(machine.cwd, folder ?? '');
  const project = folder === undefined || !isFolder(path) ? null : identifyProject(path, machine).id;
  if (project !== null) {
    const named = project === identifyProject('.', machine).id ? '.' : quoteForShell(path);
    const offer = await offerBackfill(store, { project, command: `handover backfill --project ${named}` });
    if (offer !== null) return offer;
  }
  const own = new Set(project === null ? [] : listAliases(machine, project));
  if (wider !== undefined && (await hasRow(store, (row) => !own.has(row.project.id))))
    return `Ask about all projects: ${wider}`;
  const isEmpty = !(await hasRow(store, () => true));
  const offer = project === null || isEmpty ? await offerBackfill(store, { command: 'handover backfill' }) : null;
  return offer ?? (isEmpty ? 'Leave a note: handover save "where things stand"' : 'List handovers: handover list');
}

/** The capture of sessions that no handover knows; null where none can be captured. Running ones are not over. */
async function offerBackfill(
  store: Store,
  { project, command }: { project?: string; command: string },
): Promise<string | null> {
  const { canCaptureAny, findHistory } = await import('./capture/backfill.ts');
  const running = listRunningSessions(store.machine.env);
  const left = (await findHistory(store, { project })).filter(({ id }) => !running.has(id));
  if (!(await canCaptureAny(left))) return null;
  return `${countNouns(left.length, 'session')} ${left.length === 1 ? 'was' : 'were'} never captured: ${command}`;
}

async function hasRow(store: Store, accepts: (row: CatalogRow) => boolean): Promise<boolean> {
  return await withCatalogOpener(store, async (open) => {
    for await (const row of (await open()).rows({})) if (accepts(row)) return true;
    return false;
  });
}

/** Terminal ids that come from a variable are stored with a prefix that nobody types. */
export function isFromTerminal({ terminal }: { terminal: string | null }, id: string): boolean {
  return terminal === id || terminal === `env_${id}`;
}
