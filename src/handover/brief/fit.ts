import { isQuestion, type MessageLine, splitMessage } from '../../model/message-lines.ts';
import { cleanText, countUtf8Bytes, makeLater } from '../../model/text.ts';
import { prepareLines, SEPARATOR_BYTES } from './choose-lines.ts';

export interface Share {
  /** What it would take, in bytes, if nothing were cut. */
  full: number;
  weight: number;
}

/** Shares out bytes by weight. None gets more than it can use, and what it leaves goes to the others. */
export function shareOut(shares: readonly Share[], total: number): number[] {
  const got = shares.map(() => 0);
  let left = Math.max(0, total);
  let open = shares.flatMap(({ full, weight }, at) => (full > 0 && weight > 0 ? [at] : []));
  while (open.length > 0 && left >= 1) {
    const weights = open.reduce((sum, at) => sum + (shares[at]?.weight ?? 0), 0);
    const round = left;
    for (const at of open) {
      const { full = 0, weight = 0 } = shares[at] ?? {};
      const more = Math.min(full - (got[at] ?? 0), (round * weight) / weights);
      got[at] = (got[at] ?? 0) + more;
      left -= more;
    }
    const before = open.length;
    open = open.filter((at) => (shares[at]?.full ?? 0) - (got[at] ?? 0) >= 1);
    if (open.length === before) break;
  }
  return got.map(Math.floor);
}

/** How languages mark what holds at a moment only. */
const getMoment = makeLater(
  () =>
    new RegExp(
      [
        "\\b(?:currently|right now|at the moment|for now|(?:is|are)(?:n't| not) (?:running|installed|pushed|committed|merged)|ready to (?:push|commit|merge|test)|uncommitted|unpushed)\\b",
        '\\b(?:derzeit|momentan|actualmente|por ahora|atualmente|no momento|actuellement|pour l.instant|attualmente|al momento)\\b',
        'сейчас|目前|当前|現在|今は|현재|지금',
      ].join('|'),
      'i',
    ),
);

export interface FitOptions {
  /** Whether code is worth its bytes here. */
  code?: boolean;
  /** Whether the session went on after it: questions and states of the moment are left out. */
  isOver?: boolean;
}

const SHORTEST_TELLING = 24;

/** A short line without a name or a number, such as "Done." or "6. Tests", says nothing. */
function isTelling(text: string): boolean {
  if (/^<[^<>]*>$/.test(text)) return false;
  return countUtf8Bytes(text) >= SHORTEST_TELLING || /[`_\d/]|\p{Ll}\p{Lu}/u.test(text.replace(/^\d+[.)] /, ''));
}

const FIRST_LINES = 200;
const LAST_LINES = 100;

/** The lines of a message that may be shown, of a very long one those at its ends; its first one where that would be none. */
export function listLines(message: string, { code = false, isOver = false }: FitOptions = {}): MessageLine[] {
  const all = splitMessage(cleanText(message));
  // A question that was answered since, or a state of a moment that is over. The first line is the answer itself.
  const isPassing = (text: string, at: number): boolean =>
    isOver && (isQuestion(text) || (at > 0 && getMoment().test(text)));
  const lines = all.filter(({ text, isCode }, at) => (code || !isCode) && !isPassing(text, at));
  if (lines.length > FIRST_LINES + LAST_LINES) lines.splice(FIRST_LINES, lines.length - FIRST_LINES - LAST_LINES);
  return lines.length === 0 ? all.slice(0, 1) : lines;
}

const SHORTEST_ALLOWANCE = 150;
/** The first line says what was done. */
const FIRST_WEIGHT = 2;
const ITEM_WEIGHT = 1.4;
const EMPTY_WEIGHT = 0.05;

/** Items say more than what stands around them. */
export function weighLine({ text, isItem }: MessageLine): number {
  return (isItem ? ITEM_WEIGHT : 1) * (isTelling(text) ? 1 : EMPTY_WEIGHT);
}

/**
 * What a message says, in at most so many bytes: all of it where it fits, else the lines that say most, in their order.
 */
export function fitMessage(message: string, bytes: number, options: FitOptions = {}): string[] {
  const lines = listLines(message, options);
  const texts = lines.map(({ text }) => text);
  if (texts.reduce((sum, text) => sum + countUtf8Bytes(text) + SEPARATOR_BYTES, 0) <= bytes) return texts;
  const choose = prepareLines(
    lines.map((line, at) => ({
      ...line,
      message: 0,
      weight: (at === 0 ? FIRST_WEIGHT : 1) * weighLine(line),
    })),
  );
  const longest = Math.min(bytes - SEPARATOR_BYTES, Math.max(SHORTEST_ALLOWANCE, Math.floor(bytes / 3)));
  return [...choose({ bytes, longest }).values()].filter((text) => text !== '' && text !== '…');
}
