import { isNamedIn } from '../names/known-text.ts';
import { findContentWords, findRuns } from '../names/words.ts';
import type { Truth } from '../truth/truth.ts';
import { type Measured, NAME_METRICS } from './metrics.ts';

const ENOUGH_WORDS = 4;
const RUN = 3;

/**
 * The share of bytes on lines that tell something: what the next session used or the summary kept, a human's words, or
 * an open task. Headings are not counted at all.
 */
export function measureUse(text: string, truth: Truth): Measured | null {
  const isUseful = makeJudge(truth);
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
  return all === 0 ? null : { value: good / all, missed: noise };
}

function makeJudge({ names, commands, prose, ...truth }: Truth): (line: string) => boolean {
  const metrics = NAME_METRICS.filter((metric) => metric !== 'secFiles' && metric !== 'secErr');
  const wanted = [...new Set(metrics.flatMap((metric) => [...names[metric]]))];
  const stems = [...commands.nextCmd, ...commands['sum.cmd']];
  const words = new Set([...prose.secPending, ...prose.secCurrent, ...prose.secNext]);
  const told = new Set(
    [...truth.messages, truth.firstMessage, truth.lastMessage, ...truth.openTasks].flatMap((text) =>
      findRuns(text, RUN),
    ),
  );
  const hasName = (line: string): boolean => wanted.some((name) => isNamedIn(name, line));
  const hasWords = (line: string): boolean =>
    [...findContentWords(line)].filter((word) => words.has(word)).length >= ENOUGH_WORDS;
  const isQuote = (line: string): boolean => {
    const runs = findRuns(line, RUN);
    return runs.filter((run) => told.has(run)).length >= Math.max(1, Math.floor(runs.length / 2));
  };
  return (line) => hasName(line) || stems.some((stem) => line.includes(stem)) || hasWords(line) || isQuote(line);
}
