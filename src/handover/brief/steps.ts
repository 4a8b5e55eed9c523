import { cleanText, countUtf8Bytes } from '../../model/text.ts';
import type { Account } from './account.ts';
import { type Block, DEFAULT_BUDGET, NOTHING } from './block.ts';
import { QUOTE } from './lines.ts';

/** The last events as a log, oldest first, ending with the last one. A small brief has better uses for its bytes. */
export function describeSteps({ log }: Account, budget: number): Block {
  const entries: string[][] = [];
  for (const line of cleanText(log?.text ?? '').split('\n')) {
    if (line.startsWith('  ') && entries.length > 0) entries.at(-1)?.push(line);
    else entries.push([line]);
  }
  return {
    heading: 'Last steps',
    weight: 12 * Math.min(1, (budget / DEFAULT_BUDGET) ** 2),
    most: 6000,
    print: (bytes) => {
      const shown: string[] = [];
      let left = bytes;
      for (const entry of entries.toReversed()) {
        const lines = entry.map((line) => `${QUOTE}${line}`);
        const size = lines.reduce((sum, line) => sum + countUtf8Bytes(line) + 1, 0);
        if (size > left) {
          const [head = ''] = lines;
          if (countUtf8Bytes(head) + 1 <= left && lines.length > 1) shown.unshift(...takeLines(lines, left));
          break;
        }
        left -= size;
        shown.unshift(...lines);
      }
      return shown.length === 0 || log === null ? NOTHING : { lines: shown, ids: [log.id] };
    },
  };
}

function takeLines(lines: readonly string[], bytes: number): string[] {
  let left = bytes;
  return lines.filter((line) => {
    left -= countUtf8Bytes(line) + 1;
    return left >= 0;
  });
}
