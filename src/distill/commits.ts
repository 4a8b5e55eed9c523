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

const HERE_DOCUMENT = /<<-?\s*(['"]?)(\w+)\1\n([\s\S]*?)\n\s*\2\b/;
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
  const written = HERE_DOCUMENT.exec(command)?.[3];
  return written ?? Array.from(command.matchAll(/ -\w*m (["'])([\s\S]*?)\1/g), ([, , text = '']) => text).join('\n\n');
}
