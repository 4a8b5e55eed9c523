/** How a value looks: chosen by chance, by a person, or not a value at all. */

const STAND_IN =
  /^(?:\$|<|\{\{|%[({sd]|\*{3}|x{4,}|X{4,}|\.{3}|_{3})|^(?:your|my|the|some|a|an|new|old|test|fake|dummy|sample|mock|example|placeholder|change|replace|insert|enter|todo|redacted|hidden|masked|secret|password|passwd|token|null|none|undefined|true|false|string|number|boolean|bytes?|env|process|os|config|settings|self|this|req|ctx|args|options|params|props|data|user|input|get|load|read|fetch|create|make|generate|random|uuid|crypto|Buffer|await|async|function|return|new|typeof|var|let|const)(?:[^A-Za-z0-9]|$)|change.?me|your[-_]|[-_]here\b|example|placeholder|redacted|\*{4}|x{6}|\.\.\.|…|\bstring\b/i;

const LOOKED_AT = 100;

/** What stands for a value that is somewhere else, or is to be filled in. */
export function isStandIn(value: string): boolean {
  return STAND_IN.test(value.slice(0, LOOKED_AT));
}

export function countEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const RANDOM_LENGTH = 16;
const RANDOM_BITS = 3;

/** As only chance writes: letters and digits in turn, few repetitions, no words joined by marks. */
export function looksRandom(value: string): boolean {
  if (value.length < RANDOM_LENGTH || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  const turns = (value.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/g) ?? []).length;
  return turns * 8 >= Math.min(value.length, 40) && countEntropy(value.slice(0, 200)) >= RANDOM_BITS;
}

const PLAIN_WORDS = /^[A-Za-z]+(?:[-_. /]{1,3}[A-Za-z]+)*\d{0,2}$/;

/** As a person chooses a password: more than words and names. */
export function looksChosen(value: string): boolean {
  if (value.length < 8 || PLAIN_WORDS.test(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  return kinds >= 2 && /[A-Za-z]/.test(value) && new Set(value).size >= 5;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The text in a base64 string; null when it is none, or holds bytes that are no text. */
export function decodeBase64(text: string): string | null {
  if (!BASE64.test(text)) return null;
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return /^[\t\n\r\x20-\x7e]*$/.test(decoded) ? decoded : null;
}
