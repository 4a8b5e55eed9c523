import type { FactKind } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { cutToBytes } from '../model/text.ts';

/** What a list shows of a handover. */
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
  /** When the last thing happened that it tells of, as far as known. */
  last_at: string | null;
  /** Of its quality, where that was rated. */
  score: number | null;
}

export function isCatalogRow(value: unknown): value is CatalogRow {
  if (typeof value !== 'object' || value === null) return false;
  const row: Partial<Record<keyof CatalogRow, unknown>> = value;
  const { id, created_at, agent, project, root, title, next, session, terminal, last_at, score } = row;
  const texts = [id, created_at, agent, root, title].every((text) => typeof text === 'string');
  const steps = Array.isArray(next) && next.every((text) => typeof text === 'string');
  const marks =
    [session, terminal, last_at].every((text) => text === null || typeof text === 'string') &&
    (score === null || typeof score === 'number');
  return texts && steps && marks && isProjectName(project);
}

function isProjectName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('name' in value)) return false;
  return typeof value.id === 'string' && typeof value.name === 'string';
}

/** Matches when any given mark does: a project can be named by its id, its name or the folder it was in. */
export interface ProjectMatch {
  id?: string;
  name?: string;
  root?: string;
}

export interface Filter {
  idPrefix?: string;
  /** Compared without regard to case. */
  agent?: string;
  project?: ProjectMatch;
  /** A substring of title, summary or any fact, without regard to case. */
  query?: string;
  /** Both ends belong to the range. */
  sinceMs?: number;
  untilMs?: number;
}

export interface DamagedFile {
  path: string;
  reason: string;
}

/**
 * Finds handovers. Each driver gives the same rows in the same order: newest first by time, then by id; damaged files
 * are never among them.
 */
export interface Catalog {
  readonly driver: 'index' | 'scan';
  rows(filter: Filter): AsyncIterable<CatalogRow>;
  /** Damaged files met so far by a scan, or known to an index. */
  damaged(): Promise<DamagedFile[]>;
  close(): void;
}

const MAX_NEXT_ITEMS = 10;
const MAX_NEXT_BYTES = 500;

export function describeRow(handover: Handover): CatalogRow {
  return {
    id: handover.id,
    created_at: handover.created_at,
    agent: handover.session.agent,
    project: { id: handover.project.id, name: handover.project.name },
    root: handover.workspace.root,
    title: handover.title,
    next: textsOf(handover, 'next')
      .slice(0, MAX_NEXT_ITEMS)
      .map((text) => cutToBytes(text, MAX_NEXT_BYTES)),
    session: handover.session.id,
    terminal: handover.session.terminal,
    last_at: handover.session.last_at ?? null,
    score: handover.quality?.score ?? null,
  };
}

export function textsOf(handover: Handover, kind: FactKind): string[] {
  return handover.facts.filter((fact) => fact.kind === kind).map((fact) => fact.text);
}

/** Everything a query looks through, folded once. Without NULs, at which an index would end it. */
export function foldSearchText(handover: Handover): string {
  return [handover.title, handover.summary, ...handover.facts.map((fact) => fact.text)]
    .join('\n')
    .replaceAll('\u0000', '\ufffd')
    .toLowerCase();
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
