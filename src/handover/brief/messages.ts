import { countUtf8Bytes, cutAtWord, findContentWords } from '../../model/text.ts';
import type { LineCandidate } from './fill-page.ts';
import { countLineBytes, oneLine, QUOTE } from './lines.ts';
import type { Page } from './page.ts';
import { orderOf } from './sections.ts';
import type { WeightedFact } from './weight.ts';

const LONG = 800;
const PASTED = '[pasted text]';
const FENCED = /```[\s\S]*?(?:```|$)/g;
/** A line of a log, a listing or a stack. */
const LOGGED =
  /^\s*(?:#\d+ +0x|at \S+ ?\(|\d{2,4}[-:/.]\d{2}|==+ ?\d|\[\d|\S+:\d+:\d+|File "|[│├└⎿⏺]|\{"|\d+ [|│+-])/;
const SHORTEST_LOG = 3;

/** What somebody wrote, on one line. What was pasted into a long message makes way for what was said around it. */
export function readMessage(message: string): string {
  if (countUtf8Bytes(message) <= LONG) return oneLine(message);
  const lines = message.replace(FENCED, (block) => (isLog(block) ? `\n${PASTED}\n` : block)).split('\n');
  const kept = dropLogs(lines);
  return oneLine(kept.join('\n')).replace(/(?:\[pasted text\] ?){2,}/g, `${PASTED} `);
}

function isLog(block: string): boolean {
  const lines = block.split('\n');
  return lines.filter((line) => LOGGED.test(line)).length * 2 > lines.length;
}

/** Takes out what was logged: a few such lines in a row, for one by itself may be meant. */
function dropLogs(lines: readonly string[]): string[] {
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

/** Of a long message the first part says what it is about. */
export function shortenMessage(message: string): string {
  const text = oneLine(message);
  const seen = Math.min(text.length, 600);
  if (seen <= 320) return text;
  return cutAtWord(text, Math.max(320, Math.floor(seen * 0.75)));
}

const MOST_CONTINUED = 1600;
const POINTS_PER_CONTINUED_BYTE = 1.2;

/** What was cut from the user's requests, for the room that nothing better takes. */
export function continueRequests(page: Page, facts: readonly WeightedFact[]): LineCandidate[] {
  return facts.flatMap(({ fact, section, weight }) => {
    if (section !== 'current' && section !== 'first') return [];
    const text = readMessage(fact.text);
    const shown = page
      .textOf(section)
      .split('\n')
      .find((line) => isCutOf(line, text));
    if (shown === undefined) return [];
    const rest = cutAtWord(text.slice(shown.length - QUOTE.length - 1).trim(), MOST_CONTINUED);
    const lines = [`${QUOTE}… ${rest}`];
    const bytes = countLineBytes(lines);
    const points = bytes * POINTS_PER_CONTINUED_BYTE;
    const order = orderOf(section, fact, weight) + 0.5;
    return [{ ...BARE_LINE, section, lines, bytes, order, points, words: findContentWords(rest) }];
  });
}

const BARE_LINE = { kind: 'line', names: [], wordPoints: 0, file: null, told: null, symbols: [] } as const;

function isCutOf(line: string, text: string): boolean {
  return line.endsWith('…') && text.startsWith(line.slice(QUOTE.length, -1));
}
