import type { Fact } from '../../model/fact.ts';
import { splitMessage } from '../../model/message-lines.ts';
import { cleanLine, cleanText, cutAtWord } from '../../model/text.ts';
import { type Account, readNumber, readText } from './account.ts';
import { type Block, type Entry, printEntries } from './block.ts';
import { fitMessage } from './fit.ts';
import { printTask, QUOTE, quoteLines } from './lines.ts';

const REQUEST_BYTES = 90;
const WORDS_BYTES = 300;
const CALL_BYTES = 110;

/** What comes next, as far as the structure tells: who is to act, on what, and where the agent was. */
export function describeNext(account: Account): Block {
  const { tasks, questions, blockers } = account;
  const open = tasks.filter(({ status }) => status !== 'completed' && status !== 'cancelled');
  const ranked = [
    ...open.filter(({ status }) => status === 'in_progress'),
    ...open.filter(({ status }) => status !== 'in_progress'),
  ];
  const entries: Entry[] = [
    ...blockers.map((fact) => ({ lines: quoteLines(cleanLine(fact.text)), id: fact.id })),
    { lines: printNext(account), id: null },
    ...ranked.map((fact) => ({ lines: printOpenTask(fact, ranked.length), id: fact.id })),
    ...questions.map((fact) => ({ lines: [`${QUOTE}Asked, not answered yet: ${cleanLine(fact.text)}`], id: fact.id })),
  ];
  return { heading: 'Next and open', weight: null, most: 2400, print: (bytes) => printEntries(entries, bytes) };
}

const FEW_TASKS = 6;
const MAX_MORE_BYTES = 160;

function printOpenTask(fact: Fact, count: number): string[] {
  const more = readText(fact, 'more');
  const shown = more === null || count >= FEW_TASKS ? '' : `: ${cutAtWord(cleanLine(more), MAX_MORE_BYTES)}`;
  return [`${printTask(fact)}${shown}`];
}

/** One entry: the request, the agent's last words and its last call belong together. */
function printNext({ current, after, lastWords, log, turns, questions }: Account): string[] {
  const asked = after.at(-1) ?? current;
  if (asked === null) return [];
  const last = turns.at(-1);
  const entries = cleanText(log?.text ?? '')
    .split('\n')
    .filter((line) => !line.startsWith('  '));
  const lastStep = entries.findLast((line) => !/^(?:User|Assistant): /.test(line))?.replace(/^Tool: /, '');
  const endsWithCall = entries.length > 0 && !/^(?:User|Assistant): /.test(entries.at(-1) ?? '');
  const request = cutAtWord(cleanLine(asked.text), REQUEST_BYTES);
  if (lastWords === null || readNumber(lastWords, 'turn') < (last?.number ?? 0)) {
    const step = endsWithCall && lastStep !== undefined ? `; its last call: ${cutAtWord(lastStep, CALL_BYTES)}` : '';
    return [`${QUOTE}Next: ${step === '' ? 'answer' : 'go on with'} "${request}"${step}`];
  }
  if (endsWithCall) {
    const words = fitMessage(lastWords.text, WORDS_BYTES).join(' ');
    return [
      `${QUOTE}Next: go on with "${request}". The agent's last words: ${cutAtWord(cleanLine(words), WORDS_BYTES)}`,
      `${QUOTE}  its last call: ${cutAtWord(lastStep ?? '', CALL_BYTES)}`,
    ];
  }
  const end = splitMessage(lastWords.text)
    .filter(({ isCode }) => !isCode)
    .slice(-2)
    .map(({ text }) => text)
    .join(' ');
  const who = questions.length > 0 ? 'the user is to answer' : 'the request was answered';
  return [`${QUOTE}Next: ${who} ("${request}"). The agent's answer ends: ${cutAtWord(cleanLine(end), WORDS_BYTES)}`];
}

const MAX_ERROR_BYTES = 330;

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
    const age = first === undefined ? 0 : readNumber(first, 'age');
    const told = cutAtWord(facts.map(({ text }) => cleanLine(text)).join(' | '), MAX_ERROR_BYTES);
    const said = first === undefined ? null : readText(first, 'said');
    const words = said === null ? '' : ` (the agent on it: ${cleanLine(said)})`;
    return {
      lines: [`${QUOTE}\`${run}\` failed, ${age} calls before the end${edited}: ${told}${words}`],
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
  const entries = running.map((fact) => ({
    lines: [
      `${QUOTE}\`${cleanLine(fact.text)}\` (started ${readNumber(fact, 'age')} calls before the end, not seen to end)`,
    ],
    id: fact.id,
  }));
  return {
    heading: 'Running in the background',
    weight: null,
    most: 800,
    print: (bytes) => printEntries(entries, bytes),
  };
}
