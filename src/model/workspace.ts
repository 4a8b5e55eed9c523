import * as v from 'valibot';
import { PROJECT_ID } from './id.ts';
import { Timestamp } from './scalars.ts';

/** A project is the same from any of its worktrees and subfolders, and on any machine if it has a remote. */
export const Project = v.strictObject({
  id: v.pipe(v.string(), v.regex(PROJECT_ID)),
  name: v.pipe(v.string(), v.minLength(1)),
  /** Normalised, without credentials. */
  remote: v.nullable(v.string()),
});
export type Project = v.InferOutput<typeof Project>;

export const ChangedFile = v.strictObject({
  path: v.string(),
  change: v.picklist(['added', 'modified', 'deleted', 'renamed', 'copied', 'type-changed']),
  from: v.exactOptional(v.string()),
});
export type ChangedFile = v.InferOutput<typeof ChangedFile>;

export const Commit = v.strictObject({ hash: v.string(), at: Timestamp, subject: v.string() });
export type Commit = v.InferOutput<typeof Commit>;

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const GitOperation = v.picklist(['merge', 'rebase', 'cherry-pick', 'revert', 'bisect', 'am']);
export type GitOperation = v.InferOutput<typeof GitOperation>;

/** Paths are relative to the worktree's root. At most 500 changed files are listed; `changed_total` counts all. */
export const GitFacts = v.strictObject({
  branch: v.nullable(v.string()),
  head: v.nullable(v.string()),
  upstream: v.nullable(v.string()),
  ahead: v.nullable(Count),
  behind: v.nullable(Count),
  operation: v.nullable(GitOperation),
  staged: v.array(ChangedFile),
  unstaged: v.array(ChangedFile),
  untracked: v.array(v.string()),
  conflicted: v.array(v.string()),
  changed_total: v.nullable(Count),
  changed_cut: v.boolean(),
  commits: v.array(Commit),
});
export type GitFacts = v.InferOutput<typeof GitFacts>;

export const Workspace = v.strictObject({
  /** The worktree's root; with `~` for the home folder, so that a handover does not reveal the user's name. */
  root: v.string(),
  /** The folder worked in, relative to the root; empty for the root itself. */
  folder: v.string(),
  worktree: v.nullable(v.string()),
  git: v.nullable(GitFacts),
});
export type Workspace = v.InferOutput<typeof Workspace>;

/** The folder worked in; empty for an import, which names no folder of its sender. */
export function printFolder({ root, folder }: Pick<Workspace, 'root' | 'folder'>): string {
  return [root === ELSEWHERE ? '' : root, folder].filter((part) => part !== '').join('/');
}

/** The root of a worktree that is on no known machine. */
export const ELSEWHERE = '.';

/**
 * Something that a handover states and that was looked at again. `unknown`: it cannot be told. `now` says what is so
 * instead; null where it holds, or nothing is known.
 */
export interface Claim {
  /** The fact that states it; null for the state of git. */
  fact: string | null;
  about:
    | ('branch' | 'head' | 'upstream' | 'uncommitted' | 'commit')
    | ('file' | 'name' | 'todo' | 'check' | 'version' | 'process');
  what: string;
  state: 'holds' | 'changed' | 'gone' | 'unknown';
  now: string | null;
}

/** What changed in the worktree since a handover's last recorded activity. */
export interface ChangesSince {
  ageMs: number;
  /** Since somebody added to it by hand; null where nobody did. */
  noteAgeMs: number | null;
  /** Null when the branch is the same, or unknown on one side. */
  branch: { before: string | null; after: string | null } | null;
  /** `commits` are those made since, newest first; empty where git cannot list them. */
  head: { before: string | null; after: string | null; commits: Commit[] } | null;
  /** Files that the handover mentions. One that was only `written` may hold what it held. */
  files: { path: string; change: 'changed' | 'gone' | 'written' }[];
  claims: Claim[];
}
