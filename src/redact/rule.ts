/**
 * A secret with a shape of its own. Its sticky pattern is tried only where one of `starts` begins a word, or from the word
 * before one of `pivots`. The secret is the first group, which has to end the match, or else the whole match. To take
 * linear time, patterns repeat single characters only, bounded, and never before what the repetition could match itself.
 */
export interface Rule {
  kind: string;
  starts?: readonly string[];
  pivots?: readonly string[];
  /** What may follow starts and pivots of two characters. All others have at least three. */
  thirds?: string;
  /** How long the word before a pivot may be. */
  before?: readonly [least: number, most: number];
  pattern: RegExp;
  /** Global; every match has it within `MAX_LOOKAHEAD` characters. Searched once for all starts, to rule out most of them. */
  ahead?: RegExp;
  /** Whether something of this shape is a secret. */
  check?: (secret: string) => boolean;
  /** For what is more than its pattern: the whole of it in the text, or null where it is none. */
  reach?: (text: string, found: TextRange) => TextRange | null;
  /** For what shows that there are secrets around it. */
  list?: ListSecrets;
  /** Sticky: more secrets of the same kind behind one that was found. */
  more?: RegExp;
}

/** Secrets around a place of a text, and how far the text was looked at. */
export type ListSecrets = (text: string, at: number) => { ranges: TextRange[]; end: number };

export type TextRange = { start: number; end: number };

export const MAX_LOOKAHEAD = 240;

/** Finds the next match of a global pattern. Asked for rising places, it looks at every character once. */
export class Lookahead {
  readonly #text: string;
  readonly #pattern: RegExp;
  #from = 0;
  #next = -1;

  constructor(text: string, pattern: RegExp) {
    this.#text = text;
    this.#pattern = pattern;
  }

  /** The first match from `from` on; the length of the text where there is none. */
  find(from: number): number {
    if (from < this.#from || from > this.#next) {
      this.#pattern.lastIndex = from;
      this.#from = from;
      this.#next = this.#pattern.exec(this.#text)?.index ?? this.#text.length;
    }
    return this.#next;
  }
}

/** A secret known by the name it is assigned to, as in `DATADOG_API_KEY=`. */
export interface NamedRule {
  kind: string;
  /** Matched against the name in lower case, without separators. */
  name: RegExp;
  /** The whole value has to match. */
  value: RegExp;
  check?: (value: string) => boolean;
}

export interface Span {
  kind: string;
  start: number;
  end: number;
  /** Found by its context: elsewhere it would not be recognized. */
  byContext?: true;
  /** The secret, where the text has it in an escaped form. */
  value?: string | undefined;
}

/** A token with a known prefix, any of `starts`, before `body`. */
export function token(kind: string, starts: readonly string[], body: RegExp): Rule {
  const heads = starts.map((start) => start.replace(/[$.*+?()[\]{}|\\/^]/g, '\\$&')).join('|');
  return { kind, starts, pattern: new RegExp(`(?:${heads})${body.source}`, 'y') };
}
