import type { HandoverError } from '../errors.ts';
import { isGuess, isProgressNote, isUnresolved } from '../model/fact-roles.ts';
import type { Handover } from '../model/handover.ts';
import { cutToBytes } from '../model/text.ts';
import { listAliases } from '../platform/known-projects.ts';
import type { Store } from './store.ts';

/** The fields of a handover that a list shows. */
export interface CatalogRow {
  id: string;
  created_at: string;
  agent: string;
  project: { id: string; name: string };
  root: string;
  title: string;
  next: string[];
  /** The session that it was captured from; null when it was written by hand. */
  session: string | null;
  /** The terminal that the session ran in, as far as known. */
  terminal: string | null;
  /** The time of the last event in it, as far as known. */
  last_at: string | null;
  /** When somebody added to it by hand since; the same as `created_at` in the handover that this was saved in. */
  noted_at: string | null;
  score: number | null;
  /** Of one that came from somebody else: who signed it, as the trust list has the name; null for nobody. */
  imported?: { signer: string | null };
}

export function isCatalogRow(value: unknown): value is CatalogRow {
  if (typeof value !== 'object' || value === null) return false;
  const row: Partial<Record<keyof CatalogRow, unknown>> = value;
  const { project, next, score, imported } = row;
  if (typeof project !== 'object' || project === null || !('id' in project) || !('name' in project)) return false;
  return (
    [row.id, row.created_at, row.agent, row.root, row.title, project.id, project.name].every(isText) &&
    [row.session, row.terminal, row.last_at, row.noted_at].every((text) => text === null || isText(text)) &&
    (score === null || typeof score === 'number') &&
    (imported === undefined || isImportedBy(imported)) &&
    Array.isArray(next) &&
    next.every(isText)
  );
}

function isImportedBy(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('signer' in value)) return false;
  return value.signer === null || isText(value.signer);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Matches when any given field does: a project can be named by its id, its name or the folder it was in. */
export type ProjectMatch = {
  id?: string;
  name?: string;
  root?: string;
  /** Further ids of the project: `withAliases` knows them. */
  aliases?: readonly string[];
};

/** The same project by all of its ids: it may have had another remote, or none, or been in another folder. */
export function withAliases<Match extends { project?: ProjectMatch | undefined }>(
  { machine }: Store,
  match: Match,
): Match {
  const { project } = match;
  if (project?.id === undefined || project.aliases !== undefined) return match;
  return { ...match, project: { ...project, aliases: listAliases(machine, project.id) } };
}

export function listProjectIds({ id, aliases = [] }: ProjectMatch): string[] {
  return [...new Set([...(id === undefined ? [] : [id]), ...aliases])];
}

export interface Filter {
  idPrefix?: string;
  /** Compared without regard to case. */
  agent?: string;
  project?: ProjectMatch;
  /** A substring of title, summary or any fact but those about how far a session was, without regard to case. */
  query?: string;
  /** Both ends belong to the range. */
  sinceMs?: number;
  untilMs?: number;
  /** Whether order and range go by when the work was done, instead of when it was captured. */
  byWork?: boolean;
}

/** A file that is damaged, or was written by a newer version. */
export type UnreadableFile = { path: string; reason: string; isNewer: boolean };

export function describeUnreadable({ message, code }: HandoverError): Omit<UnreadableFile, 'path'> {
  return { reason: message, isNewer: code === 'HANDOVER_RECORD_NEWER' };
}

/** Finds handovers. Each driver gives the same rows: newest first by time, then by id, and never unreadable files. */
export interface Catalog {
  readonly driver: 'index' | 'scan';
  rows(filter: Filter): AsyncIterable<CatalogRow>;
  /** Which of these sessions, by their ids, have a handover. */
  captured(sessions: readonly string[]): Promise<Pick<CatalogRow, 'agent' | 'session'>[]>;
  /** Those a scan has met so far, or those an index knows. */
  unreadable(): Promise<UnreadableFile[]>;
  close(): void;
}

const MAX_NEXT_ITEMS = 10;
const MAX_NEXT_BYTES = 500;

export function describeRow(handover: Handover): CatalogRow {
  const steps = handover.facts
    .filter((fact) => fact.kind === 'next' && !isGuess(fact) && isUnresolved(fact))
    .slice(0, MAX_NEXT_ITEMS);
  const signer = handover.imported?.signer;
  return {
    id: handover.id,
    created_at: handover.created_at,
    agent: handover.session.agent,
    project: { id: handover.project.id, name: handover.project.name },
    root: handover.workspace.root,
    title: handover.title,
    next: steps.map((fact) => cutToBytes(fact.text, MAX_NEXT_BYTES)),
    session: handover.session.id,
    terminal: handover.session.terminal,
    last_at: handover.session.last_at ?? null,
    noted_at: handover.noted_at ?? null,
    score: handover.quality?.score ?? null,
    ...(signer === undefined ? {} : { imported: { signer: signer?.name ?? null } }),
  };
}

/** The lower-cased text that a query is looked up in. Without NULs, at which SQLite would end it. */
export function foldSearchText(handover: Handover): string {
  const facts = handover.facts.filter((fact) => !isProgressNote(fact));
  const texts = [handover.title, handover.summary, ...facts.map((fact) => fact.text)];
  return texts.join('\n').replaceAll('\u0000', '\ufffd').toLowerCase();
}

/** The smallest text that sorts after every id with this prefix. Ids are ASCII. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u007f`;
}

/** The first `count` rows; the rest is not read. */
export async function takeRows<Row>(rows: AsyncIterable<Row>, count: number): Promise<Row[]> {
  const taken: Row[] = [];
  if (count <= 0) return taken;
  for await (const row of rows) {
    taken.push(row);
    if (taken.length === count) break;
  }
  return taken;
}

/** Those of the newest work first. */
export function listByWork(catalog: Catalog, filter: Filter): AsyncIterable<CatalogRow> {
  return catalog.rows({ ...filter, byWork: true });
}

/** When the work of a handover was done. One whose session ended before it was captured is as old as the session. */
export function timeOfWork({ last_at, created_at }: Pick<CatalogRow, 'last_at' | 'created_at'>): string {
  return last_at === null || last_at > created_at ? created_at : last_at;
}

/** What lists go by: when the work was done, or something was added to it by hand since. */
export function timeOfChange(row: Pick<CatalogRow, 'last_at' | 'noted_at' | 'created_at'>): string {
  const worked = timeOfWork(row);
  return row.noted_at === null || row.noted_at < worked ? worked : row.noted_at;
}

/**
 * Rows that come newest first by when they were captured, newest first by when the work was done. No work is newer than
 * its capture, so that only few rows are read ahead.
 */
export async function* sortByWork(rows: AsyncIterable<CatalogRow>): AsyncIterable<CatalogRow> {
  const waiting: CatalogRow[] = [];
  for await (const row of rows) {
    for (let next = waiting.at(-1); next !== undefined && timeOfChange(next) >= row.created_at; next = waiting.at(-1)) {
      waiting.pop();
      yield next;
    }
    waiting.splice(findPlace(waiting, row), 0, row);
  }
  yield* waiting.reverse();
}

/** Where a row belongs among rows that have the newest last. Of rows of the same time, the one captured last is newest. */
function findPlace(waiting: readonly CatalogRow[], row: CatalogRow): number {
  const time = timeOfChange(row);
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = waiting[middle];
    if (other !== undefined && timeOfChange(other) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
