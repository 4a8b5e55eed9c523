import { countUtf8Bytes } from '../../model/text.ts';

export const BYTES_PER_TOKEN = 4;
/** In tokens. */
export const DEFAULT_BUDGET = 2000;

/** Lines of a brief and the ids of the facts in them. */
export interface Printed {
  lines: string[];
  ids: string[];
}

/** A section of a brief that takes as much room as it is given. */
export interface Block {
  heading: string;
  /** Its share of the room; null for what gets its room before all others. */
  weight: number | null;
  /** Of the room for all sections, what is kept for it before what comes earlier and has no weight gets its own. */
  least?(room: number): number;
  /** The most bytes that it is worth. */
  most: number;
  /** In at most so many bytes. More bytes never show less. */
  print(bytes: number): Printed;
}

export const NOTHING: Printed = { lines: [], ids: [] };

export function countLineBytes(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + countUtf8Bytes(line) + 1, 0);
}

export interface Entry {
  lines: string[];
  id: string | null;
}

/** As many entries as fit, in their order; one that does not fit is left out. */
export function printEntries(entries: readonly Entry[], bytes: number): Printed {
  const printed: Printed = { lines: [], ids: [] };
  let left = bytes;
  for (const { lines, id } of entries) {
    const size = countLineBytes(lines);
    if (size > left) continue;
    left -= size;
    printed.lines.push(...lines);
    if (id !== null) printed.ids.push(id);
  }
  return printed;
}

/** Prints the same for the same room without doing it again: sharing out the room asks more than once. */
export function rememberPrinted(block: Block): Block {
  const known = new Map<number, Printed>();
  const print = (bytes: number): Printed => {
    const printed = known.get(bytes) ?? block.print(bytes);
    known.set(bytes, printed);
    return printed;
  };
  return { ...block, print };
}
