import { isNamedIn } from '../names/known-text.ts';
import { findContentWords, findRuns } from '../names/words.ts';
import type { Useful } from '../truth/truth.ts';

const ENOUGH_WORDS = 4;
const RUN = 3;

interface Use {
  sum: number;
  count: 1;
  /** The other lines. */
  missed: readonly string[];
}

/**
 * The share of bytes on lines that tell something: what the next session used or the summary kept, a human's words, or
 * an open task. Headings are not counted at all.
 */
export function measureUse(text: string, useful: Useful): Use | null {
  const isUseful = makeJudge(useful);
  const noise: string[] = [];
  let good = 0;
  let all = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const bytes = Buffer.byteLength(line);
    all += bytes;
    if (isUseful(line)) good += bytes;
    else noise.push(line);
  }
  return all === 0 ? null : { sum: good / all, count: 1, missed: noise };
}

function makeJudge({ names, stems, words, quotes }: Useful): (line: string) => boolean {
  const told = new Set(quotes.flatMap((text) => findRuns(text, RUN)));
  const hasName = (line: string): boolean => [...names].some((name) => isNamedIn(name, line));
  const hasStem = (line: string): boolean => [...stems].some((stem) => line.includes(stem));
  const hasWords = (line: string): boolean =>
    [...findContentWords(line)].filter((word) => words.has(word)).length >= ENOUGH_WORDS;
  const isQuote = (line: string): boolean => {
    const runs = findRuns(line, RUN);
    return runs.filter((run) => told.has(run)).length >= Math.max(1, Math.floor(runs.length / 2));
  };
  return (line) => hasName(line) || hasStem(line) || hasWords(line) || isQuote(line);
}
