import { readLines } from '../../platform/lines.ts';
import { getRow, getText, parseRow } from '../shared/json.ts';

/** What was taken back of a transcript. */
export interface Rewound {
  /** By id. */
  gone: Set<string>;
  /** By lines, from one to another. */
  ranges: [number, number][];
}

export function rewindNothing(): Rewound {
  return { gone: new Set(), ranges: [] };
}

export function isDead({ gone, ranges }: Rewound, line: number, id: string | null): boolean {
  return (id !== null && gone.has(id)) || ranges.some(([start, end]) => line >= start && line <= end);
}

interface Rewind {
  line: number;
  /** The first event that is gone. */
  from: string | null;
}

export const REWIND = 'session.snapshot_rewind';
const MARK = Buffer.from(`"${REWIND}"`);

/** Costs a look at the bytes; a transcript in which something was taken back is read once more for the ids. */
export function findRewound(path: string, until: number): Rewound {
  const rewinds: Rewind[] = [];
  const gone = new Set<string>();
  for (const { bytes, number } of readLines(path, { until })) {
    if (bytes.subarray(0, 200).indexOf(MARK) === -1) continue;
    const row = parseRow(bytes.toString('utf8'));
    if (row?.type !== REWIND) continue;
    const data = getRow(row, 'data');
    rewinds.push({ line: number, from: getText(data, 'upToEventId') });
    const ids: readonly unknown[] = Array.isArray(data.eventIds) ? data.eventIds : [];
    for (const id of ids) if (typeof id === 'string') gone.add(id);
  }
  return { gone, ranges: rewinds.length === 0 ? [] : findRanges(path, rewinds, until) };
}

function findRanges(path: string, rewinds: readonly Rewind[], until: number): [number, number][] {
  const wanted = new Map<string, number>();
  for (const { from } of rewinds) if (from !== null) wanted.set(from, 0);
  for (const { bytes, number } of readLines(path, { until })) {
    const id = parseRow(bytes.toString('utf8'))?.id;
    if (typeof id === 'string' && wanted.get(id) === 0) wanted.set(id, number);
  }
  return rewinds.flatMap(({ line, from }) => {
    const start = from === null ? 0 : (wanted.get(from) ?? 0);
    return start > 0 && start <= line ? [[start, line] satisfies [number, number]] : [];
  });
}
