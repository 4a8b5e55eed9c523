import type { Fact } from '../model/fact.ts';
import { splitMessage } from '../model/message-lines.ts';
import { baseName } from '../model/paths.ts';
import { countUtf8Bytes, cutAtWord, cutToBytes } from '../model/text.ts';
import { type Commit, listCommits, listLostCommits } from './commits.ts';
import { BY_AGENT, BY_HUMAN, draftFact, OBSERVED } from './facts.ts';
import { findCurrentPrompt, type Message, type SessionLog } from './session-log.ts';
import { relatePath } from './touched-files.ts';

/** A request with what the agent said and did on it. The first turn has no request where the agent begins. */
export interface Turn {
  /** From 1; 0 for what comes before the first request. */
  number: number;
  prompt: Message | null;
  replies: Message[];
  /** The numbers of its first and last call; the last is less than the first where nothing was called. */
  from: number;
  to: number;
  /** How many of its calls edited a file. */
  edits: number;
  /** What the agent said last, with nothing called after it; empty where the turn was not answered. */
  closing: Message[];
}

/** An answer to a question that was asked by a call belongs to the turn of the question. */
export function listTurns({ prompts, replies, calls, files }: SessionLog): Turn[] {
  const edits = [...files.values()].flatMap(({ editCalls }) => editCalls);
  const requests = prompts.flatMap((prompt, at) => (prompt.question === undefined ? [{ prompt, number: at + 1 }] : []));
  return [{ prompt: null, number: 0 }, ...requests].flatMap(({ prompt, number }, at): Turn[] => {
    const next = requests[at]?.prompt;
    const [start, end] = [prompt?.line ?? -1, next?.line ?? Number.POSITIVE_INFINITY];
    const own = replies.filter(({ line }) => line >= start && line < end);
    if (prompt === null && own.length === 0) return [];
    const to = next?.call ?? calls;
    const closing = own.filter(({ call }) => call === to);
    const from = (prompt?.call ?? 0) + 1;
    const count = edits.filter((call) => call >= from && call <= to).length;
    return [{ number, prompt, replies: own, from, to, edits: count, closing }];
  });
}

const FULL_CLOSING = 300;

/** The last words of a turn; together with those before them where they are short. */
export function printClosing({ closing }: Turn): string {
  const parts: string[] = [];
  let length = 0;
  for (const { text } of closing.toReversed()) {
    if (length >= FULL_CLOSING) break;
    parts.unshift(text);
    length += text.length;
  }
  return parts.join('\n');
}

/** The human's messages, word for word, with their role. */
export function findPromptFacts(log: SessionLog): (Fact | null)[] {
  const current = findCurrentPrompt(log);
  return log.prompts.map((prompt, index) => {
    const role = roleOf(index, current);
    return draftFact(role === 'message' ? 'note' : 'goal', {
      text: prompt.text,
      line: prompt.line,
      ...(prompt.from === undefined ? BY_HUMAN : BY_AGENT),
      age: log.calls - prompt.call,
      detail: {
        role,
        message: index + 1,
        ...(prompt.question === undefined ? {} : { question: cutAtWord(prompt.question, MAX_QUESTION_BYTES) }),
        ...(prompt.from === undefined ? {} : { from: prompt.from }),
        ...(log.interrupted.has(index + 1) ? { interrupted: true } : {}),
      },
    });
  });
}

const MAX_QUESTION_BYTES = 600;

function roleOf(index: number, current: number): 'current' | 'after' | 'first' | 'message' {
  if (index === current) return 'current';
  if (index > current) return 'after';
  return index === 0 ? 'first' : 'message';
}

/** How many of the newest turns keep their closing words at length. */
const RECENT_TURNS = 30;
const RECENT_BYTES = 6000;
const OLDER_BYTES = 1200;
const MAX_WORKING = 12;
const SUBSTANTIAL_BYTES = 160;
const WORDS_OF_STOPPED_TURN = 6;

/** What the agent said at the end of each turn, what it said on the way in the last one, and what each turn did. */
export function findTurnFacts(log: SessionLog, turns: readonly Turn[]): (Fact | null)[] {
  const commits = listCommits(log.commands);
  const gone = listGone(log);
  return turns.flatMap((turn, at) => {
    const isLast = at === turns.length - 1;
    const bytes = at >= turns.length - RECENT_TURNS ? RECENT_BYTES : OLDER_BYTES;
    const quote = (role: string, { text, line, call }: Message, subject?: string): Fact | null =>
      draftFact('note', {
        text: cutToBytes(text, bytes),
        line,
        ...BY_AGENT,
        age: log.calls - call,
        detail: {
          role,
          turn: turn.number,
          ...(role === 'stopped' && turn.closing.length === 0 ? { unfinished: true } : {}),
        },
        ...(subject === undefined ? {} : { subject }),
      });
    const last = findLastWords(turn, isLast);
    const words = last === null || isLast ? last : { ...last, text: dropSuperseded(log, turn, gone, last.text) };
    const closing = words === null ? [] : [quote(isLast ? 'stopped' : 'closing', words)];
    const onTheWay = turn.replies.filter(
      (reply) => reply !== last && !turn.closing.includes(reply) && countUtf8Bytes(reply.text) > SUBSTANTIAL_BYTES,
    );
    const working = isLast ? onTheWay.slice(-MAX_WORKING).map((reply) => quote('working', reply)) : [];
    return [...closing, ...working, draftWork(log, turn, commits)];
  });
}

