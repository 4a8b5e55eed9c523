import type { Fact } from '../../model/fact.ts';
import { isQuestion, splitMessage } from '../../model/message-lines.ts';
import { cleanLine, cleanText, countNouns, countUtf8Bytes, cutAtWord, cutInside, cutStart } from '../../model/text.ts';
import { type Account, readNumber, readText } from './account.ts';
import { type Block, countLineBytes, type Entry, printEntries } from './block.ts';
import { describeSession, printNow, printTask, QUOTE, quoteLines } from './lines.ts';
import { BARE_BYTES, findAnswered, isAnswered, listRequests } from './user.ts';

const REQUEST_BYTES = 50;
const WORDS_BYTES = 360;
const FEW_WORDS_BYTES = 60;
const CALL_BYTES = 110;
const THOUGHT_BYTES = 260;
const MAX_STEP_BYTES = 1200;
/** The share of the page that is kept for what a person stated to be next. */
const STATED_SHARE = 0.25;

/** What comes next, as far as the structure tells: who is to act, on what, and where the agent was. */
export function describeNext(account: Account): Block {
  const { steps, tasks, questions, blockers } = account;
  const open = tasks.filter(({ status }) => status !== 'completed' && status !== 'cancelled');
  const ranked = [
    ...open.filter(({ status }) => status === 'in_progress'),
    ...open.filter(({ status }) => status !== 'in_progress'),
  ];
  const stated = steps.map((fact) => ({
    lines: quoteLines(`Next, stated by hand: ${cutAtWord(fact.text, MAX_STEP_BYTES)}`),
    id: fact.id,
  }));
  const listEntries = (next: string[]): Entry[] => [
    ...stated,
    ...blockers.map((fact) => ({ lines: quoteLines(cleanLine(fact.text)), id: fact.id })),
    { lines: next, id: null },
    ...ranked.map((fact) => ({ lines: printOpenTask(fact, ranked.length), id: fact.id })),
    ...questions.map((fact) => ({ lines: [`${QUOTE}Asked, not answered yet: ${cleanLine(fact.text)}`], id: fact.id })),
  ];
  const statedBytes = countLineBytes(stated.flatMap(({ lines }) => lines));
  return {
    heading: 'Next and open',
    weight: null,
    ...(statedBytes === 0 ? {} : { least: (room) => Math.min(statedBytes, Math.floor(room * STATED_SHARE)) }),
    most: 2400 + statedBytes,
    print: (bytes) => {
      const whole = printNext(account, WORDS_BYTES);
      const next = countLineBytes(whole) <= bytes ? whole : printNext(account, FEW_WORDS_BYTES).slice(0, 1);
      return printEntries(listEntries(next), bytes);
    },
  };
}

/** A task that nobody looked at for so many calls may be done, or dropped. */
const MANY_CALLS = 30;

function describeUntouched(fact: Fact): string {
  const age = readNumber(fact, 'age');
  return age < MANY_CALLS || fact.sources[0]?.session !== undefined ? '' : ` (as of ${describeWhen(fact)})`;
}

const FEW_TASKS = 6;
const MAX_MORE_BYTES = 160;

function printOpenTask(fact: Fact, count: number): string[] {
  const more = readText(fact, 'more');
  const shown = more === null || count >= FEW_TASKS ? '' : `: ${cutAtWord(cleanLine(more), MAX_MORE_BYTES)}`;
  return [`${printTask(fact)}${shown}${describeUntouched(fact)}${describeSession(fact)}`];
}

/** One entry: the request, the agent's last words and its last call belong together. */
function printNext(account: Account, words: number): string[] {
  const { current, lastWords, thought, log, turns, questions } = account;
  const newest = listRequests(account).at(-1) ?? current;
  const isBare = newest !== null && countUtf8Bytes(newest.text) <= BARE_BYTES && !isAnswered(account);
  const answered = isBare && newest !== current ? findAnswered(account, newest) : null;
  const asked = isBare && answered === null ? (current ?? newest) : newest;
  if (newest === null || asked === null) return [];
  const last = turns.at(-1);
  const entries = cleanText(log?.text ?? '')
    .split('\n')
    .filter((line) => !line.startsWith('  '));
  const lastStep = entries
    .findLast((line) => !/^(?:User|Assistant): /.test(line))
    ?.replace(/^Tool: /, '')
    .replace(LONG_PATH, '"…/$1"');
  const endsWithCall = /^Tool: /.test(entries.at(-1) ?? '');
  const to = answered === null ? '' : ` (an answer to "${cutAtWord(answered, REQUEST_BYTES)}")`;
  const since = account.after.findLast(({ text }) => countUtf8Bytes(text) > BARE_BYTES) ?? asked;
  const isSteered = readNumber(since, 'message') > readNumber(asked, 'message');
  const then = isSteered ? `, then "${cutAtWord(cleanLine(since.text), REQUEST_BYTES)}"` : '';
  const request = `"${cutAtWord(cleanLine(asked.text), REQUEST_BYTES)}"${to}${then}`;
  if (newest.detail?.interrupted === true)
    return [`${QUOTE}Next: the user stopped the work on ${request}: ask how to go on.`];
  const thinking =
    thought === null ? [] : [`${QUOTE}  its last thought: ${readEnd(thought.text, Math.min(words, THOUGHT_BYTES))}`];
  if (lastWords === null || readNumber(lastWords, 'turn') < (last?.number ?? 0)) {
    const step = endsWithCall && lastStep !== undefined ? `; its last call: ${cutAtWord(lastStep, CALL_BYTES)}` : '';
    return [`${QUOTE}Next: ${step === '' ? 'respond to' : 'go on with'} ${request}${step}`, ...thinking];
  }
  if (lastWords.detail?.unfinished === true) {
    return [
      `${QUOTE}Next: go on with ${request}. The agent's last words${describeLag(lastWords)}: ${readEnd(lastWords.text, words)}`,
      ...thinking,
      ...(lastStep === undefined ? [] : [`${QUOTE}  its last call: ${cutAtWord(lastStep, CALL_BYTES)}`]),
    ];
  }
  const end = readEnd(lastWords.text, words);
  const who = questions.length > 0 ? 'the user is to answer the agent' : 'the agent spoke last';
  return [`${QUOTE}Next: ${who} (asked ${request}). Its last words: ${end}`];
}

