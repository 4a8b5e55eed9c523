/** The characters that decide where words, names and encoded runs begin and end. */

export const ASCII = 127;
export const QUOTE = 0x22;
export const PERCENT = 0x25;
export const APOSTROPHE = 0x27;
export const DASH = 0x2d;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
const DOT = 0x2e;

const IS_WORD = markCharacters(/\w/);
/** Of every byte whether encoded bytes are written with it, in base64 and its form for URLs. */
export const IS_BASE64 = markCharacters(/[\w+/-]/);

/** What may stand behind a name: it gives a value, or may stand between the name and what does. */
export const NAME_ENDS = ' "\'\\]?`:=>';

function markCharacters(pattern: RegExp): Uint8Array {
  const marks = new Uint8Array(256);
  for (let code = 0; code <= ASCII; code++) if (pattern.test(String.fromCharCode(code))) marks[code] = 1;
  return marks;
}

function isWord(code: number): boolean {
  return code <= ASCII && IS_WORD[code] === 1;
}

export function isBase64(code: number): boolean {
  return code <= ASCII && IS_BASE64[code] === 1;
}

export function isNamePart(code: number): boolean {
  return isWord(code) || code === DASH || code === DOT;
}

/**
 * What stands before, from `begin` on, is no part of a word, nor of words joined by dashes; an escaped line end, or another
 * escaped character, is none.
 */
export function isWordStart(text: string, at: number, begin: number): boolean {
  if (at <= begin) return true;
  const before = text.charCodeAt(at - 1);
  if (before === DASH) return at - 2 < begin || !isBase64(text.charCodeAt(at - 2));
  if (!isWord(before)) return true;
  const code = text.charCodeAt(at);
  if (code <= ASCII && IS_WORD[code] === 0) return true;
  if (at - 2 < begin) return false;
  const second = text.charCodeAt(at - 2);
  if (second === BACKSLASH) return before === 0x6e || before === 0x72 || before === 0x74;
  return at - 3 >= begin && text.charCodeAt(at - 3) === PERCENT;
}
