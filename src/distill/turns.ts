import type { Fact } from '../model/fact.ts';
import { splitMessage } from '../model/message-lines.ts';
import { baseName } from '../model/paths.ts';
import { countNouns, countUtf8Bytes, cutAtWord, cutToBytes } from '../model/text.ts';
import type { Runs } from './commands.ts';
import type { Commit, CommitHistory } from './commits.ts';
import { BY_AGENT, BY_HUMAN, draftFact, OBSERVED } from './facts.ts';
import { findCurrentPrompt, findFirstPrompt, type Message, type SessionLog } from './session-log.ts';
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
  /** What the agent said last, with nothing called by it after that; empty where the turn was not answered. */
  closing: Message[];
}

/** An answer to a question that was asked by a call, and what was said while the agent worked, belong to the turn of it. */
export function listTurns({ prompts, replies, calls, humanCalls, files }: SessionLog): Turn[] {
  const edits = [...files.values()].flatMap(({ editCalls }) => editCalls);
  const requests = prompts.flatMap((prompt, at) =>
    prompt.question === undefined && prompt.steering !== true ? [{ prompt, number: at + 1 }] : [],
  );
  return [{ prompt: null, number: 0 }, ...requests].flatMap(({ prompt, number }, at): Turn[] => {
    const next = requests[at]?.prompt;
    const [start, end] = [prompt?.line ?? -1, next?.line ?? Number.POSITIVE_INFINITY];
    const own = replies.filter(({ line }) => line >= start && line < end);
    if (prompt === null && own.length === 0) return [];
    const to = next?.call ?? calls;
    let last = to;
    while (humanCalls.has(last)) last--;
    const closing = own.filter(({ call, interim }) => call >= last && interim !== true);
    const from = (prompt?.call ?? 0) + 1;
    const count = edits.filter((call) => call >= from && call <= to).length;
    return [{ number, prompt, replies: own, from, to, edits: count, closing }];
  });
}

const FULL_CLOSING = 3000;

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
  const [current, first] = [findCurrentPrompt(log), findFirstPrompt(log)];
  const roleOf = (index: number): 'first' | 'current' | 'after' | 'message' => {
    if (index >= current) return index === current ? 'current' : 'after';
    return index === first ? 'first' : 'message';
  };
  const facts = log.prompts.map((prompt, index) => {
    const role = roleOf(index);
    return draftFact(role === 'message' ? 'note' : 'goal', {
      text: prompt.text,
      line: prompt.line,
      ...(prompt.from === undefined ? BY_HUMAN : BY_AGENT),
      age: log.calls - prompt.call,
      detail: {
        role,
        message: index + 1,
        ...(prompt.question === undefined ? {} : { question: cutAtWord(prompt.question, MAX_QUESTION_BYTES) }),
        ...(prompt.refused === undefined ? {} : { refused: prompt.refused }),
        ...(prompt.from === undefined ? {} : { from: prompt.from }),
        ...(prompt.steering === undefined ? {} : { steers: findSteered(log, index) }),
        ...(log.interrupted.has(index + 1) ? { interrupted: true } : {}),
      },
    });
  });
  // The same words are the same fact, such as several "continue": the last one knows the others.
  const requests = new Map<string, number[]>();
  for (const [index, { question, steering }] of log.prompts.entries()) {
    const id = facts[index]?.id;
    if (id === undefined || question !== undefined || steering === true) continue;
    const numbers = requests.get(id);
    if (numbers === undefined) requests.set(id, [index + 1]);
    else numbers.push(index + 1);
  }
  return facts.map((fact, index) => {
    const numbers = fact === null ? [] : (requests.get(fact.id) ?? []);
    const isLast = numbers.length > 1 && numbers.at(-1) === index + 1;
    return fact === null || !isLast ? fact : { ...fact, detail: { ...fact.detail, repeats: numbers.slice(0, -1) } };
  });
}

const MAX_QUESTION_BYTES = 600;

/** The number of the request whose work it is about. */
function findSteered({ prompts }: SessionLog, index: number): number {
  return (
    prompts.slice(0, index).findLastIndex(({ question, steering }) => question === undefined && steering !== true) + 1
  );
}

