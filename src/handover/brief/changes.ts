import { cutToBytes, revealControls } from '../../model/text.ts';
import { describeAge } from '../../model/time.ts';
import type { ChangesSince } from '../../model/workspace.ts';
import { QUOTE } from './lines.ts';

const MAX_FILES = 15;
const MAX_COMMITS = 5;
const MAX_SUBJECT_BYTES = 80;

/** How old the handover is, and what of it can no longer be taken for granted. */
export function printChanges({ ageMs, branch, head, files }: ChangesSince): string[] {
  const lines = [
    `${describeAge(ageMs)}${branch === null && head === null && files.length === 0 ? '; nothing that it tells of has changed' : ''}`,
  ];
  if (branch !== null) lines.push(`branch ${nameBranch(branch.before)} -> ${nameBranch(branch.after)}`);
  if (head !== null) {
    const count = head.commits.length;
    const told = count === 0 ? '' : `, ${count === 1 ? '1 commit' : `${count} commits`} since`;
    lines.push(`head ${nameCommit(head.before)} -> ${nameCommit(head.after)}${told}`);
    for (const { hash, subject } of head.commits.slice(0, MAX_COMMITS))
      lines.push(`  ${nameCommit(hash)} ${cutToBytes(revealControls(subject), MAX_SUBJECT_BYTES)}`);
  }
  for (const { path, change } of files.slice(0, MAX_FILES)) lines.push(`${change}: ${revealControls(path)}`);
  if (files.length > MAX_FILES) lines.push(`and ${files.length - MAX_FILES} more files`);
  return lines.map((line) => `${QUOTE}${line}`);
}

function nameBranch(branch: string | null): string {
  return branch === null ? '(detached)' : revealControls(branch);
}

function nameCommit(hash: string | null): string {
  return hash?.slice(0, 12) ?? 'no commit';
}