/** More calls than that may have overtaken what was said before them. */
const MUCH_LATER = 5;

function describeLag(words: Fact): string {
  const age = readNumber(words, 'age');
  return age < MUCH_LATER ? '' : ` (${countNouns(age, 'call')} before the end)`;
}

/** An absolute path, of which the last folders and the name are shown. */
const LONG_PATH = /"(?:\/|[A-Z]:)(?:[^"/\\]*(?:\/|\\+)){2,}((?:[^"/\\]+(?:\/|\\+)){2}[^"/\\]+)"/;

/**
 * What somebody came to in the end: their last paragraph, or their last list from its head; and the last question, where that
 * stands before it. Their code is left out.
 */
function readEnd(message: string, bytes: number): string {
  const lines = splitMessage(message).filter(({ isCode }) => !isCode);
  const last = lines.at(-1);
  if (last === undefined) return '';
  const start = last.isItem ? lines.findLastIndex(({ isItem }) => !isItem) : lines.length - 2;
  const end = lines.slice(Math.max(0, start)).map(({ text }) => text);
  const before = lines.slice(-LINES_OF_END, Math.max(0, start)).findLast(({ text }) => isQuestion(text));
  const question = before === undefined || end.some(isQuestion) ? '' : `${cutAtWord(before.text, bytes / 2)} … `;
  const room = bytes - countUtf8Bytes(question);
  const told = cleanLine(end.join(' '));
  return `${question}${last.isItem ? cutInside(told, room) : cutStart(told, room)}`;
}

const LINES_OF_END = 15;

const MAX_ERROR_BYTES = 330;

function describeWhen(fact: Fact): string {
  const age = readNumber(fact, 'age');
  return age === 0 ? 'in the last call' : `${countNouns(age, 'call')} before the end`;
}

/** Checks whose last run failed, with what they printed. */
export function describeErrors({ openErrors }: Account): Block {
  const runs = new Map<string, Fact[]>();
  for (const fact of openErrors) {
    const run = cleanLine(readText(fact, 'run') ?? readText(fact, 'command') ?? '');
    runs.set(run, [...(runs.get(run) ?? []), fact]);
  }
  const printed = [...runs].slice(0, 3).map(([run, facts]) => {
    const [first] = facts;
    const edited = first?.detail?.edited === true ? '; files were edited since, not run again' : '';
    const when = first === undefined ? '' : ` ${describeWhen(first)}`;
    const told = cutAtWord(facts.map(({ text }) => cleanLine(text)).join(' | '), MAX_ERROR_BYTES);
    const said = first === undefined ? null : readText(first, 'said');
    const words = said === null ? '' : ` (the agent on it: ${cleanLine(said)})`;
    return {
      lines: [`${QUOTE}\`${run}\` failed${when}${edited}: ${told}${words}`],
      ids: facts.map(({ id }) => id),
    };
  });
  return {
    heading: 'Open errors',
    weight: null,
    most: 1400,
    print: (bytes) => {
      const shown = printEntries(
        printed.map(({ lines }, at) => ({ lines, id: String(at) })),
        bytes,
      );
      return { lines: shown.lines, ids: shown.ids.flatMap((at) => printed[Number(at)]?.ids ?? []) };
    },
  };
}

export function describeRunning({ running }: Account): Block {
  const entries = running.map((fact) => {
    const port = readNumber(fact, 'port');
    const where = port === 0 ? '' : ` on port ${port}`;
    const started = fact.sources[0]?.session === undefined ? describeWhen(fact) : 'in an earlier session';
    const when = `started ${started}, not seen to end`;
    return {
      lines: [`${QUOTE}\`${cleanLine(fact.text)}\`${where} (${when})${printNow(fact.detail?.now)}`],
      id: fact.id,
    };
  });
  return {
    heading: 'Running in the background',
    weight: null,
    most: 800,
    print: (bytes) => printEntries(entries, bytes),
  };
}
