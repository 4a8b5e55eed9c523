import { readLines } from '../../platform/lines.ts';
import { parseRow, type Row } from '../json.ts';
import { peekText, toKey } from '../peek.ts';

const REWIND = Buffer.from('"subtype":"rewind"');
const UUID = toKey('uuid');

export interface DeadLines {
  /** The last line that counts again; 0 for none. */
  after: number;
  before: number;
}

/**
 * The lines that were taken back. Rows follow one on the other; a row of the kind `rewind` follows on the row that the
 * conversation went back to, and what lies between the two is dead. Looks at bytes.
 */
export function findDeadLines(path: string, until: number): DeadLines[] {
  const rewinds: { to: string | null; line: number }[] = [];
  for (const { bytes, number } of readLines(path, { until })) {
    const row = bytes.includes(REWIND) ? parseRow(bytes.toString('utf8')) : null;
    if (row === null || !isRewind(row)) continue;
    const { parentUuid } = row;
    if (parentUuid === null || typeof parentUuid === 'string') rewinds.push({ to: parentUuid, line: number });
  }
  if (rewinds.length === 0) return [];
  const lines = locateRows(path, new Set(rewinds.map(({ to }) => to)), until);
  return rewinds.flatMap(({ to, line }) => {
    const after = to === null ? 0 : lines.get(to);
    return after === undefined ? [] : [{ after, before: line }];
  });
}

export function isRewind(row: Row): boolean {
  return row.type === 'system' && row.subtype === 'rewind';
}

function locateRows(path: string, wanted: ReadonlySet<string | null>, until: number): Map<string, number> {
  const lines = new Map<string, number>();
  for (const { bytes, number } of readLines(path, { until })) {
    const uuid = peekText(bytes, UUID);
    if (wanted.has(uuid) && !lines.has(uuid)) lines.set(uuid, number);
  }
  return lines;
}
