/** Whether a value looks random, chosen by a person, or like a dummy. */

const DUMMY =
  /^(?:\$|<|\{\{|%[({sd]|\*{3}|x{4,}|X{4,}|\.{3}|_{3})|^(?:your|my|the|some|a|an|new|old|test|fake|dummy|sample|mock|example|placeholder|change|replace|insert|enter|todo|redacted|hidden|masked|secret|password|passwd|token|null|none|undefined|true|false|string|number|boolean|bytes?|env|process|os|config|settings|self|this|req|ctx|args|options|params|props|data|user|input|get|load|read|fetch|create|make|generate|random|uuid|crypto|Buffer|await|async|function|return|new|typeof|var|let|const)(?:[^A-Za-z0-9]|$)|change.?me|your[-_]|[-_]here\b|example|placeholder|redacted|\*{4}|x{6}|\.\.\.|…|\bstring\b/i;

const MAX_CHARACTERS_CHECKED = 100;

/** Whether it stands for a value to be filled in or taken from elsewhere. */
export function isDummy(value: string): boolean {
  return DUMMY.test(value.slice(0, MAX_CHARACTERS_CHECKED));
}

const RANDOM_LENGTH = 16;
const RANDOM_BITS = 3;
const MEASURED = 200;

/** Letters and digits in turn, few repetitions, no words joined by marks. */
export function looksRandom(value: string, { turns } = countCharacters(value)): boolean {
  if (value.length < RANDOM_LENGTH || turns === 0 || turns * 8 < Math.min(value.length, 40)) return false;
  return countEntropy(value.slice(0, MEASURED)) >= RANDOM_BITS;
}

const COUNTS = new Uint16Array(256);

/** In bits per character; a rough guess for non-ASCII text. */
function countEntropy(text: string): number {
  COUNTS.fill(0);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i) & 255;
    COUNTS[code] = (COUNTS[code] ?? 0) + 1;
  }
  let bits = 0;
  for (const count of COUNTS) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const PLAIN_WORDS = /^[A-Za-z]+(?:[-_. /]{1,3}[A-Za-z]+)*\d{0,2}$/;
const MIN_DIFFERENT = 5;

/** As a person chooses a password: more than words. */
export function looksLikePassword(
  value: string,
  { small, capitals, digits, others } = countCharacters(value),
): boolean {
  if (value.length < 8) return false;
  const kinds = Math.sign(small) + Math.sign(capitals) + Math.sign(digits) + Math.sign(others);
  if (kinds < 2 || small + capitals === 0) return false;
  return hasDifferent(value, MIN_DIFFERENT) && !PLAIN_WORDS.test(value);
}

function hasDifferent(text: string, least: number): boolean {
  const seen: number[] = [];
  for (let i = 0; i < text.length && seen.length < least; i++) {
    const code = text.charCodeAt(i);
    if (!seen.includes(code)) seen.push(code);
  }
  return seen.length >= least;
}

/** `turns`: how often a digit follows a letter, or a letter a digit. */
export function countCharacters(text: string) {
  const kinds = { small: 0, capitals: 0, digits: 0, others: 0, turns: 0 };
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    let kind = 0;
    if (code >= 0x61 && code <= 0x7a) {
      kinds.small++;
      kind = 1;
    } else if (code >= 0x41 && code <= 0x5a) {
      kinds.capitals++;
      kind = 1;
    } else if (code >= 0x30 && code <= 0x39) {
      kinds.digits++;
      kind = 2;
    } else kinds.others++;
    if (kind + last === 3) kinds.turns++;
    last = kind;
  }
  return kinds;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The text in a base64 string; null where it is no base64 or no text. */
export function decodeBase64(text: string): string | null {
  if (!BASE64.test(text)) return null;
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return /^[\t\n\r\x20-\x7e]*$/.test(decoded) ? decoded : null;
}
