import { writeSync } from 'node:fs';

/** For the one answer that is given before anything is loaded. */
export function printAtOnce(text: string): void {
  writeSync(1, text);
}
