/** Where a pattern comes next in a text. Asked for places in rising order, it looks at every character once. */
export class Ahead {
  readonly #text: string;
  readonly #pattern: RegExp;
  #from = 0;
  #next = -1;

  /** The pattern is global. */
  constructor(text: string, pattern: RegExp) {
    this.#text = text;
    this.#pattern = pattern;
  }

  /** The first place from `from` on; the length of the text where there is none. */
  find(from: number): number {
    if (from < this.#from || from > this.#next) {
      this.#pattern.lastIndex = from;
      this.#from = from;
      this.#next = this.#pattern.exec(this.#text)?.index ?? this.#text.length;
    }
    return this.#next;
  }
}
