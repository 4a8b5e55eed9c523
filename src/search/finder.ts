import type { Marks } from '../handover/marks.ts';
import type { FactKind, Origin, Trust } from '../model/fact.ts';
import { FACT_KINDS } from '../model/fact-kinds.ts';
import { FILE_CHANGES, NO_AGENT } from '../model/fact-roles.ts';
import { printFingerprint } from '../model/hash.ts';
import { baseName } from '../model/paths.ts';
import { listProjectIds, type ProjectMatch } from '../store/catalog.ts';
import type { Progress } from '../store/index-writer.ts';
import type { Store } from '../store/store.ts';
import type { NotesPlace } from './notes.ts';
import type { ParsedQuery, SearchQuery } from './query.ts';
import type { TermStats } from './rank.ts';
import { foldText, makeTag } from './tokens.ts';

/** What the index keeps of a handover. */
export interface HandoverRecord {
  id: string;
  /** When it was captured or saved, and when its work was done. */
  at: string;
  workedAt: string;
  /** Whether something was added to the work of a session by hand in it. */
  isNoted: boolean;
  startedAt: string | null;
  agent: string;
  session: string | null;
  project: { id: string; name: string };
  root: string;
  /** The folder worked in, relative to the root. */
  folder: string;
  isForeign: boolean;
}

/** What the index keeps of a fact. */
export interface FactRecord {
  id: string;
  kind: FactKind;
  text: string;
  status: string | null;
  trust: Trust;
  /** Of what was imported, its origin with the sender. */
  origin: Origin;
  pinned: boolean;
  /** Said by an agent, and taken for its kind by the words alone. */
  isGuess: boolean;
  /** Of the first source: the line, the session that it was carried over from, and the reference. */
  line: number | null;
  from: string | null;
  ref: string | null;
  /** When it was stated, where that was after a mark. */
  statedAt: string | null;
}

export type FactDocument = { what: 'fact'; text: string; fact: FactRecord; handover: HandoverRecord };

/** A text that can be found: a fact, the title and summary of a handover, or a piece of a note. */
export type SearchDocument =
  | FactDocument
  | { what: 'handover'; text: string; handover: HandoverRecord }
  | { what: 'note'; text: string; path: string; line: number; at: string };

export type HandoverDocument = Exclude<SearchDocument, { what: 'note' }>;

export interface SearchContext {
  store: Store;
  /** The notes of the current project; null when there are none. */
  notes?: NotesPlace | null;
  /** Of indexing, of reading sessions, and of embedding texts. */
  progress?: Progress | undefined;
  sessionProgress?: Progress | undefined;
  embedProgress?: Progress | undefined;
  /** How long new sessions may be read; without it, until all are read. */
  sessionsBudgetMs?: number;
}

/** Documents that may match, those of the newest handovers first, then notes. */
export type Candidates = { texts: SearchDocument[]; known: TermStats[] };

export interface FactFilter extends Pick<SearchQuery, 'project' | 'agent' | 'kinds' | 'sinceMs' | 'file'> {
  ids?: readonly string[];
  /** Only facts of the kind `file` about files with this last part of a path. */
  fileName?: string;
}

/** What files are ordered by: sessions that changed it, all that name it, when the last of them worked, its path. */
export type FileWorth = { changes: number; sessions: number; lastMs: number; path: string };

/** All facts about some files, of each those of the newest handover first. Other files are worth no more than `rest`; null: there are none. */
export type FilePage = { facts: FactDocument[]; rest: FileWorth | null };

/** Finds documents: by the index, or by a scan of the files, with the same results. */
export interface Finder {
  readonly by: 'index' | 'scan';
  /** Why the files are scanned although SQLite is there; null when all is well. */
  readonly indexFailure: Error | null;
  gather(query: SearchQuery, parsed: ParsedQuery): Promise<Candidates>;
  /** Newest handover first. */
  facts(filter: FactFilter): AsyncIterable<FactDocument>;
  /** The files in the order of their possible worth; null when that needs all facts. */
  files(filter: FactFilter): Promise<AsyncIterable<FilePage> | null>;
  /** How many handovers of its project contain a fact. */
  countHolders(found: FactDocument): Promise<number>;
  marks(project: string): Promise<Marks>;
  /** The project of the newest handover in the first of these folders that has any. */
  projectOf(roots: readonly string[]): Promise<string | null>;
  close(): void;
}

