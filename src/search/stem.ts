/**
 * The stem of a folded word, by the algorithm of M. F. Porter (1980), as the tokenizer `porter` of FTS5 gives it. A test
 * holds the two against each other.
 */
export function stem(word: string): string {
  if (word.length < 3 || word.length > LONGEST) return word;
  let stemmed = dropPlural(word);
  stemmed = dropPast(stemmed);
  if (stemmed.endsWith('y') && hasVowel(stemmed.slice(0, -1))) stemmed = `${stemmed.slice(0, -1)}i`;
  stemmed = replaceEnd(stemmed, DOUBLE_SUFFIXES, 0);
  stemmed = replaceEnd(stemmed, SUFFIXES, 0);
  stemmed = replaceEnd(stemmed, LAST_SUFFIXES, 1);
  return tidyEnd(stemmed);
}

/** FTS5 counts bytes; longer words are left as they are. */
const LONGEST = 64;

type Suffix = readonly [end: string, replacement: string];

const DOUBLE_SUFFIXES: readonly Suffix[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['logi', 'log'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
];

const SUFFIXES: readonly Suffix[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];

const LAST_SUFFIXES: readonly Suffix[] = [
  'al',
  'ance',
  'ence',
  'er',
  'ic',
  'able',
  'ible',
  'ant',
  'ement',
  'ment',
  'ent',
  'ion',
  'ou',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
].map((end) => [end, '']);

/** The first end that fits decides, whether or not what is before it is long enough. */
function replaceEnd(word: string, suffixes: readonly Suffix[], above: number): string {
  const found = suffixes.find(([end]) => word.length > end.length && word.endsWith(end));
  if (found === undefined) return word;
  const [end, replacement] = found;
  const rest = word.slice(0, -end.length);
  if (measure(rest) <= above || (end === 'ion' && !/[st]$/.test(rest))) return word;
  return `${rest}${replacement}`;
}

function dropPlural(word: string): string {
  if (!word.endsWith('s')) return word;
  if (word.endsWith('sses') || (word.endsWith('ies') && word.length > 3)) return word.slice(0, -2);
  return word.endsWith('ss') ? word : word.slice(0, -1);
}

function dropPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const end = ['ed', 'ing'].find((each) => word.length > each.length && word.endsWith(each));
  if (end === undefined) return word;
  const rest = word.slice(0, -end.length);
  if (!hasVowel(rest)) return word;
  if (/(?:at|bl|iz)$/.test(rest) && rest.length > 2) return `${rest}e`;
  if (endsDouble(rest) && !/[lsz]$/.test(rest)) return rest.slice(0, -1);
  return measure(rest) === 1 && endsShort(rest) ? `${rest}e` : rest;
}

function tidyEnd(word: string): string {
  let tidy = word;
  if (tidy.endsWith('e')) {
    const rest = tidy.slice(0, -1);
    const count = measure(rest);
    if (count > 1 || (count === 1 && !endsShort(rest))) tidy = rest;
  }
  return tidy.length > 1 && tidy.endsWith('ll') && measure(tidy.slice(0, -1)) > 1 ? tidy.slice(0, -1) : tidy;
}

function isConsonant(word: string, at: number): boolean {
  const letter = word.charAt(at);
  if ('aeiou'.includes(letter)) return false;
  return letter !== 'y' || at === 0 || !isConsonant(word, at - 1);
}

/** How often a vowel is followed by a consonant. */
function measure(word: string): number {
  let count = 0;
  let wasVowel = false;
  for (let at = 0; at < word.length; at++) {
    const isVowel = !isConsonant(word, at);
    if (wasVowel && !isVowel) count++;
    wasVowel = isVowel;
  }
  return count;
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (!isConsonant(word, at)) return true;
  return false;
}

function endsDouble(word: string): boolean {
  const last = word.length - 1;
  return last > 0 && word.charAt(last) === word.charAt(last - 1) && isConsonant(word, last);
}

/** Consonant, vowel, consonant, the last of which is none of w, x, y. */
function endsShort(word: string): boolean {
  const last = word.length - 1;
  if (last < 2 || /[wxy]$/.test(word)) return false;
  return isConsonant(word, last) && !isConsonant(word, last - 1) && isConsonant(word, last - 2);
}
