import type { MessageLine } from '../../model/message-lines.ts';
import { countUtf8Bytes, cutAtWord, cutInside, isUnspaced, makeLater, pairUp } from '../../model/text.ts';

/** A line of a message that may be shown. */
export interface Candidate extends Pick<MessageLine, 'text' | 'isFirst' | 'lead'> {
  /** Which message it is of. */
  message: number;
  /** How much it matters beside other lines that name as much. */
  weight: number;
}

/** The chosen lines by their place among the candidates, in that order. */
export type ChooseLines = (limits: { bytes: number; longest: number }) => Map<number, string>;

/** What stands between two lines. */
export const SEPARATOR_BYTES = 4;
/** A message of which something is told already has less need of another line. */
const FIRST_OF_MESSAGE = 1.25;
/** What a term is still worth when it is told once more. */
const TOLD_AGAIN = 0.2;

/**
 * Chooses the lines that name most for their bytes, together: what another line tells already counts little. No word is
 * known to it, so it works in any language.
 */
export function prepareLines(candidates: readonly Candidate[]): ChooseLines {
  const terms = weighTerms(candidates);
  const rated = candidates.map(
    ({ text, message, lead, isFirst, weight }, at): RatedLine => ({
      ...{ text, message, isFirst, weight, terms: terms[at] ?? [], heading: `${message} ${lead}` },
      lead: isFirst || lead === '' ? '' : `${cutInside(lead, LONGEST_LEAD)}: `,
    }),
  );
  const known = new Map<number, Ranking>();
  return ({ bytes, longest }) => {
    const ranking = known.get(longest) ?? rankLines(rated, longest);
    known.set(longest, ranking);
    return printLines(ranking.lines, pickLines(ranking, bytes));
  };
}

/** What turns its meaning round is often at its end. */
const LONGEST_LEAD = 90;

/** One object for all lines that have it: sums over lines are what most of the time goes into. */
interface Term {
  worth: number;
  /** What it is worth after the lines that were chosen so far. */
  left: number;
}

/** A line as it would be shown. */
interface RatedLine extends Candidate {
  terms: readonly Term[];
  /** The same for lines below the same heading of a message. */
  heading: string;
}

interface Ranked {
  line: RatedLine;
  at: number;
  rate: number;
}

/** Lines cut to a length, as they rank before any is chosen: the best last. */
interface Ranking {
  lines: readonly RatedLine[];
  sizes: readonly number[];
  queue: readonly Ranked[];
}

function rankLines(rated: readonly RatedLine[], longest: number): Ranking {
  const lines = rated.map((line) => ({ ...line, text: cutAtWord(line.text, longest) }));
  const sizes = lines.map(({ text }) => countUtf8Bytes(text) + SEPARATOR_BYTES);
  const queue = lines
    .map((line, at) => ({ line, at, rate: rateLine(line, sizes[at], false) }))
    .sort((a, b) => a.rate - b.rate || b.at - a.at);
  return { lines, sizes, queue };
}

function rateLine({ terms, weight }: RatedLine, size = 1, isBegun: boolean): number {
  let sum = 0;
  for (const { left } of terms) sum += left;
  return (weight * sum * (isBegun ? 1 : FIRST_OF_MESSAGE)) / size;
}

/** The places of the lines that fit, the best first. */
function pickLines({ lines, sizes, queue: ranked }: Ranking, bytes: number): Set<number> {
  const begun = new Set<number>();
  const chosen = new Set<number>();
  const paid = new Set<string>();
  const firsts = new Map<string, number>();
  let left = bytes;
  // A rate only falls as lines are chosen: the last of the queue is the best if it still is after rating it anew.
  const queue = [...ranked];
  for (let best = queue.pop(); best !== undefined; best = queue.pop()) {
    const { at, line } = best;
    const isLed = paid.has(line.heading) || (firsts.get(line.heading) ?? Number.POSITIVE_INFINITY) < at;
    const size = (sizes[at] ?? 0) + countUtf8Bytes(isLed ? '' : line.lead);
    if (size > left) continue;
    const now = rateLine(line, sizes[at], begun.has(line.message));
    if (now < (queue.at(-1)?.rate ?? 0)) {
      queue.splice(findPlace(queue, now), 0, { line, at, rate: now });
      continue;
    }
    left -= size;
    chosen.add(at);
    begun.add(line.message);
    if (line.isFirst) firsts.set(line.heading, at);
    // Below a line that begins with it, the heading costs nothing, but above that line it still does.
    else if (!isLed) paid.add(line.heading);
    for (const term of line.terms) term.left *= TOLD_AGAIN;
  }
  for (const at of chosen) for (const term of lines[at]?.terms ?? []) term.left = term.worth;
  return chosen;
}

/** With the heading before the first line below it. */
function printLines(lines: readonly RatedLine[], chosen: ReadonlySet<number>): Map<number, string> {
  const begun = new Set<string>();
  const shown = new Map<number, string>();
  for (const [at, { heading, lead, text }] of lines.entries()) {
    if (!chosen.has(at)) continue;
    shown.set(at, `${begun.has(heading) ? '' : lead}${text}`);
    begun.add(heading);
  }
  return shown;
}

/** Where in a queue with rising rates another one belongs. */
function findPlace(queue: readonly { rate: number }[], rate: number): number {
  let [low, high] = [0, queue.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queue[middle]?.rate ?? 0) < rate) low = middle + 1;
    else high = middle;
  }
  return low;
}

const getTerm = makeLater(() => /[\p{L}\p{N}_$][\p{L}\p{N}_$./:#@-]*[\p{L}\p{N}_$]/gu);
/** Names of code, files and tickets, numbers, abbreviations. */
const getName = makeLater(() => /[\p{N}_$/]|\p{Ll}\p{Lu}|[\p{L}\p{N}][.:#-][\p{L}\p{N}]|^\p{Lu}{2,}$/u);
const SHORTEST_WORD = 4;
const NAME_MARK = '=';

function listTerms(text: string): string[] {
  const terms = new Set<string>();
  for (const [term] of text.matchAll(getTerm())) {
    if (isUnspaced(term)) for (const pair of pairUp(term)) terms.add(pair);
    else if (getName().test(term)) terms.add(`${NAME_MARK}${term.toLowerCase()}`);
    else if (term.length >= SHORTEST_WORD) terms.add(term.toLowerCase());
  }
  return [...terms];
}

const WORD_WORTH = 0.35;
const COMMON_WORD_WORTH = 0.07;

/** The terms of each line. A name is worth more the more messages have it, a word less. */
function weighTerms(candidates: readonly Candidate[]): Term[][] {
  const texts = candidates.map(({ text }) => listTerms(text));
  const messages = new Map<string, Set<number>>();
  for (const [at, { message }] of candidates.entries())
    for (const text of texts[at] ?? []) {
      const known = messages.get(text);
      if (known === undefined) messages.set(text, new Set([message]));
      else known.add(message);
    }
  const count = new Set(candidates.map(({ message }) => message)).size;
  const terms = new Map<string, Term>();
  for (const [text, { size }] of messages) {
    const isName = text.startsWith(NAME_MARK);
    const worth = isName ? 1 + Math.log2(size) / 2 : WORD_WORTH * (1 - size / count) + COMMON_WORD_WORTH;
    terms.set(text, { worth, left: worth });
  }
  return texts.map((own) => own.flatMap((text) => terms.get(text) ?? []));
}
