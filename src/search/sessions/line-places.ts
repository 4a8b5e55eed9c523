import { type Line, type Position, readLines } from '../../platform/lines.ts';

/** What a line tells may have to wait for a later one, but not for long. */
const MOST_REMEMBERED = 600;

/** Tells where lines of a file begin, in one walk beside whoever reads it: lines are asked for about in their order. */
export class LinePlaces {
  /** The last lines, and where each begins. Plain data, so that it can be kept. */
  readonly recent: Map<number, number>;
  readonly #lines: Iterator<Line>;
  #last: number;

  constructor(path: string, extent: { from: Position; until: number; recent: ReadonlyMap<number, number> }) {
    this.recent = new Map(extent.recent);
    this.#last = extent.from.number - 1;
    this.#lines = readLines(path, { position: { ...extent.from }, until: extent.until });
  }

  /** Null for a line that lies further back than is remembered, or is not there. */
  find(line: number): number | null {
    while (this.#last < line) {
      const { done, value } = this.#lines.next();
      if (done === true) break;
      this.#last = value.number;
      this.#remember(value);
    }
    return this.recent.get(line) ?? null;
  }

  #remember({ number, offset }: Line): void {
    this.recent.set(number, offset);
    if (this.recent.size <= MOST_REMEMBERED) return;
    const [oldest = 0] = this.recent.keys();
    this.recent.delete(oldest);
  }

  close(): void {
    this.#lines.return?.();
  }
}
