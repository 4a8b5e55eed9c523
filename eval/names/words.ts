import { WORD } from './characters.ts';

const STOP_WORDS = new Set(
  `
    the a an and or of to in on for with is are was were be been this that it as at by from not but have has
    had will would should can could do does did done i we you they he she its their our your which what when
    where who how if then than so also into out up down over under only just any all each more most some
    such no yes using used use new now
  `
    .trim()
    .split(/\s+/),
);
const CONTENT_WORD = /[a-z][a-z0-9_\-']{2,}/g;
const ANY_WORD = new RegExp(`[${WORD}]+`, 'gu');

/** The words that say what a text is about, in lower case. */
export function findContentWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const word of text.toLowerCase().match(CONTENT_WORD) ?? []) if (!STOP_WORDS.has(word)) words.add(word);
  return words;
}

/** The overlapping runs of `size` words; of a shorter text, all of it. */
export function findRuns(text: string, size: number): string[] {
  const words = text.toLowerCase().match(ANY_WORD) ?? [];
  if (words.length < size) return [words.join(' ')];
  return words.slice(size - 1).map((_, start) => words.slice(start, start + size).join(' '));
}
