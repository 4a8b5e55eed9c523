import { isWordAt, isWordBefore, WORD } from './characters.ts';
import { findContentWords } from './words.ts';

const ANY_WORD = new RegExp(`[${WORD}]+`, 'gu');

/** Whether a name stands in a text as a whole: `run` is not in `runner`. */
export function isNamedIn(name: string, text: string): boolean {
  if (name === '') return false;
  const opensWithWord = isWordAt(name, 0);
  const closesWithWord = isWordBefore(name, name.length);
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const isGlued = (opensWithWord && isWordBefore(text, at)) || (closesWithWord && isWordAt(text, at + name.length));
    if (!isGlued) return true;
  }
  return false;
}

/**
 * All that a session could know at a moment. Megabytes, of which hundreds of names are asked: its words are kept, so that
 * a name that is not there is known not to be without reading the text once more.
 */
export class KnownText {
  readonly text: string;
  readonly #words: ReadonlySet<string>;
  #contentWords: ReadonlySet<string> | null = null;

  constructor(text: string) {
    this.text = text;
    this.#words = new Set(text.match(ANY_WORD));
  }

  names(name: string): boolean {
    const words = name.match(ANY_WORD) ?? [];
    if (!words.every((word) => this.#words.has(word))) return false;
    return (words.length === 1 && words[0] === name) || isNamedIn(name, this.text);
  }

  hasContentWord(word: string): boolean {
    this.#contentWords ??= findContentWords(this.text);
    return this.#contentWords.has(word);
  }
}
