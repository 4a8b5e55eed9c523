import type { FactKind } from '../model/fact.ts';
import type { ProjectMatch } from '../store/catalog.ts';

/** What is asked for, and where. */
export interface SearchQuery {
  text: string;
  kinds?: readonly FactKind[];
  /** Compared without regard to case. */
  agent?: string;
  /** Only of this project; without it all are searched, with those of the project that is searched from ahead of others. */
  project?: ProjectMatch;
  sinceMs?: number;
  /** Only what names this file: a path, or the end of one. */
  file?: string;
  /** Also the text of the sessions that agents keep on this machine. */
  sessions?: boolean;
  limit: number;
}
