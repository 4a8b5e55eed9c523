import { stemmer } from 'stemmer';
import { makeLater } from '../model/text.ts';

/** Scripts that put no spaces between words. */
const WORD = '\\p{L}\\p{N}\\p{M}';
const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
/** All but ASCII, dashes, quotes, arrows, lines and signs: cheap to rule out, and in most texts nothing else is. */
const UNCOMMON =
  /[^\0-\x7f\xa0-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xd7\u2010-\u2027\u2190-\u21ff\u2300-\u23ff\u2500-\u2775\u2794-\u27bf]/;
const COMMON_TOKEN = /[a-z0-9]+/g;

const getUnspaced = makeLater(() => new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u'));
const getRun = makeLater(() => new RegExp(`[${UNSPACED_SCRIPTS}]+|[^${UNSPACED_SCRIPTS}]+`, 'gu'));
const getToken = makeLater(() => new RegExp(`[${WORD}]+`, 'gu'));
const getJoined = makeLater(() => new RegExp(`(?<![${WORD}])([${WORD}]+)[^\\s${WORD}]+(?=([${WORD}]+))`, 'gu'));

/** The first character of a tag: a private-use character that `foldText` never leaves in a text. */
export const TAG_SIGN = '\ue000';

/** SQLite ends a text at its first NUL. */
export function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '\ufffd');
}

/** Lower case, with single spaces. Applied to queries and to texts alike. */
export function foldText(text: string): string {
  if (!/[^ -~]| {2}|^ | $/.test(text)) return text.toLowerCase();
  const whole = UNCOMMON.test(text) ? text.normalize('NFC').replaceAll(TAG_SIGN, ' ') : text;
  return whole.replace(/\s+/g, ' ').trim().toLowerCase();
}

/** The words of a folded text, split as `unicode61` does, but with a new word where an unspaced script begins or ends. */
export function splitWords(folded: string): string[] {
  if (!UNCOMMON.test(folded)) return folded.match(COMMON_TOKEN) ?? [];
  const words = folded.match(getToken()) ?? [];
  return isUnspaced(folded) ? words.flatMap((word) => (isUnspaced(word) ? (word.match(getRun()) ?? []) : word)) : words;
}

/** The words of a text as it is, with their places. */
export function matchWords(text: string): Iterable<RegExpExecArray> {
  return text.matchAll(UNCOMMON.test(text) ? getToken() : /[A-Za-z0-9]+/g);
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

/** A word may differ in so many characters at the end of its stem: `happy` has `happi`, `relating` has `relate`. */
const CHANGED = 1;

export interface StemPicker {
  /** A text in lower case, those of its words that have the stems, and how often each stem is there. */
  read(text: string): { folded: string; words: ReadonlySet<string>; stems: ReadonlyMap<string, number> };
  /** The stem of a folded word if it is one of those to pick, else null. */
  pick(word: string): string | null;
}

/** Looks for certain stems only: words that begin differently are not stemmed, and mostly not even split off. */
export function makeStemPicker(stems: ReadonlySet<string>): StemPicker {
  const heads = [...stems].map((each) => each.slice(0, Math.max(1, each.length - CHANGED)));
  const plainHeads = heads.filter((head) => /^[a-z0-9]+$/.test(head));
  const starts = plainHeads.length === 0 ? null : new RegExp(`(?<![a-z0-9])(?:${plainHeads.join('|')})[a-z0-9]*`, 'g');
  const seen = new Map<string, string | null>();
  const pick = (word: string): string | null => {
    const before = seen.get(word);
    if (before !== undefined) return before;
    const plain = dropAccents(word);
    const stem = heads.some((head) => plain.startsWith(head)) ? stemPlain(plain) : '';
    const picked = stems.has(stem) ? stem : null;
    seen.set(word, picked);
    return picked;
  };
  return {
    pick,
    read: (text) => {
      const isCommon = !UNCOMMON.test(text);
      const folded = isCommon ? text.toLowerCase() : foldText(text);
      const candidates = isCommon ? ((starts === null ? null : folded.match(starts)) ?? []) : splitWords(folded);
      const words = new Set<string>();
      const counts = new Map<string, number>();
      for (const word of candidates) {
        const stem = pick(word);
        if (stem === null) continue;
        words.add(word);
        counts.set(stem, (counts.get(stem) ?? 0) + 1);
      }
      return { folded, words, stems: counts };
    },
  };
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
  return UNCOMMON.test(text) && getUnspaced().test(text);
}

/** The pairs of neighbouring characters of a word; a single character stands for itself. */
export function pairsOf(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

const COMMON_JOINED = /(?<![a-z0-9])([a-z0-9]+)[^\sa-z0-9]+(?=([a-z0-9]+))/g;

/** Each two words of a folded text with only punctuation between them, as in paths and identifiers, as one token. */
export function listJoined(folded: string): string[] {
  if (!/[^ a-z0-9]/.test(folded)) return [];
  const joined = UNCOMMON.test(folded) ? getJoined() : COMMON_JOINED;
  return Array.from(folded.matchAll(joined), ([, left, right]) => `${TAG_SIGN}${left}${TAG_SIGN}${right}`);
}

/** A token that no text contains. It ends in a digit, so that the stemmer leaves it alone. */
export function makeTag(sort: string, value: string): string {
  const escaped = value.replace(/[^0-9a-wyz]/gsu, (char) => `x${char.codePointAt(0)?.toString(16)}x`);
  return `${TAG_SIGN}${sort}${escaped}0`;
}
