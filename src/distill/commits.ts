import { cleanLine } from '../model/text.ts';
import type { CommandRun } from './session-log.ts';
import { splitSegments } from './shell.ts';

export interface Commit {
  /** Empty where git was told to be quiet. */
  hash: string;
  branch: string;
  subject: string;
  /** The message below its subject, without trailers. */
  body: string;
  run: CommandRun;
}

/** How git reports a new commit: branch, hash, subject. */
const COMMITTED = /^\[([^\]\n]{1,200}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$/gm;
/** The commits that commands made, without those that were amended or reset since. */
export function listCommits(commands: readonly CommandRun[]): Commit[] {
  return followCommits(commands).commits;
}

/** The hashes of commits that were amended or reset since. */
export function listLostCommits(commands: readonly CommandRun[]): string[] {
  return followCommits(commands).lost;
}

function followCommits(commands: readonly CommandRun[]): { commits: Commit[]; lost: string[] } {
  const commits: Commit[] = [];
  const lost: string[] = [];
  for (const run of commands) {
    if (run.failed !== false) continue;
    const undone = countUndone(run.command);
    if (undone > 0) lost.push(...commits.splice(-undone).map(({ hash }) => hash));
    if (!run.command.includes('commit')) continue;
    const reported = [...run.output.matchAll(COMMITTED)];
    if (reported.length === 0 && splitSegments(run.command).some(({ use }) => use === 'git commit'))
      commits.push({ hash: '', branch: '', subject: readSubject(run.command), body: readBody(run.command), run });
    for (const [, branch = '', hash = '', subject = ''] of reported)
      commits.push({ hash: hash.slice(0, 10), branch, subject: cleanLine(subject), body: readBody(run.command), run });
  }
  return { commits, lost };
}

/** How many of the last commits a command takes back. */
function countUndone(command: string): number {
  return splitSegments(command).reduce((sum, { use, text }) => {
    if (use === 'git commit') return / --amend(?= |$)/.test(text) ? sum + 1 : sum;
    const back = use === 'git reset' ? / HEAD(~\d{0,3}|\^{1,20})(?= |$)/.exec(text)?.[1] : undefined;
    if (back === undefined) return sum;
    return sum + (back.startsWith('^') ? back.length : Number(back.slice(1) || 1));
  }, 0);
}

const TRAILER = /^(?:[A-Z][\w-]+-by: |🤖|Generated with )/i;

function readSubject(command: string): string {
  return cleanLine(readMessage(command).split('\n', 1)[0] ?? '') || 'without a message of its own';
}

function readBody(command: string): string {
  const [, ...rest] = readMessage(command).split('\n');
  return rest
    .filter((line) => !TRAILER.test(line.trim()))
    .join('\n')
    .trim();
}

/** From a here-document, or from one or several `-m`. */
function readMessage(command: string): string {
  return (
    readHereDocument(command) ??
    Array.from(command.matchAll(/ -\w*m (["'])([\s\S]*?)\1/g), ([, , text = '']) => text).join('\n\n')
  );
}

/** Line by line: a pattern would look for the end from every beginning. */
function readHereDocument(command: string): string | null {
  const opening = /<<-?[ \t]*(['"]?)(\w+)\1[ \t]*\n/.exec(command);
  const mark = opening?.[2];
  if (opening === null || mark === undefined) return null;
  const lines = command.slice(opening.index + opening[0].length).split('\n');
  const end = lines.findIndex((line) => {
    const own = line.trimStart();
    return own.startsWith(mark) && !/\w/.test(own.charAt(mark.length));
  });
  return end === -1 ? null : lines.slice(0, end).join('\n');
}
