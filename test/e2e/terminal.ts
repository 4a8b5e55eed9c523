import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { hasProgram } from '../support/cli.ts';

export const TERMINAL: string = fileURLToPath(new URL('./terminal.py', import.meta.url));

/** Pseudo-terminals are made by Python, which is not on every machine. */
export const hasTerminal: boolean = hasProgram('python3', '-c', 'import pty, termios');

/** A program in a pseudo-terminal, as a person would sit before it. */
export class Terminal {
  /** All that was shown, as it was written. */
  shown = '';
  readonly #child: ChildProcess;
  readonly #over: Promise<unknown>;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#over = once(child, 'close');
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.shown += text;
    });
  }

  /** Types a line as a person does: when the screen has come to rest, and not all at once. */
  async enter(line: string): Promise<void> {
    await this.#rest();
    this.#child.stdin?.write(line);
    await this.#rest();
    this.#child.stdin?.write('\r');
  }

  /** Some screens are never at rest. */
  async #rest(): Promise<void> {
    for (let waited = 0, before = -1; before !== this.shown.length && waited < 10; waited += 1) {
      before = this.shown.length;
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    }
  }

  /** Waits, but not for ever: the error has what was shown. */
  async until<T>(what: string, event: Promise<T>, withinMs = 180_000): Promise<T> {
    const late = new Promise<never>((_, reject) => {
      const fail = (): void => reject(new Error(`${what} did not come about; shown was:\n${this.text.slice(-4_000)}`));
      setTimeout(fail, withinMs).unref();
      this.#over.then(fail);
    });
    return await Promise.race([event, late]);
  }

  /** What was shown, without what only moves and colours. */
  get text(): string {
    return this.shown
      .replace(/\x1b(?:\[[0-9;?<>=]*[A-Za-z~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78MP])/g, ' ')
      .replace(/\s{2,}/g, '  ');
  }

  /** Ends the program, and waits for its end. */
  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#over;
  }
}