/** How many of the newest turns keep their closing words at length. */
const RECENT_TURNS = 30;
const RECENT_BYTES = 6000;
const OLDER_BYTES = 1200;
const MAX_WORKING = 6;
const SUBSTANTIAL_BYTES = 160;
const WORDS_OF_STOPPED_TURN = 6;
/** Agents shorten hashes further than git does. */
const SHORT_HASH = 7;

/** What the agent said at the end of each turn, what it said on the way in the last one, and what each turn did. */
export function findTurnFacts(
  log: SessionLog,
  turns: readonly Turn[],
  { commits, lost, runs }: CommitHistory & { runs: Runs },
): (Fact | null)[] {
  // A commit that printed no hash has an empty one, which every line would contain.
  const gone = [...listRemoved(log), ...lost.map((hash) => hash.slice(0, SHORT_HASH))].filter((name) => name !== '');
  const edits = listEdits(log);
  const lastEdits = new Map(edits.map(({ name, call }) => [name, call]));
  return turns.flatMap((turn, at) => {
    const isLast = at === turns.length - 1;
    const bytes = at >= turns.length - RECENT_TURNS ? RECENT_BYTES : OLDER_BYTES;
    const quote = (role: string, { text, line, call }: Message): Fact | null =>
      draftFact('note', {
        text: cutToBytes(text, bytes),
        line,
        ...BY_AGENT,
        age: log.calls - call,
        detail: {
          role,
          turn: turn.number,
          ...(turn.closing.length === 0 ? { unfinished: true } : {}),
        },
      });
    const last = findLastWords(turn, isLast);
    const words =
      last === null || isLast ? last : { ...last, text: dropSuperseded(turn, last.text, { gone, lastEdits }) };
    const closing = words === null ? [] : [quote(isLast ? 'stopped' : 'closing', words)];
    const onTheWay = turn.replies
      .filter((reply) => reply !== last && !turn.closing.includes(reply))
      .map(dropAnnouncement)
      .filter(({ text }) => countUtf8Bytes(text) > SUBSTANTIAL_BYTES);
    const working = isLast ? chooseWorking(onTheWay, { edits, runs }).map((reply) => quote('working', reply)) : [];
    const thought = isLast && turn.closing.length === 0 && log.thought !== null ? [quote('thought', log.thought)] : [];
    return [...closing, ...working, ...thought, draftWork(log, turn, { commits, edits })];
  });
}

const SENTENCE_END = /[.!?。！？…](?=\s)|\n/g;

/** Without the sentence that only announces the next call: what came of that is not in it. */
function dropAnnouncement(reply: Message): Message {
  const text = reply.text.trimEnd();
  if (!/[:：]$/.test(text)) return reply;
  const [end = null] = [...text.matchAll(SENTENCE_END)].slice(-1);
  return { ...reply, text: end === null ? '' : text.slice(0, end.index + end[0].length).trimEnd() };
}

/**
 * Of what was said on the way, why a file was edited next, and what a check had just shown; only then what was said last. Of what
 * was said in a row, with neither in between, the last overtakes the others. What was said of a check that ran again since, and
 * led to no edit, is overtaken as well.
 */
function chooseWorking(
  replies: readonly Message[],
  { edits, runs }: { edits: readonly Edit[]; runs: Runs },
): Message[] {
  const last = new Set(runs.lastChecks.map(({ run }) => run.call));
  const checks = [...new Set(runs.parts.flatMap(({ check, run }) => (check === null ? [] : [run.call])))];
  const telling: Message[] = [];
  const others: Message[] = [];
  for (const [at, reply] of replies.entries()) {
    const [before, after] = [replies[at - 1]?.call ?? 0, replies[at + 1]?.call ?? Number.POSITIVE_INFINITY];
    const isReason = edits.some(({ call }) => call > reply.call && call <= after);
    const seen = checks.filter((check) => check > before && check <= reply.call);
    if (isReason || seen.some((check) => last.has(check))) telling.push(reply);
    else if (seen.length === 0) others.push(reply);
  }
  const chosen = new Set(telling.slice(-MAX_WORKING));
  for (const reply of others.toReversed()) if (chosen.size < MAX_WORKING) chosen.add(reply);
  return replies.filter((reply) => chosen.has(reply));
}

