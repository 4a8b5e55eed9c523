import { getText, type Row } from '../../src/agents/shared/json.ts';
import { findToolCalls, isCompaction, readBlocks, readBlockText, type Transcript } from './transcript.ts';

/** A moment at which a session was compacted: what was known, what came next, and what the agent itself kept. */
export interface Cut {
  /** The row of the summary, counted from 0. */
  index: number;
  /** The first compaction of its session. */
  isFirst: boolean;
  sessionId: string;
  before: readonly Row[];
  /** Up to the next compaction. */
  after: readonly Row[];
  summary: string;
  /** The transcript as it was at the moment. */
  bytes: Uint8Array;
}

/** A compaction tells something only with enough work on both sides of it. */
const FEWEST_CALLS = { before: 20, after: 10 };

/** Where the sessions of a corpus may be cut, when nobody chose. */
export function chooseCuts({ rows }: Transcript): number[] {
  const compactions = listCompactions({ rows });
  return compactions.filter((cut, order) => {
    const last = compactions[order - 1] ?? 0;
    return (
      countCalls(rows.slice(last, cut)) >= FEWEST_CALLS.before &&
      countCalls(rows.slice(cut, compactions[order + 1])) >= FEWEST_CALLS.after
    );
  });
}

export function listCompactions({ rows }: Pick<Transcript, 'rows'>): number[] {
  return rows.flatMap((row, index) => (isCompaction(row) ? [index] : []));
}

/** Null where there is no compaction at that row. */
export function cutTranscript({ rows, offsets, bytes }: Transcript, index: number): Cut | null {
  const compactions = listCompactions({ rows });
  const order = compactions.indexOf(index);
  const compaction = rows[index];
  if (order === -1 || compaction === undefined) return null;
  const before = rows.slice(0, index);
  return {
    index,
    isFirst: order === 0,
    sessionId: before.map((row) => getText(row, 'sessionId')).find((id) => id) ?? 'session',
    before,
    after: rows.slice(index + 1, compactions[order + 1]),
    summary: readBlocks(compaction).map(readBlockText).join(''),
    bytes: bytes.subarray(0, offsets[index]),
  };
}

function countCalls(rows: readonly Row[]): number {
  return [...findToolCalls(rows)].length;
}