/** When what it tells was done or written. Of what was added by hand, when that was saved, not when the session worked. */
export function timeOf(document: SearchDocument): string {
  if (document.what === 'note') return document.at;
  return isAdded(document) ? document.handover.at : document.handover.workedAt;
}

/** Whose it is: of what a person added to the work of an agent, the person's. */
export function authorOf(document: HandoverDocument): string {
  const isHuman = document.what === 'handover' || document.fact.origin === 'human';
  return isHuman && isAdded(document) ? NO_AGENT : document.handover.agent;
}

/** The title of such a handover is that of what was added. */
function isAdded(document: HandoverDocument): boolean {
  if (document.what === 'handover' || !document.handover.isNoted) return document.handover.isNoted;
  const { fact } = document;
  return (fact.trust === 'declared' || fact.trust === 'imported') && !isPassedOn(fact);
}

/** Whether it was stated in an earlier handover, and only carried over. */
export function isPassedOn({ from, trust, ref }: FactRecord): boolean {
  return from !== null || (trust === 'declared' && ref !== null);
}

/** Who worked in it: a session is one, however many handovers it has. */
export function sessionOf(document: HandoverDocument): string {
  const { session, id } = document.handover;
  const agent = authorOf(document);
  return session === null || agent === NO_AGENT ? id : `${agent}\n${session}`;
}

export function isChange({ status }: FactRecord): boolean {
  return FILE_CHANGES.has(status);
}

/** Tags by which the index selects documents, whatever their words are. */
export function tagsOf({ project, agent }: HandoverRecord): string[] {
  return [tagOfProject(project.id), tagOfAgent(agent)];
}

export function tagsOfFact({ kind, text }: FactRecord): string[] {
  return kind === 'file' ? [tagOfKind(kind), tagOfFileName(baseName(text))] : [tagOfKind(kind)];
}

export function tagOfProject(id: string): string {
  return makeTag('p', id);
}

export function tagOfAgent(agent: string): string {
  return makeTag('a', agent.toLowerCase());
}

export function tagOfKind(kind: FactKind): string {
  return makeTag('k', String(FACT_KINDS.indexOf(kind)));
}

export function tagOfFileName(name: string): string {
  return makeTag('n', printFingerprint(name.toLowerCase()));
}

/** Whether a document is within the limits of a query. Both finders check their results by this. */
export function passes(filter: FactFilter, document: SearchDocument): boolean {
  const { agent, project, kinds, ids, fileName, file } = filter;
  if (file !== undefined && !namesFile(document.text, file)) return false;
  if (document.what === 'note') return mayBeNote(filter) && isSince(filter, document.at);
  const { handover } = document;
  if (agent !== undefined && handover.agent.toLowerCase() !== agent.toLowerCase()) return false;
  if (project !== undefined && !isOfProject(handover, project)) return false;
  if (!isSince(filter, timeOf(document))) return false;
  if (kinds === undefined && ids === undefined && fileName === undefined) return true;
  if (document.what !== 'fact') return false;
  const { fact } = document;
  if (kinds !== undefined && !kinds.includes(fact.kind)) return false;
  if (ids !== undefined && !ids.includes(fact.id)) return false;
  if (fileName === undefined) return true;
  return fact.kind === 'file' && baseName(fact.text).toLowerCase() === fileName.toLowerCase();
}

/** Notes have no kind and no agent. */
export function mayBeNote({ kinds, agent }: FactFilter): boolean {
  return kinds === undefined && agent === undefined;
}

export function isOfProject(
  { project, root }: { project: HandoverRecord['project'] | null; root: string | null },
  match: ProjectMatch,
): boolean {
  if (match.root !== undefined && root === match.root) return true;
  if (project === null) return false;
  return listProjectIds(match).includes(project.id) || project.name.toLowerCase() === match.name?.toLowerCase();
}

function isSince({ sinceMs }: FactFilter, at: string): boolean {
  return sinceMs === undefined || Date.parse(at) >= sinceMs;
}

/** Whether a text contains a path that ends with `file`, at the beginning of a part. */
export function namesFile(text: string, file: string): boolean {
  const [folded, wanted] = [foldText(text), foldText(file).replace(/^\.?\//, '')];
  for (let at = folded.indexOf(wanted); at >= 0 && wanted !== ''; at = folded.indexOf(wanted, at + 1))
    if (!/[\p{L}\p{N}_.-]/u.test(folded.charAt(at - 1)) && !/[\p{L}\p{N}_]/u.test(folded.charAt(at + wanted.length)))
      return true;
  return false;
}
