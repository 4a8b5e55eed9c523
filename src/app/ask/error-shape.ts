import { baseName } from '../../model/paths.ts';
import { cleanLine } from '../../model/text.ts';

/** What an error is recognised by, wherever and whenever it comes up again. */
export interface ErrorShape {
  /** The words of it, with a mark for every path, number, hash and time. */
  text: string;
  /** The last parts of the paths in it: they tell whether it is of the same file. */
  files: string[];
}

const URL = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s'"`<>)\]]+/g;
const TIME =
  /\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?/g;
/** Where a program listens or calls. */
const ADDRESS =
  /(?<![\w.])(?:(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?|\[?::(?:1|ffff:[\d.]+)?\]?:\d+)(?![\w.])/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const HEX = /\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b/g;
/** Parts with slashes between them, or a name with an ending that a position follows. */
const PATH =
  /(?<![\w.@+~-])(?:(?:[a-z]:[\\/]|~[\\/]|\.{0,2}[\\/])?(?:[\w.@+~-]+[\\/])+[\w.@+-]+|(?:[a-z]:|~)?[\\/][\w.@+-]+|[\w.-]+\.[a-z]\w{0,5}(?=:\d|\(\d|", line ))/g;
/** A status tells what went wrong, as no other number does. */
const NUMBER =
  /(?<![\p{L}\p{N}_<])(?<!\b(?:code|status|errno|signal|http)[ :=]{1,2})[+-]?\d+(?:[.,_]\d+)*(?:[a-zµ%]{1,3}\b)?(?![\p{L}\p{N}_])/gu;
/** Behind a path, and how programs go on after it. */
const POSITION = /<path>(?:(?::<n>)+|\(<n>(?:, ?<n>)?\)|", line <n>)?[\s:-]*/g;
const FRINGES = /^[^\p{L}\p{N}<]+|[^\p{L}\p{N}>]+$/gu;

/** Taking the shape of a shape changes nothing. */
export function shapeError(line: string): ErrorShape {
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
    .replace(FRINGES, '');
  return { text, files };
}

/** How a kept error stands to one that is asked about. */
export type Likeness = 'same' | 'alike' | 'near';

const NEAR = 0.6;
const SHORTEST_PART = 16;

/** `same`: the same words of the same files. `alike`: of other ones. `near`: most of the words. Null: another error. */
export function compareErrors(asked: ErrorShape, kept: ErrorShape): Likeness | null {
  if (asked.text === kept.text || isPart(asked.text, kept.text) || isPart(kept.text, asked.text)) {
    const isOfOthers =
      asked.files.length > 0 &&
      kept.files.length > 0 &&
      !asked.files.some((file) => kept.files.includes(file));
    return isOfOthers ? 'alike' : 'same';
  }
  return shareWords(asked.text, kept.text) >= NEAR ? 'near' : null;
}

/** What was kept may be cut, or stand without what a program wrote around it. */
function isPart(part: string, whole: string): boolean {
  return part.length >= SHORTEST_PART && whole.includes(part);
}

function wordsOf(text: string): Set<string> {
  return new Set((text.match(/[\p{L}_][\p{L}\p{N}_.]*/gu) ?? []).filter((word) => !MARKS.has(word)));
}

const MARKS: ReadonlySet<string> = new Set(['n', 'path', 'hash', 'url', 'error', 'failed']);
const FEWEST_WORDS = 3;

/** Of all the words in either of them, how many are in both. */
function shareWords(a: string, b: string): number {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (Math.min(left.size, right.size) < FEWEST_WORDS) return 0;
  const both = [...left].filter((word) => right.has(word)).length;
  return both / (left.size + right.size - both);
}
