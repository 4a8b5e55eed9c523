import { baseName } from '../../model/paths.ts';
import { cleanLine } from '../../model/text.ts';

/** The form of an error by which it is recognised again. */
interface NormalisedError {
  /** Its words, with a placeholder for every path, number, hash and time. */
  text: string;
  /** The base names of the paths in it. */
  files: string[];
}

const URL = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s'"`<>)\]]+/g;
const TIME =
  /\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?/g;
const ADDRESS = /(?<![\w.])(?:(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?|\[?::(?:1|ffff:[\d.]+)?\]?:\d+)(?![\w.])/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const HEX = /\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b/g;
/** Parts with slashes between them, or a name with an extension before a position. */
const PATH =
  /(?<![\w.@+~-])(?:(?:[a-z]:[\\/]|~[\\/]|\.{0,2}[\\/])?(?:[\w.@+~-]+[\\/])+[\w.@+-]+|(?:[a-z]:|~)?[\\/][\w.@+-]+|[\w.-]+\.[a-z]\w{0,5}(?=:\d|\(\d|", line ))/g;
/** All numbers but status codes, which say what went wrong. */
const NUMBER =
  /(?<![\p{L}\p{N}_<])(?<!\b(?:code|status|errno|signal|http)[ :=]{1,2})[+-]?\d+(?:[.,_]\d+)*(?:[a-zµ%]{1,3}\b)?(?![\p{L}\p{N}_])/gu;
/** The position after a path. */
const POSITION = /<path>(?:(?::<n>)+|\(<n>(?:, ?<n>)?\)|", line <n>)?[\s:-]*/g;
const OUTER_PUNCTUATION = /^[^\p{L}\p{N}<]+|[^\p{L}\p{N}>]+$/gu;

/** Idempotent. */
export function normaliseError(line: string): NormalisedError {
  const files: string[] = [];
  const notePath = (path: string): string => {
    const name = baseName(path);
    if (!files.includes(name)) files.push(name);
    return '<path>';
  };
  const text = cleanLine(line)
    .toLowerCase()
    .replace(URL, '<url>')
    .replace(ADDRESS, '<n>')
    .replace(TIME, '<n>')
    .replace(UUID, '<hash>')
    .replace(HEX, '<hash>')
    .replace(PATH, notePath)
    .replace(NUMBER, '<n>')
    .replace(POSITION, '<path> ')
    .replace(/\s+/g, ' ')
    .replace(OUTER_PUNCTUATION, '');
  return { text, files };
}

/** `same`: the same words and files. `alike`: the same words, other files. `part`: all words that were asked for. `near`: most. */
export type Similarity = 'same' | 'alike' | 'part' | 'near';

const MIN_SHARED_WORDS = 0.6;
const MIN_PART_LENGTH = 16;

/** Null for a different error. */
export function compareErrors(asked: NormalisedError, recorded: NormalisedError): Similarity | null {
  if (asked.text === recorded.text || isPart(asked.text, recorded.text) || isPart(recorded.text, asked.text)) {
    const isOfOthers =
      asked.files.length > 0 && recorded.files.length > 0 && !asked.files.some((file) => recorded.files.includes(file));
    return isOfOthers ? 'alike' : 'same';
  }
  return compareWords(asked.text, recorded.text) >= MIN_SHARED_WORDS ? 'near' : null;
}

/** An error that is asked about, and the words to find it by. */
export type AskedError = NormalisedError & { words: string };

export function compareLine(asked: AskedError, line: string, recorded = normaliseError(line)): Similarity | null {
  const found = compareErrors(asked, recorded);
  if (found === 'same' || found === 'alike') return found;
  return hasWords(line.toLowerCase(), asked.words) ? 'part' : found;
}

/** Whether a text has all the words of another, in any order. */
function hasWords(text: string, words: string): boolean {
  const split = (line: string): string[] => line.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const [known, asked] = [new Set(split(text)), split(words)];
  return asked.length > 0 && asked.every((word) => known.has(word) || (word.length > 3 && text.includes(word)));
}

/** A recorded error may be cut, or lack what the program printed around it. */
function isPart(part: string, whole: string): boolean {
  return part.length >= MIN_PART_LENGTH && whole.includes(part);
}

const PLACEHOLDER_WORDS: ReadonlySet<string> = new Set(['n', 'path', 'hash', 'url', 'error', 'failed']);
export const MIN_WORDS = 3;

/** The Jaccard similarity of the words. */
function compareWords(a: string, b: string): number {
  const [left, right] = [new Set(listWords(a)), new Set(listWords(b))];
  if (Math.min(left.size, right.size) < MIN_WORDS) return 0;
  const both = [...left].filter((word) => right.has(word)).length;
  return both / (left.size + right.size - both);
}

export function listWords(text: string): string[] {
  return (text.match(/[\p{L}_][\p{L}\p{N}_.]*/gu) ?? []).filter((word) => !PLACEHOLDER_WORDS.has(word));
}
