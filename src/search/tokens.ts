import { stemmer } from 'stemmer';

/** Scripts that put no spaces between words. */
const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u');
const RUN = new RegExp(`[${UNSPACED_SCRIPTS}]+|[^${UNSPACED_SCRIPTS}]+`, 'gu');
const TOKEN = /[\p{L}\p{N}\p{M}]+/gu;

/** The first character of a tag: a private-use character that `foldText` never leaves in a text. */
export const TAG_SIGN = '\ue000';

/** SQLite ends a text at its first NUL. */
export function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '\ufffd');
}

/** Lower case, with single spaces. Applied to queries and to texts alike. */
export function foldText(text: string): string {
  if (!/[^ -~]| {2}|^ | $/.test(text)) return text.toLowerCase();
  return text.normalize('NFC').replaceAll(TAG_SIGN, ' ').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** The words of a folded text, split as `unicode61` does, but with a new word where an unspaced script begins or ends. */
export function splitWords(folded: string): string[] {
  const words = folded.match(TOKEN) ?? [];
  return isUnspaced(folded) ? words.flatMap((word) => word.match(RUN) ?? []) : words;
}

/** Removes the accents of Latin letters, as `unicode61` does. */
function dropAccents(word: string): string {
  if (!/[^a-z0-9]/.test(word)) return word;
  return word
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC');
}

/** FTS5 does not stem longer words. */
const MAX_STEMMED_LENGTH = 64;
/** Before `-ed` and `-ing`, FTS5 drops one of two `y`; the package does not. */
const DOUBLED_Y = /(?<=.)yy(?=(?:ed|ing)s?$)|^yy(?:ed|ing)s?$/;

/** The Porter stem of a folded word. It must be exactly that of the tokenizer `porter` of FTS5, which the index contains. */
export function stemWord(word: string): string {
  return stemPlain(dropAccents(word));
}

function stemPlain(word: string): string {
  if (/[^ -~]/.test(word)) return decodeBytes(stemAscii(encodeBytes(word)));
  return stemAscii(word);
}

function stemAscii(word: string): string {
  return word.length > MAX_STEMMED_LENGTH ? word : stemmer(word.replace(DOUBLED_Y, 'y'));
}

/** FTS5 counts bytes, each of them above ASCII a consonant. They become private-use characters, which have no case. */
function encodeBytes(word: string): string {
  return Array.from(Buffer.from(word), (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xe000 + byte)).join('');
}

function decodeBytes(encoded: string): string {
  return Buffer.from(Array.from(encoded, (char) => char.charCodeAt(0) & 0xff)).toString();
}

/** Stemming changes at most this many characters at the end of a stem. */
const CHANGED = 3;

/** Returns the stem of a word if it is one of `stems`, else null. Words that begin differently are not stemmed at all. */
export function makeStemPicker(stems: ReadonlySet<string>): (word: string) => string | null {
  const heads = [...stems].map((each) => each.slice(0, Math.max(1, each.length - CHANGED)));
  const seen = new Map<string, string | null>();
  return (word) => {
    const before = seen.get(word);
    if (before !== undefined) return before;
    const plain = dropAccents(word);
    const stem = heads.some((head) => plain.startsWith(head)) ? stemPlain(plain) : '';
    const picked = stems.has(stem) ? stem : null;
    seen.set(word, picked);
    return picked;
  };
}

export function stemsOf(text: string): string[] {
  return splitWords(foldText(text)).map(stemWord);
}

/** The distinct trigrams of a folded text, in order. */
export function gramsOf(folded: string): string[] {
  const characters = [...folded];
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= characters.length; at++) grams.add(characters.slice(at, at + 3).join(''));
  return [...grams];
}

/** Whether a text contains a script without spaces, whose words are matched by pairs of characters. */
export function isUnspaced(text: string): boolean {
  return /[^ -~]/.test(text) && UNSPACED.test(text);
}

/** The pairs of neighbouring characters of a word; a single character stands for itself. */
export function pairsOf(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

const JOINED = /([\p{L}\p{N}\p{M}]+)[^\s\p{L}\p{N}\p{M}]+(?=([\p{L}\p{N}\p{M}]+))/gu;

/** Each two words of a folded text with only punctuation between them, as in paths and identifiers, as one token. */
export function listJoined(folded: string): string[] {
  if (!/[^ a-z0-9]/.test(folded)) return [];
  return Array.from(folded.matchAll(JOINED), ([, left, right]) => `${TAG_SIGN}${left}${TAG_SIGN}${right}`);
}

/** A token that no text contains. It ends in a digit, so that the stemmer leaves it alone. */
export function makeTag(sort: string, value: string): string {
  const escaped = value.replace(/[^0-9a-wyz]/gsu, (char) => `x${char.codePointAt(0)?.toString(16)}x`);
  return `${TAG_SIGN}${sort}${escaped}0`;
}
