/**
 * Character classes for patterns with the `u` flag. `\w`, `\d` and `\b` know only ASCII; names and prose are in any
 * script.
 */
export const WORD: string = String.raw`\p{L}\p{N}_`;
export const DIGIT: string = String.raw`\p{Nd}`;
export const WORD_START: string = `(?<![${WORD}])`;
export const WORD_END: string = `(?![${WORD}])`;
/** `^` and `$` of a line, where only a line feed ends one. */
export const LINE_START: string = String.raw`(?<![^\n])`;
export const LINE_END: string = String.raw`(?![^\n])`;

const WORD_CHARACTER = new RegExp(`[${WORD}]`, 'u');

function isWordCodePoint(code: number | undefined): boolean {
  if (code === undefined) return false;
  if (code < 128) {
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
  }
  return WORD_CHARACTER.test(String.fromCodePoint(code));
}

/** Whether a character of a word begins at `index`. */
export function isWordAt(text: string, index: number): boolean {
  return isWordCodePoint(text.codePointAt(index));
}

/** Whether a character of a word ends right before `index`. */
export function isWordBefore(text: string, index: number): boolean {
  if (index <= 0) return false;
  const unit = text.charCodeAt(index - 1);
  const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff && index > 1;
  const whole = isSecondHalf ? text.codePointAt(index - 2) : undefined;
  return isWordCodePoint(whole !== undefined && whole > 0xffff ? whole : unit);
}

/** The first `count` characters; a pair of surrogates is one. */
export function takeCharacters(text: string, count: number): string {
  if (text.length <= count) return text;
  return [...text.slice(0, 2 * count)].slice(0, count).join('');
}

export function isLongerThan(text: string, characters: number): boolean {
  return takeCharacters(text, characters) !== text;
}
