import { statFile } from '../../platform/external-file.ts';
import { readHeadCommit } from '../../platform/git-history.ts';
import type { Evidence, Ready } from './ready.ts';

/**
 * What happened to the work since a session was captured, as far as a look at its files tells: a hook has no time to read
 * them, as `handover/find-changes.ts` does.
 */
export interface SeenChanges {
  files: string[];
  head: { before: string; after: string } | null;
}

/** What a file is like now, to be compared later. */
export function describeEvidence(path: string, shown: string): Evidence {
  const sight = statFile(path);
  return { path, shown, size: sight?.size ?? null, changedMs: sight?.changedMs ?? null };
}

export function lookForChanges({ root, files, head: before }: Ready): SeenChanges {
  const after = before === null ? null : readHeadCommit(root);
  return {
    files: files.filter(isChanged).map(({ shown }) => shown),
    head: before === null || after === null || before === after ? null : { before, after },
  };
}

function isChanged(evidence: Evidence): boolean {
  const now = describeEvidence(evidence.path, evidence.shown);
  return now.size !== evidence.size || now.changedMs !== evidence.changedMs;
}
