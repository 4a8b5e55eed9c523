import { toSlashes } from '../model/paths.ts';
import { cleanLine, findFirstLine } from '../model/text.ts';
import { splitCommands } from './command-line.ts';
import type { CommandRun, SessionLog } from './session-log.ts';
import { type Segment, splitSegments } from './shell.ts';
import { locatePath, type TouchedFile } from './touched-files.ts';

export interface Commit {
  /** Empty where git was told to be quiet. */
  hash: string;
  branch: string;
  subject: string;
  /** The message below its subject, without trailers. */
  body: string;
  run: CommandRun;
  /** Paths that were staged for it, `EVERYTHING` or `TRACKED`. */
  staged: string[];
}

/** Whether a commit has a file as it stood then. */
export function hasFile({ run, staged }: Commit, { path, lastEdit, created }: TouchedFile): boolean {
  const isStaged = (own: string): boolean =>
    own === EVERYTHING || (own === TRACKED && !created) || own === path || path.startsWith(`${own}/`);
  return run.call >= lastEdit && staged.some(isStaged);
}

/** How git reports a new commit: branch, hash, subject. */
const COMMITTED = /^\[([^\]\n]{1,200}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$/gm;

export interface CommitHistory {
  /** Without those that were taken back since, and without those in other repositories. */
  commits: Commit[];
  /** The hashes of those that were taken back since. */
  lost: string[];
  /** What the commits were reset to, where nobody can tell how many are left. */
  resetTo: string | null;
}

/** The commits that commands made, in the session's folder or where it edited files. */
export function followCommits({ commands, files }: Pick<SessionLog, 'commands' | 'files'>): CommitHistory {
  const commits: Commit[] = [];
  const history: CommitHistory = { commits, lost: [], resetTo: null };
  const home = commands[0]?.folder ?? null;
  const edited = [...files.values()].filter(({ edits }) => edits > 0);
  let staged: string[] = [];
  let away: string | null = null;
  const drop = (from: number): void => {
    history.lost.push(...commits.splice(Math.max(0, from)).map(({ hash }) => hash));
  };
  for (const run of commands) {
    away = /^\s*cd (\S+)\s*$/.exec(run.command)?.[1] ?? (run.command.includes('cd ') ? null : away);
    if (run.failed === null || !run.command.includes('git ')) continue;
    const reported = MAKING.test(run.command) ? [...run.output.matchAll(COMMITTED)] : [];
    const segments = splitSegments(run.command).filter(({ use, folder }) => {
      return use.startsWith('git ') && isOurs(locatePath(folder ?? away ?? '.', run.folder), home, edited);
    });
    staged.push(...findStaged(run));
    // Of a line that failed, only what git reports was done.
    if (!run.failed || reported.length > 0)
      for (const segment of segments) {
        const back = findUndone(segment, run.output, commits);
        if (back === null && commits.length > 0) history.resetTo = findTarget(segment);
        drop(back === null ? 0 : commits.length - back);
      }
    if (!run.failed)
      for (const branch of findDeleted(run)) drop(commits.findLastIndex((commit) => commit.branch !== branch) + 1);
    const making = segments.filter(({ use }) => MAKING.test(use));
    const messages = readMessages(run.command);
    if (making.length > 0)
      for (const [at, [, branch = '', hash = '', subject = '']] of reported.entries())
        commits.push({
          hash: hash.slice(0, 10),
          branch: DETACHED.test(branch) ? '' : branch,
          subject: cleanLine(subject),
          body: readBody(messages[reported.length === messages.length ? at : 0] ?? ''),
          run,
          staged,
        });
    const quiet = reported.length > 0 ? [] : making.filter((segment) => wasMade(segment, run));
    for (const at of quiet.keys()) {
      const message = messages[quiet.length === messages.length ? at : 0] ?? '';
      const subject = quiet.length > 1 && quiet.length !== messages.length ? '' : readSubject(message);
      commits.push({
        hash: '',
        branch: '',
        subject: subject || 'without a message of its own',
        body: readBody(message),
        run,
        staged,
      });
    }
    if (commits.at(-1)?.run === run) staged = [];
  }
  return history;
}

/** Commands of git that commit, with the usual alias. */
const MAKING = /\b(?:commit|ci|revert|cherry-pick|rebase|merge|am)\b/;
/** What git calls the branch while a rebase goes on. */
const DETACHED = /^detached HEAD$/;

/** Whether a folder is of the same work: above or below the session's own, or with files that the session edited. */
function isOurs(place: string, own: string | null, edited: readonly TouchedFile[]): boolean {
  if (own === null) return true;
  const [folder, home] = [asFolder(place), asFolder(own)];
  const paths = edited.map(({ path }) => asFolder(path));
  // Where the home is, is not known: a folder below it is recognised by its end.
  const inHome = /(?:^|\/)~(\/[^/].*)$/.exec(folder)?.[1];
  if (inHome !== undefined) return home.includes(inHome) || paths.some((path) => path.includes(inHome));
  return folder.startsWith(home) || home.startsWith(folder) || paths.some((path) => path.startsWith(folder));
}

/** With a slash at the end, so that a folder begins only what is below it. */
function asFolder(path: string): string {
  return `${toSlashes(path)}/`;
}

/** A commit that git did not report: it was quiet, and nothing else was printed in its place. */
function wasMade({ use, words, isHidden, afterFailure }: Segment, { command, failed, output }: CommandRun): boolean {
  if (use !== 'git commit' || failed !== false || afterFailure || words.includes('--dry-run')) return false;
  const subjects = readMessages(command).map(readSubject);
  // The log that follows names it.
  const isListed = output
    .split('\n')
    .some(
      (line) => /^[0-9a-f]{7,40} /.test(line) && subjects.some((subject) => subject !== '' && line.includes(subject)),
    );
  return !isHidden || isListed || output.trim() === '' || /^ \d+ files? changed/m.test(output);
}

const STAGING_ALL = /^(?:-A|--all|\.|:\/)$/;
const EVERYTHING = '*';
const TRACKED = '* tracked';

/** What a command line stages. */
function findStaged({ command, folder }: CommandRun): string[] {
  return splitCommands(command).flatMap(({ words: [program, verb, ...rest] }) => {
    if (program !== 'git') return [];
    const words = verb === 'add' || verb === 'commit' ? rest : [];
    if (verb === 'commit' && words.some((word) => /^-[a-z]*a[a-z]*$|^--all$/.test(word))) return [TRACKED];
    if (verb === 'add' && words.some((word) => STAGING_ALL.test(word))) return [EVERYTHING];
    return words.filter((word) => !/^["'-]/.test(word)).map((word) => locatePath(word, folder));
  });
}

/** How many of the last commits a command takes back; null where that is not known. */
function findUndone(segment: Segment, output: string, commits: readonly Commit[]): number | null {
  const { use, words } = segment;
  if (use === 'git commit') return words.includes('--amend') ? 1 : 0;
  if (use !== 'git reset') return 0;
  const isWhole = words.some((word) => /^--(?:hard|soft|mixed|keep|merge)$/.test(word));
  const target = findTarget(segment);
  const back = /^(?:HEAD|@)(~\d{0,3}|\^{1,20})?$/.exec(target);
  if (back !== null)
    return back[1] === undefined ? 0 : back[1].startsWith('^') ? back[1].length : Number(back[1].slice(1) || 1);
  const head = /^HEAD is now at ([0-9a-f]{7,10})/m.exec(output)?.[1] ?? target;
  const at = commits.findLastIndex(({ hash }) => hash !== '' && (head.startsWith(hash) || hash.startsWith(head)));
  if (at !== -1) return commits.length - 1 - at;
  return isWhole ? null : 0;
}

function findTarget({ words }: Segment): string {
  return words.slice(2).find((word) => !word.startsWith('-')) ?? 'HEAD';
}

/** The branches that a command deleted though nothing had merged them. */
function findDeleted({ command, output }: CommandRun): string[] {
  if (!/\bgit branch (?:-D|.*--force)\b/.test(command)) return [];
  return Array.from(output.matchAll(/^Deleted branch (\S+) \(was /gm), ([, branch = '']) => branch);
}

const TRAILER = /^(?:[A-Z][\w-]+-by: |🤖|Generated with )/i;

function readSubject(message: string): string {
  return findFirstLine(message);
}

function readBody(message: string): string {
  const [, ...rest] = message.split('\n');
  return rest
    .filter((line) => !TRAILER.test(line.trim()))
    .join('\n')
    .trim();
}

/** The messages of the commits of a command line, in their order: from here-documents, or each from one or several `-m`. */
function readMessages(command: string): string[] {
  const documents = readHereDocuments(command);
  if (documents.length > 0) return documents;
  const [, ...commits] = command.split(/\bgit(?=[^\n;&|]{1,200}\bcommit\b)/);
  const messages = (commits.length === 0 ? [command] : commits).map((own) =>
    Array.from(own.matchAll(/ -\w*m (["'])([\s\S]*?)\1/g), ([, , text = '']) => text).join('\n\n'),
  );
  return messages.filter((message) => message !== '');
}

/** Line by line: a pattern would look for the end from every beginning. */
function readHereDocuments(command: string): string[] {
  const documents: string[] = [];
  for (let rest = command; ; ) {
    const opening = /<<-?[ \t]*(['"]?)(\w+)\1[ \t]*\n/.exec(rest);
    const mark = opening?.[2];
    if (opening === null || mark === undefined) return documents;
    const lines = rest.slice(opening.index + opening[0].length).split('\n');
    const end = lines.findIndex((line) => {
      const own = line.trimStart();
      return own.startsWith(mark) && !/\w/.test(own.charAt(mark.length));
    });
    if (end === -1) return documents;
    documents.push(lines.slice(0, end).join('\n'));
    rest = lines.slice(end + 1).join('\n');
  }
}
