/** The rows that were read, by their ids: a session that is resumed may repeat rows of the one before. */
export interface SeenRows {
  /** A number for each row of an earlier reading. Kept in place of its id, it is a tenth of the size. */
  earlier: Uint32Array;
  ids: Set<string>;
}

export function seeNothing(): SeenRows {
  return { earlier: new Uint32Array(0), ids: new Set() };
}

/** Whether a row has come before; null when only the row itself could tell, as its number is that of an earlier one. */
export function meetRow(seen: SeenRows, id: string): boolean | null {
  if (seen.ids.has(id)) return true;
  if (seen.earlier.length > 0 && seen.earlier.includes(toNumber(id))) return null;
  seen.ids.add(id);
  return false;
}

/** The same rows, fit to be kept. */
export function packSeen({ earlier, ids }: SeenRows): SeenRows {
  const packed = new Uint32Array(earlier.length + ids.size);
  packed.set(earlier);
  let next = earlier.length;
  for (const id of ids) packed[next++] = toNumber(id);
  return { earlier: packed, ids: new Set() };
}

const DIGITS = 8;

/** Of an id in hexadecimal its end, which is random, or counts, in all kinds of such ids. */
function toNumber(id: string): number {
  const number = Number.parseInt(id.slice(-DIGITS), 16);
  return Number.isNaN(number) ? hash(id) : number;
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
