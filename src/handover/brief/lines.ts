import { type Fact, readTold, type Told } from '../../model/fact.ts';
import {
  cleanLine,
  cleanText,
  countNouns,
  countUtf8Bytes,
  cutAtWord,
  disarmFrames,
  revealControls,
} from '../../model/text.ts';
import type { GitFacts } from '../../model/workspace.ts';

export const QUOTE = '> ';

/** A finished line. In a quoted one, nothing can open or close a frame of the brief or of its reader. */
export function closeLine(line: string): string {
  return line.startsWith(QUOTE) ? disarmFrames(line) : line;
}

/** A text as quoted lines, so that no part of it can pass for a line of the brief itself. */
export function quoteLines(text: string): string[] {
  return cleanText(text)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '')
    .map((line) => `${QUOTE}${line}`);
}

const MAX_STATEMENT_BYTES = 1200;
const MAX_TASK_BYTES = 240;

/** A fact that somebody declared, pinned, refuted or imported, as lines of a brief. */
export function printFact(fact: Fact): string[] {
  if (fact.trust === 'imported') return printImported(fact);
  if (fact.status === 'refuted') return printRefuted(fact);
  if (fact.kind === 'task') return [printTask(fact)];
  const text = fact.kind === 'file' ? revealControls(fact.text) : cutAtWord(fact.text, MAX_STATEMENT_BYTES);
  return quoteLines(`${markOf(fact)}${text}${describeSession(fact)}`);
}

/** What is so now instead of what was told before it, in place. */
export function printNow(now: unknown): string {
  return typeof now === 'string' ? ` [${cleanLine(now)}]` : '';
}

export function printTask(fact: Fact): string {
  const number = typeof fact.detail?.number === 'string' ? `#${cleanLine(fact.detail.number)} ` : '';
  return `${QUOTE}[${cleanLine(fact.status ?? 'open')}] ${number}${cutAtWord(cleanLine(fact.text), MAX_TASK_BYTES)}`;
}

function printRefuted(fact: Fact): string[] {
  return [
    `${QUOTE}- tried, did not work: ${cutAtWord(cleanLine(fact.text), MAX_STATEMENT_BYTES)}${describeReason(fact)}`,
  ];
}

/** Why it was refuted. */
function describeReason({ status, detail }: Fact): string {
  if (status !== 'refuted' || typeof detail?.because !== 'string') return '';
  return cutAtWord(`; because: ${cleanLine(detail.because)}`, MAX_STATEMENT_BYTES);
}

/** Begins what somebody else said. */
const IMPORTED_MARK = '- (imported, unverified) ';

/** The same, with the name of the sender where a person said it. */
export function markImported(told: Pick<Told, 'origin' | 'by'> | null): string {
  if (told?.origin !== 'human') return IMPORTED_MARK;
  return `- (imported, said by ${cleanLine(told.by ?? 'its sender').replace(/[()]/g, '')}, unverified) `;
}

function printImported(fact: Fact): string[] {
  const status = fact.status === undefined ? '' : `[${cleanLine(fact.status)}] `;
  const text = fact.kind === 'file' ? revealControls(fact.text) : cutAtWord(fact.text, MAX_STATEMENT_BYTES);
  const marks = `${describeReason(fact)}${printNow(fact.detail?.now)}`;
  return indentRest(quoteLines(`${markImported(readTold(fact))}${fact.kind}: ${status}${text}${marks}`));
}

/** The lines after the first set in, so that none of them looks as if it were not marked. */
export function indentRest(lines: readonly string[]): string[] {
  return lines.map((line, at) => (at === 0 ? line : `${QUOTE}${INDENT}${line.slice(QUOTE.length)}`));
}

const INDENT = '  ';

/** Says so where a fact is of an earlier session. */
export function describeSession(fact: Fact): string {
  const { of } = { of: undefined, ...fact.detail };
  const day = typeof of === 'string' ? `, ${cleanLine(of)}` : '';
  return fact.sources[0]?.session === undefined ? '' : ` (of an earlier session${day})`;
}

/** Names the kind of a statement, and the author of what would otherwise be taken for the user's words. */
function markOf(fact: Fact): string {
  const kind = fact.kind === 'note' ? '' : `${fact.kind}: `;
  const status = fact.status === undefined || fact.status === 'open' ? '' : `[${fact.status}] `;
  const author = fact.trust === 'declared' && fact.origin === 'agent' ? '(by the agent, unverified) ' : '';
  return `- ${author}${kind}${status}`;
}

/** The state of git in one line, and each changed file. */
export function printTree(git: GitFacts): { head: string; files: string[] } {
  const files = [
    ...git.conflicted.map((path) => `conflict: ${revealControls(path)}`),
    ...git.staged.map((file) => `staged, ${file.change}: ${showChange(file)}`),
    ...git.unstaged.map((file) => `${file.change}: ${showChange(file)}`),
    ...git.untracked.map((path) => `untracked: ${revealControls(path)}`),
  ];
  return { head: describeHead(git), files: files.map((line) => `${QUOTE}${line}`) };
}

function showChange(file: { path: string; from?: string }): string {
  return file.from === undefined
    ? revealControls(file.path)
    : `${revealControls(file.from)} -> ${revealControls(file.path)}`;
}

function describeHead(git: GitFacts): string {
  const parts = [
    git.branch === null ? 'no branch (detached)' : `branch ${revealControls(git.branch)}`,
    git.head === null ? 'no commit yet' : `head ${git.head.slice(0, 12)}`,
  ];
  if (git.upstream !== null)
    parts.push(`${git.ahead ?? 0} ahead and ${git.behind ?? 0} behind ${revealControls(git.upstream)}`);
  if (git.operation !== null) parts.push(`${git.operation} in progress`);
  parts.push(git.changed_total === null ? 'changed files unknown' : countNouns(git.changed_total, 'changed file'));
  return `${QUOTE}${parts.join(', ')}`;
}

const LONG_MESSAGE_BYTES = 800;
const PASTED = '[pasted text]';
const FENCED = /```[\s\S]*?(?:```|$)/g;
/** A line of a log, a listing or a stack. */
const LOGGED = /^\s*(?:#\d+ +0x|at \S|\d{2,4}[-:/.]\d{2}|==+ ?\d|\[\d|\S+:\d+:\d+|File "|[│├└⎿⏺]|\{"|\d+ [|│+-])/;
const SHORTEST_LOG = 3;

/** A message on one line. Logs that were pasted into a long one are left out. */
export function readMessage(message: string): string {
  if (countUtf8Bytes(message) <= LONG_MESSAGE_BYTES) return cleanLine(message);
  const lines = message.replace(FENCED, (block) => (isLog(block) ? `\n${PASTED}\n` : block)).split('\n');
  const kept = dropLoggedLines(lines);
  return cleanLine(kept.join('\n')).replace(/(?:\[pasted text\] ?){2,}/g, `${PASTED} `);
}

function isLog(block: string): boolean {
  const lines = block.split('\n');
  return lines.filter((line) => LOGGED.test(line)).length * 2 > lines.length;
}

/** Drops runs of logged lines. A single one may be part of the message. */
function dropLoggedLines(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let logged: string[] = [];
  for (const line of lines) {
    if (LOGGED.test(line)) {
      logged.push(line);
      continue;
    }
    if (logged.length < SHORTEST_LOG) kept.push(...logged);
    logged = [];
    kept.push(line);
  }
  return logged.length < SHORTEST_LOG ? [...kept, ...logged] : kept;
}
