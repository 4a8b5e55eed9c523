import { cutToBytes, revealControls } from '../../model/text.ts';
import { describeAge } from '../../model/time.ts';
import type { ChangesSince } from '../../model/workspace.ts';
import { type Block, printEntries } from './block.ts';
import { QUOTE } from './lines.ts';

/** What changed in the working tree since the handover. */
export function describeSince(changes: ChangesSince | null): Block {
  const entries = (changes === null ? [] : printChanges(changes)).map((line) => ({ lines: [line], id: null }));
  return {
    heading: 'Changed since this handover',
    weight: null,
    most: 2000,
    print: (bytes) => printEntries(entries, bytes),
  };
}

const MAX_FILES = 15;
const MAX_COMMITS = 5;
const MAX_SUBJECT_BYTES = 80;

function printChanges({ ageMs, branch, head, files }: ChangesSince): string[] {
  const lines = [
    `${describeAge(ageMs)}${branch === null && head === null && files.length === 0 ? '; nothing in it has changed since' : ''}`,
  ];
  if (branch !== null) lines.push(`branch ${nameBranch(branch.before)} -> ${nameBranch(branch.after)}`);
  if (head !== null) {
    const count = head.commits.length;
    const since = count === 0 ? '' : `, ${count === 1 ? '1 commit' : `${count} commits`} since`;
    lines.push(`head ${nameCommit(head.before)} -> ${nameCommit(head.after)}${since}`);
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
