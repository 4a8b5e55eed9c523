import { type MessageLine, splitMessage } from '../../model/message-lines.ts';
import { cleanText, countUtf8Bytes, cutAtWord } from '../../model/text.ts';

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

const SEPARATOR = 4;
const SHORTEST_LINE = 60;
const SHORTEST_ALLOWANCE = 150;
/** A shorter line, such as "Done.", says nothing. */
const SHORTEST_TELLING = 28;

/** How languages mark what holds at a moment only. */
const MOMENT = new RegExp(
  [
    "\\b(?:currently|right now|at the moment|for now|(?:is|are)(?:n't| not) (?:running|installed|pushed|committed|merged)|ready to (?:push|commit|merge|test)|uncommitted|unpushed)\\b",
    '\\b(?:derzeit|momentan|actualmente|por ahora|atualmente|no momento|actuellement|pour l.instant|attualmente|al momento)\\b',
    'сейчас|目前|当前|現在|今は|현재|지금',
  ].join('|'),
  'i',
);

/** A question that was answered since, or a state of a moment that is over. */
function isPassing(text: string): boolean {
  return /[?？؟]["')*]*$/.test(text) || MOMENT.test(text);
}

export interface FitOptions {
  /** Whether code is worth its bytes here. */
  code?: boolean;
  /** Whether the session went on after it: questions and states of the moment are left out. */
  isOver?: boolean;
}

/**
 * What a message says, in at most so many bytes: all of it where it fits, else the lines that say most, in their order.
 */
export function fitMessage(
  message: string,
  bytes: number,
  { code = false, isOver = false }: FitOptions = {},
): string[] {
  const all = splitMessage(cleanText(message));
  const lines = all.filter((line) => (code || !line.isCode) && !(isOver && isPassing(line.text)));
  const chosen = lines.length === 0 ? all.slice(0, 1) : lines;
  const texts = chosen.map(({ text }) => text);
  if (texts.reduce((sum, text) => sum + countUtf8Bytes(text) + SEPARATOR, 0) <= bytes) return texts;
  const allowance = Math.max(SHORTEST_ALLOWANCE, Math.floor(bytes / 3));
  const shown = new Map<number, string>();
  let left = bytes;
  for (const at of orderOf(chosen)) {
    const size = Math.min(countUtf8Bytes(texts[at] ?? ''), allowance);
    if (size + SEPARATOR > left && (left < SHORTEST_LINE || shown.size > 1)) continue;
    const cut = cutAtWord(texts[at] ?? '', Math.min(size, left - SEPARATOR));
    if (cut === '…' || cut === '') continue;
    shown.set(at, cut);
    left -= countUtf8Bytes(cut) + SEPARATOR;
  }
  return [...shown].sort(([a], [b]) => a - b).map(([, text]) => text);
}

/** The first line says what was done and the last one how it ended; items say more than what stands around them. */
function orderOf(lines: readonly MessageLine[]): number[] {
  const last = lines.length - 1;
  const rank = ({ text, isItem }: MessageLine, at: number): number => {
    if (countUtf8Bytes(text) < SHORTEST_TELLING) return 0;
    if (at === 0) return 4;
    if (at === last && !isItem) return 3;
    return isItem ? 2 : 1;
  };
  const ranks = lines.map(rank);
  return [...lines.keys()].sort((a, b) => (ranks[b] ?? 0) - (ranks[a] ?? 0) || a - b);
}