/** The agent's own summary at the last compaction: what came before may be in no other place. */
export function findSummaryFact(log: SessionLog): Fact | null {
  if (log.summary === null) return null;
  const { text, line, call, after } = log.summary;
  const detail = { role: 'summary', turn: after };
  return draftFact('note', { text: cutToBytes(text, RECENT_BYTES), line, ...BY_AGENT, age: log.calls - call, detail });
}

/** Names of files that were removed: what was said of them before no longer holds, as with commits that were undone. */
function listRemoved(log: SessionLog): string[] {
  const live = new Set([...log.files.values()].filter(({ deleted }) => !deleted).map(({ path }) => baseName(path)));
  const removed = [...log.files.values()].filter(({ deleted }) => deleted).map(({ path }) => baseName(path));
  return removed.filter((name) => !live.has(name));
}

const POSITION = /([\w.@-]+\.\w{1,8}):\d+/g;

/** Without lines about what is gone, and about places in files that were edited since: lines have moved, and code changed. */
function dropSuperseded(
  turn: Turn,
  text: string,
  { gone, lastEdits }: { gone: readonly string[]; lastEdits: ReadonlyMap<string, number> },
): string {
  const isEditedSince = (name: string): boolean => (lastEdits.get(name) ?? 0) > turn.to;
  const isOld = (line: string): boolean =>
    gone.some((name) => line.includes(name)) ||
    (turn.edits === 0 && Array.from(line.matchAll(POSITION), ([, name = '']) => name).some(isEditedSince));
  return text
    .split('\n')
    .filter((line) => !isOld(line))
    .join('\n');
}

/** The closing words; of a turn that was not closed, the last words; where the work was cut off, the longest of the last ones, and the last that say something. */
function findLastWords(turn: Turn, isLast: boolean): Message | null {
  const last = turn.replies.at(-1);
  if (last === undefined) return null;
  if (turn.closing.length > 0) return { ...last, text: printClosing(turn) };
  if (isLast) return last;
  const recent = turn.replies.slice(-WORDS_OF_STOPPED_TURN).map(dropAnnouncement);
  const longest = recent.reduce((before, reply) => (reply.text.length > before.text.length ? reply : before));
  const latest = recent.findLast(({ text }) => countUtf8Bytes(text) > SUBSTANTIAL_BYTES) ?? longest;
  return latest === longest ? longest : { ...latest, text: `${longest.text}\n${latest.text}` };
}

const MAX_FILES = 6;
const MAX_SUBJECT_BYTES = 100;

interface Edit {
  call: number;
  path: string;
  name: string;
}

function listEdits({ files }: SessionLog): Edit[] {
  const all = [...files.values()].flatMap(({ path, editCalls }) => {
    const name = baseName(path);
    return editCalls.map((call) => ({ call, path, name }));
  });
  return all.sort((a, b) => a.call - b.call);
}

/** What a turn did, by its calls: files edited, commits made. Null where it changed nothing. */
function draftWork(
  log: SessionLog,
  turn: Turn,
  { commits, edits }: { commits: readonly Commit[]; edits: readonly Edit[] },
): Fact | null {
  const isOwn = (call: number): boolean => call >= turn.from && call <= turn.to;
  const counts = new Map<string, { name: string; edits: number }>();
  for (const { path, name, call } of edits)
    if (isOwn(call)) counts.set(path, { name, edits: (counts.get(path)?.edits ?? 0) + 1 });
  const edited = [...counts.values()].sort((a, b) => b.edits - a.edits || (a.name < b.name ? -1 : 1));
  const more = edited.length > MAX_FILES ? ` and ${countNouns(edited.length - MAX_FILES, 'more file')}` : '';
  const files = edited.slice(0, MAX_FILES).map((file) => `${file.name} (${file.edits})`);
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
  return lines
    .map(({ text, isItem, isFirst, lead }) => {
      const own = isFirst ? text.slice(lead.length + 2) : text;
      return `${isFirst ? `**${lead}:**\n` : ''}${isItem ? '- ' : ''}${cutAtWord(own, MAX_OUTLINE_LINE)}`;
    })
    .join('\n');
}
