import { stemmer } from 'stemmer';

/** Scripts that put no spaces between words. */
const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u');
const RUN = new RegExp(`[${UNSPACED_SCRIPTS}]+|[^${UNSPACED_SCRIPTS}]+`, 'gu');

const TOKEN = /[\p{L}\p{N}\p{M}]+/gu;

/** What is looked up and what is looked through, alike: lower case, white space as single spaces. Never a tag's sign. */
export function foldText(text: string): string {
  if (!/[^ -~]| {2}|^ | $/.test(text)) return text.toLowerCase();
  return text.normalize('NFC').replaceAll(TAG_SIGN, ' ').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** What a tag begins with: nothing that people or programs write. */
export const TAG_SIGN = '\ue000';

/** The words of a folded text, as the tokenizer `unicode61` splits them; a script without spaces is a word apart. */
export function splitWords(folded: string): string[] {
  const words = folded.match(TOKEN) ?? [];
  return isUnspaced(folded) ? words.flatMap((word) => word.match(RUN) ?? []) : words;
}

/** As `unicode61` has it: Latin letters without their accents. */
function dropAccents(word: string): string {
  if (!/[^a-z0-9]/.test(word)) return word;
  return word
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC');
}

/** FTS5 leaves longer words as they are. */
const LONGEST_STEMMED = 64;

/** The Porter stem of a folded word, exactly as the tokenizer `porter` of FTS5 gives it: the index has those. */
export function stemWord(word: string): string {
  return stemPlain(dropAccents(word));
}

/** Before `-ed` and `-ing`, FTS5 drops one of two `y`; the package does not. */
const DOUBLED_Y = /(?<=.)yy(?=(?:ed|ing)s?$)|^yy(?:ed|ing)s?$/;

function stemPlain(word: string): string {
  return word.length > LONGEST_STEMMED ? word : stemmer(word.replace(DOUBLED_Y, 'y'));
}

/** Stemming changes no more than so many characters at the end of a stem; all before them are the word's own. */
const CHANGED = 3;

/**
 * Tells the stem of a word if it is one of these, else null. Most words are none of them by how they begin, and are not
 * stemmed at all.
 */
export function makeStemPicker(stems: ReadonlySet<string>): (word: string) => string | null {
  const heads = [...stems].map((each) => each.slice(0, Math.max(1, each.length - CHANGED)));
  const seen = new Map<string, string | null>();
  return (word) => {
    const before = seen.get(word);
    if (before !== undefined) return before;
    const plain = dropAccents(word);
    const stemmed = heads.some((head) => plain.startsWith(head)) ? stemPlain(plain) : '';
    const picked = stems.has(stemmed) ? stemmed : null;
    seen.set(word, picked);
    return picked;
  };
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

/** Whether a text has a script without spaces in it, where words are found by their characters alone. */
export function isUnspaced(text: string): boolean {
  return /[^ -~]/.test(text) && UNSPACED.test(text);
}

/** Every two characters of a word, in order; of a single one, itself. */
export function pairsOf(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
