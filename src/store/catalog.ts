import { isGuess, isProgressNote } from '../model/fact-roles.ts';
import type { Handover } from '../model/handover.ts';
import { cutToBytes } from '../model/text.ts';

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
  score: number | null;
}

export function isCatalogRow(value: unknown): value is CatalogRow {
  if (typeof value !== 'object' || value === null) return false;
  const row: Partial<Record<keyof CatalogRow, unknown>> = value;
  const { project, next, score } = row;
  if (typeof project !== 'object' || project === null || !('id' in project) || !('name' in project)) return false;
  return (
    [row.id, row.created_at, row.agent, row.root, row.title, project.id, project.name].every(isText) &&
    [row.session, row.terminal, row.last_at].every((text) => text === null || isText(text)) &&
    (score === null || typeof score === 'number') &&
    Array.isArray(next) &&
    next.every(isText)
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Matches when any given field does: a project can be named by its id, its name or the folder it was in. */
export type ProjectMatch = { id?: string; name?: string; root?: string };

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
}

/** A file that is damaged, or was written by a newer version. */
export type UnreadableFile = { path: string; reason: string; isNewer: boolean };

/** Finds handovers. Each driver gives the same rows: newest first by time, then by id, and never unreadable files. */
export interface Catalog {
  readonly driver: 'index' | 'scan';
  rows(filter: Filter): AsyncIterable<CatalogRow>;
  /** Those a scan has met so far, or those an index knows. */
  unreadable(): Promise<UnreadableFile[]>;
  close(): void;
}

const MAX_NEXT_ITEMS = 10;
const MAX_NEXT_BYTES = 500;

export function describeRow(handover: Handover): CatalogRow {
  const steps = handover.facts.filter((fact) => fact.kind === 'next' && !isGuess(fact)).slice(0, MAX_NEXT_ITEMS);
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
    score: handover.quality?.score ?? null,
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
