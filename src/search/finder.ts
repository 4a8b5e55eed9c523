import type { Marks } from '../handover/marks.ts';
import type { FactKind } from '../model/fact.ts';
import type { ProjectMatch } from '../store/catalog.ts';
import type { Progress } from '../store/index-writer.ts';
import type { Store } from '../store/store.ts';
import type { NotesPlace } from './notes.ts';
import type { ParsedQuery } from './parsed-query.ts';
import type { SearchQuery } from './query.ts';
import type { KnownWord } from './rank.ts';
import type { Searched, SearchedFact, SearchedHandover } from './searched.ts';

/** Where and from where is searched. */
export interface SearchDesk {
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
export interface Gathered {
  texts: Searched[];
  known: KnownWord[];
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
  fact: SearchedFact;
  handover: SearchedHandover;
}

/** Finds texts. The index and the scan of the files answer alike. */
export interface Finder {
  readonly by: 'index' | 'scan';
  /** Why the files are scanned although there could be an index; null when all is well. */
  readonly indexFailure: Error | null;
  gather(query: SearchQuery, parsed: ParsedQuery): Promise<Gathered>;
  /** Newest handover first. */
  facts(filter: FactFilter): AsyncIterable<FoundFact>;
  /** How many handovers of its project hold a fact. */
  countHolders(found: FoundFact): Promise<number>;
  marks(project: string): Promise<Marks>;
  /** The project that a folder was last worked in as. */
  projectOf(roots: readonly string[]): Promise<string | null>;
  close(): void;
}
