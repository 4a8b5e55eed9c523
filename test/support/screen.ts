/** What a person sees of what was written to a terminal: all lines, also those that have scrolled out at the top. */
export function drawScreen(written: string, { rows, columns }: { rows: number; columns: number }): string {
  const screen = new Screen(rows, columns);
  for (const [token = ''] of written.matchAll(TOKEN)) screen.take(token);
  return screen.text;
}

/** Sequences of a terminal, or one character. */
const TOKEN =
  /\u001b\[[?>]?([\d;]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[()][A-Z0-9]|\u001b?./gsu;

class Screen {
  readonly #lines: string[][] = [[]];
  readonly #rows: number;
  readonly #columns: number;
  #row = 0;
  #column = 0;

  constructor(rows: number, columns: number) {
    this.#rows = rows;
    this.#columns = columns;
  }

  get text(): string {
    const lines = this.#lines.map((line) =>
      Array.from(line, (character) => character ?? ' ')
        .join('')
        .trimEnd(),
    );
    return lines.join('\n').replace(/\n+$/, '');
  }

  take(token: string): void {
    const [, values = '', command] = /^\u001b\[[?>]?([\d;]*)([A-Za-z])$/.exec(token) ?? [];
    if (command !== undefined) this.#obey(command, values.split(';').map(Number));
    else if (token === '\n') this.#row++;
    else if (token === '\r') this.#column = 0;
    else if (token === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (token === '\t') this.#column = Math.min(this.#columns - 1, (Math.floor(this.#column / 8) + 1) * 8);
    else if (token >= ' ' && !token.startsWith('\u007f')) this.#put(token);
    while (this.#lines.length <= this.#row) this.#lines.push([]);
  }

  #put(character: string): void {
    if (this.#column === this.#columns) {
      this.#column = 0;
      this.#row++;
      while (this.#lines.length <= this.#row) this.#lines.push([]);
    }
    const line = this.#lines[this.#row] ?? [];
    line[this.#column++] = character;
  }

  /** The first line that the cursor can reach. */
  get #top(): number {
    return Math.max(0, this.#lines.length - this.#rows);
  }

  #obey(command: string, [first = 0, second = 0]: readonly number[]): void {
    const count = Math.max(1, first);
    if (command === 'A') this.#row = Math.max(this.#top, this.#row - count);
    else if (command === 'B') this.#row = Math.min(this.#top + this.#rows - 1, this.#row + count);
    else if (command === 'C') this.#column = Math.min(this.#columns - 1, this.#column + count);
    else if (command === 'D') this.#column = Math.max(0, this.#column - count);
    else if (command === 'G') this.#column = count - 1;
    else if (command === 'H') {
      this.#row = this.#top + count - 1;
      this.#column = Math.max(1, second) - 1;
    } else if (command === 'K') this.#clearLine(first);
    else if (command === 'J') {
      this.#clearLine(first);
      if (first === 0) this.#lines.splice(this.#row + 1);
      else this.#lines.splice(this.#top, this.#lines.length, []);
    }
  }

  /** From the cursor on (0), up to it (1), or all of it (2). */
  #clearLine(which: number): void {
    const line = this.#lines[this.#row];
    if (line === undefined) return;
    if (which === 0) line.splice(this.#column);
    else line.fill(' ', 0, which === 1 ? this.#column + 1 : line.length);
  }
}