/** Names of files that were removed and hashes of commits that were undone: what was said of them before no longer holds. */
function listGone(log: SessionLog): string[] {
  const live = new Set([...log.files.values()].filter(({ deleted }) => !deleted).map(({ path }) => baseName(path)));
  const removed = [...log.files.values()].filter(({ deleted }) => deleted).map(({ path }) => baseName(path));
  return [...removed.filter((name) => !live.has(name)), ...listLostCommits(log.commands)];
}

const POSITION = /([\w.@-]+\.\w{1,8}):\d+/g;

/** Without lines about what is gone, and about places in files that were edited since: lines have moved, and code changed. */
function dropSuperseded(log: SessionLog, turn: Turn, gone: readonly string[], text: string): string {
  const edited = new Set(
    [...log.files.values()].filter(({ lastEdit }) => lastEdit > turn.to).map(({ path }) => baseName(path)),
  );
  const isOld = (line: string): boolean =>
    gone.some((name) => line.includes(name)) ||
    (turn.edits === 0 && Array.from(line.matchAll(POSITION), ([, name = '']) => name).some((name) => edited.has(name)));
  return text
    .split('\n')
    .filter((line) => !isOld(line))
    .join('\n');
}

/** The closing words; of a turn that was not closed, the last words, or the longest of the last ones where the work was cut off. */
function findLastWords(turn: Turn, isLast: boolean): Message | null {
  const last = turn.replies.at(-1);
  if (last === undefined) return null;
  if (turn.closing.length > 0) return { ...last, text: printClosing(turn) };
  if (isLast) return last;
  const recent = turn.replies.slice(-WORDS_OF_STOPPED_TURN);
  return recent.reduce((longest, reply) => (reply.text.length > longest.text.length ? reply : longest));
}

const MAX_FILES = 6;
const MAX_SUBJECT_BYTES = 100;

/** What a turn did, by its calls: files edited, commits made. Null where it changed nothing. */
function draftWork(log: SessionLog, turn: Turn, commits: readonly Commit[]): Fact | null {
  const isOwn = (call: number): boolean => call >= turn.from && call <= turn.to;
  const edited = [...log.files.values()]
    .map((file) => ({ name: baseName(file.path), edits: file.editCalls.filter(isOwn).length }))
    .filter(({ edits }) => edits > 0)
    .sort((a, b) => b.edits - a.edits || (a.name < b.name ? -1 : 1));
  const more = edited.length > MAX_FILES ? ` and ${edited.length - MAX_FILES} more files` : '';
  const files = edited.slice(0, MAX_FILES).map(({ name, edits }) => `${name} (${edits})`);
  const made = commits.filter(({ run }) => isOwn(run.call));
  const parts = [
    ...(files.length === 0 ? [] : [`edited ${files.join(', ')}${more}`]),
    ...made.map(
      ({ hash, subject }) => `committed ${hash === '' ? '' : `${hash} `}"${cutAtWord(subject, MAX_SUBJECT_BYTES)}"`,
    ),
  ];
  if (parts.length === 0) return null;
  return draftFact('note', {
    text: parts.join('; '),
    subject: `work of turn ${turn.number}: ${parts.join('; ')}`,
    line: turn.prompt?.line ?? 0,
    ...OBSERVED,
    age: log.calls - turn.to,
    detail: { role: 'work', turn: turn.number },
  });
}

const MAX_DOCUMENT_BYTES = 5000;

/** What was written down in prose in the project: notes, designs, decisions. A plan that was approved is told as such. */
export function findDocumentFacts(log: SessionLog): (Fact | null)[] {
  return [...log.documents].map(([path, { call, line, text }]) =>
    log.files.get(path)?.deleted === true || relatePath(path, log.cwd) === path
      ? null
      : draftFact('note', {
          text: cutToBytes(outlineDocument(text), MAX_DOCUMENT_BYTES),
          subject: `document ${path}`,
          line,
          ...BY_AGENT,
          age: log.calls - call,
          detail: { role: 'document', path: relatePath(path, log.cwd) },
        }),
  );
}

const MAX_OUTLINE_LINE = 220;
const ITEMS_PER_HEADING = 2;

/** Each heading with its first lines: what a document says, without its details. */
function outlineDocument(text: string): string {
  let items = 0;
  const lines = splitMessage(text).filter(({ isCode, isItem, isFirst }, at) => {
    items = isFirst ? 1 : items + 1;
    return !isCode && (at === 0 || isFirst || (isItem && items <= ITEMS_PER_HEADING));
  });
  return lines.map((line) => cutAtWord(line.text, MAX_OUTLINE_LINE)).join('\n');
}
