import type { Marks } from '../handover/marks.ts';
import type { FactKind, Origin, Trust } from '../model/fact.ts';
import { FACT_KINDS } from '../model/fact-kinds.ts';
import { printFingerprint } from '../model/hash.ts';
import { baseName } from '../model/paths.ts';
import type { ProjectMatch } from '../store/catalog.ts';
import type { Progress } from '../store/index-sync.ts';
import type { Store } from '../store/store.ts';
import { makeTag } from './full-text.ts';
import type { NotesPlace } from './notes.ts';
import type { ParsedQuery, SearchQuery } from './query.ts';
import type { TermStats } from './rank.ts';
import { foldText } from './tokens.ts';

/** What a hit tells of the handover that it is in. */
export interface HandoverRecord {
  id: string;
  at: string;
  startedAt: string | null;
  agent: string;
  session: string | null;
  project: { id: string; name: string };
  root: string;
  /** The folder worked in, from the root. */
  folder: string;
  isForeign: boolean;
}

/** A fact without what only its handover's file tells. */
export interface FactRecord {
  id: string;
  kind: FactKind;
  text: string;
  status: string | null;
  trust: Trust;
  origin: Origin;
  pinned: boolean;
  /** Of the first source: the line, the session that it was taken over from, and the reference. */
  line: number | null;
  from: string | null;
  ref: string | null;
}

/** One text that can be found: a fact, a handover by its title and summary, or a piece of a note. */
export type SearchDocument =
  | { what: 'fact'; text: string; handover: HandoverRecord; fact: FactRecord }
  | { what: 'handover'; text: string; handover: HandoverRecord }
  | { what: 'note'; text: string; path: string; line: number; at: string };

/** By which the texts of a handover are picked out, whatever they say. */
export function tagsOf(handover: HandoverRecord, fact: FactRecord | null): string[] {
  const tags = [tagOfProject(handover.project.id), tagOfAgent(handover.agent)];
  return fact === null ? tags : [...tags, ...tagsOfFact(fact)];
}

/** Those that are a fact's own. */
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
  return KIND_TAGS.get(kind) ?? '';
}

const KIND_TAGS: ReadonlyMap<FactKind, string> = new Map(
  FACT_KINDS.map((kind, at) => [kind, makeTag('k', String(at))]),
);

/** Of the last part of a path. */
export function tagOfFileName(name: string): string {
  return makeTag('n', printFingerprint(name.toLowerCase()));
}

/** Where and from where is searched. */
export interface SearchContext {
  store: Store;
  /** The notes of the project that is searched from; null when there are none to look at. */
  notes?: NotesPlace | null;
  progress?: Progress | undefined;
  /** Of reading sessions and of embedding texts: how many are done. */
  sessionProgress?: Progress | undefined;
  embedProgress?: Progress | undefined;
  /** How long sessions may be read that are not known yet; without it, until all are. */
  sessionsBudgetMs?: number;
}

/** Texts that may be what is looked for, newest handovers first, then notes. */
export interface Candidates {
  texts: SearchDocument[];
  known: TermStats[];
}

export interface FactFilter {
  project?: ProjectMatch;
  agent?: string;
  kinds?: readonly FactKind[];
  sinceMs?: number;
  /** Only facts with one of these ids. */
  ids?: readonly string[];
  /** The last part of a path: only facts of the kind `file` about files of this name. */
  fileName?: string;
}

/** A fact and the handover that tells it. */
export interface FoundFact {
  fact: FactRecord;
  handover: HandoverRecord;
}

/** Finds texts. The index and the scan of the files answer alike. */
export interface Finder {
  readonly by: 'index' | 'scan';
  /** Why the files are scanned although there could be an index; null when all is well. */
  readonly indexFailure: Error | null;
  gather(query: SearchQuery, parsed: ParsedQuery): Promise<Candidates>;
  /** Newest handover first. */
  facts(filter: FactFilter): AsyncIterable<FoundFact>;
  /** How many handovers of its project hold a fact. */
  countHolders(found: FoundFact): Promise<number>;
  marks(project: string): Promise<Marks>;
  /** The project that a folder was last worked in as. */
  projectOf(roots: readonly string[]): Promise<string | null>;
  close(): void;
}

/** Whether a text is of what the query is limited to. Both finders hold what they found against this. */
export function passes(query: SearchQuery, searched: SearchDocument): boolean {
  if (query.file !== undefined && !namesFile(searched.text, query.file)) return false;
  if (searched.what === 'note') return !isOfHandovers(query) && isSince(query, searched.at);
  if (query.kinds !== undefined && (searched.what !== 'fact' || !query.kinds.includes(searched.fact.kind)))
    return false;
  return passesHandover(query, searched.handover);
}

/** Notes have no kind and no agent, and belong to the project that is searched from. */
export function isOfHandovers({ kinds, agent }: SearchQuery): boolean {
  return kinds !== undefined || agent !== undefined;
}

export function passesFact(filter: FactFilter, fact: FactRecord, handover: HandoverRecord): boolean {
  if (filter.kinds !== undefined && !filter.kinds.includes(fact.kind)) return false;
  if (filter.ids !== undefined && !filter.ids.includes(fact.id)) return false;
  const { fileName } = filter;
  if (fileName !== undefined && (fact.kind !== 'file' || nameOf(fact.text) !== fileName.toLowerCase()))
    return false;
  return passesHandover(filter, handover);
}

function nameOf(path: string): string {
  return baseName(path).toLowerCase();
}

export function passesHandover(
  { agent, project, sinceMs }: Pick<SearchQuery, 'agent' | 'project' | 'sinceMs'>,
  handover: HandoverRecord,
): boolean {
  if (agent !== undefined && handover.agent.toLowerCase() !== agent.toLowerCase()) return false;
  if (project !== undefined && !isOfProject(handover, project)) return false;
  return isSince({ sinceMs }, handover.at);
}

function isOfProject({ project, root }: HandoverRecord, match: ProjectMatch): boolean {
  return (
    project.id === match.id || project.name.toLowerCase() === match.name?.toLowerCase() || root === match.root
  );
}

function isSince({ sinceMs }: { sinceMs?: number | undefined }, at: string): boolean {
  return sinceMs === undefined || Date.parse(at) >= sinceMs;
}

/** A path is named by any end of it that begins with a whole part. */
export function namesFile(text: string, file: string): boolean {
  const [folded, wanted] = [foldText(text), foldText(file).replace(/^\.?\//, '')];
  for (let at = folded.indexOf(wanted); at >= 0 && wanted !== ''; at = folded.indexOf(wanted, at + 1))
    if (
      !/[\p{L}\p{N}_.-]/u.test(folded.charAt(at - 1)) &&
      !/[\p{L}\p{N}_]/u.test(folded.charAt(at + wanted.length))
    )
      return true;
  return false;
}
