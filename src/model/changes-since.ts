import type { Commit } from './workspace.ts';

/** What happened to the work after the last thing that a handover tells of. */
export interface ChangesSince {
  ageMs: number;
  /** Null where both are the same, or git told nothing of one of them. */
  branch: { before: string | null; after: string | null } | null;
  /** `commits` are those that came in between, the newest first, as far as they can be told. */
  head: { before: string | null; after: string | null; commits: Commit[] } | null;
  /** Files that the handover tells of. */
  files: { path: string; change: 'changed' | 'gone' }[];
}
