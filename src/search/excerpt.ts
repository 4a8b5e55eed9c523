import type { ParsedQuery } from './parsed-query.ts';

const MOST_CHARACTERS = 400;
const BEFORE = 120;

/** The text in one paragraph; of a long one, the part around what was looked for. */
export function excerpt(text: string, { words }: ParsedQuery): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= MOST_CHARACTERS) return line;
  const folded = line.toLowerCase();
  const met = words.map((word) => folded.indexOf(word.text)).filter((at) => at >= 0);
  const start = met.length === 0 ? 0 : Math.max(0, Math.min(...met) - BEFORE);
  const end = Math.min(line.length, start + MOST_CHARACTERS);
  return `${start > 0 ? '…' : ''}${cutWell(line, start, end)}${end < line.length ? '…' : ''}`;
}

/** Never half a character. */
function cutWell(text: string, start: number, end: number): string {
  return text
    .slice(start, end)
    .replace(/^[\udc00-\udfff]/, '')
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
}
