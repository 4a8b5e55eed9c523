/**
 * A secret that shows by its shape. It is looked for only where one of `starts` begins a word, or where one of
 * `pivots` follows a word; the pattern is then tried at that one place. The secret is what the first group holds, which
 * ends the match, or else all of the match. Patterns try no two ways to match the same text: their repetitions are of
 * single characters, bounded, and not followed by what they could have taken themselves.
 */
export interface Rule {
  kind: string;
  starts?: readonly string[];
  pivots?: readonly string[];
  /** What may follow starts and pivots of two characters. Others have three at least. */
  thirds?: string;
  /** How long the word before a pivot may be. */
  before?: readonly [least: number, most: number];
  pattern: RegExp;
  /** What comes within `MOST_AHEAD` characters of the start in every match: looked for once for all starts. Global. */
  ahead?: RegExp;
  /** Of what has the shape, whether it is one. */
  check?: (secret: string) => boolean;
}

export const MOST_AHEAD = 240;

/** A secret that shows by the name that it is given to, as in `DATADOG_API_KEY=`. */
export interface NamedRule {
  kind: string;
  /** Tried on the name in small letters, without what separates its words. */
  name: RegExp;
  /** The whole value has to match. */
  value: RegExp;
  check?: (value: string) => boolean;
}

/** A place in a text, with what stands there. */
export interface Span {
  kind: string;
  start: number;
  end: number;
  /** Found by what is around it: elsewhere it would not be known again. */
  byContext?: true;
  /** The secret, where the text has it in another form. */
  value?: string | undefined;
}

/** A token that begins in a way of its own; `body` is what follows any of the beginnings. */
export function token(kind: string, starts: readonly string[], body: RegExp): Rule {
  const heads = starts.map((start) => start.replace(/[$.*+?()[\]{}|\\/^]/g, '\\$&')).join('|');
  return { kind, starts, pattern: new RegExp(`(?:${heads})${body.source}`, 'y') };
}
