import { stem } from './stem.ts';

/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const TOKEN = /[\p{L}\p{N}\p{M}]+/gu;

/** What is looked up and what is looked through, alike: lower case, white space as single spaces. Never a tag's sign. */
export function foldText(text: string): string {
  if (!/[^ -~]| {2}|^ | $/.test(text)) return text.toLowerCase();
  return text.normalize('NFC').replaceAll(TAG_SIGN, ' ').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** What a tag begins with: nothing that people or programs write. */
export const TAG_SIGN = '\ue000';

/** The words of a folded text, as the tokenizer `unicode61` splits them. */
export function splitWords(folded: string): string[] {
  return folded.match(TOKEN) ?? [];
}

/** As `unicode61` has it: Latin letters without their accents. */
function dropAccents(word: string): string {
  if (!/[^a-z0-9]/.test(word)) return word;
  return word
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC');
}

export function stemWord(word: string): string {
  return stem(dropAccents(word));
}

export function stemsOf(text: string): string[] {
  return splitWords(foldText(text)).map(stemWord);
}

/** Every three characters of a folded text, in order, each once. */
export function gramsOf(folded: string): string[] {
  const characters = [...folded];
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= characters.length; at++) grams.add(characters.slice(at, at + 3).join(''));
  return [...grams];
}

/** Whether a word is written in a script without spaces, so that words are found in it by its characters alone. */
export function isUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}
