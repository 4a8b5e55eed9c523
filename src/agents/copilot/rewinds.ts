import { readLines } from '../../platform/lines.ts';
import { getRow, getText, parseRow } from '../row.ts';

/** The lines of a transcript that were taken back. */
export interface Rewound {
  isDead(line: number, id: string | null): boolean;
}

interface Rewind {
  line: number;
  /** The first event that is gone. */
  from: string | null;
}

const MARK = Buffer.from('"session.snapshot_rewind"');

/** Costs a look at the bytes; a transcript in which something was taken back is read once more for the ids. */
export function findRewound(path: string): Rewound {
  const rewinds: Rewind[] = [];
  const gone = new Set<string>();
  for (const { bytes, number } of readLines(path)) {
    if (bytes.subarray(0, 200).indexOf(MARK) === -1) continue;
    const row = parseRow(bytes.toString('utf8'));
    if (row?.type !== 'session.snapshot_rewind') continue;
    const data = getRow(row, 'data');
    rewinds.push({ line: number, from: getText(data, 'upToEventId') });
    const ids: readonly unknown[] = Array.isArray(data.eventIds) ? data.eventIds : [];
    for (const id of ids) if (typeof id === 'string') gone.add(id);
  }
  const ranges = rewinds.length === 0 ? [] : findRanges(path, rewinds);
  return {
    isDead: (line, id) =>
      (id !== null && gone.has(id)) || ranges.some(([start, end]) => line >= start && line <= end),
  };
}

function findRanges(path: string, rewinds: readonly Rewind[]): [number, number][] {
  const wanted = new Map<string, number>();
  for (const { from } of rewinds) if (from !== null) wanted.set(from, 0);
  for (const { bytes, number } of readLines(path)) {
    const id = parseRow(bytes.toString('utf8'))?.id;
    if (typeof id === 'string' && wanted.get(id) === 0) wanted.set(id, number);
  }
  return rewinds.flatMap(({ line, from }) => {
    const start = from === null ? 0 : (wanted.get(from) ?? 0);
    return start > 0 && start <= line ? [[start, line] satisfies [number, number]] : [];
  });
}
