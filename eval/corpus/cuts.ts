import { getText, type Row } from '../../src/agents/shared/json.ts';
import { findToolCalls, isCompaction, isMessage, readBlocks, readBlockText, type Transcript } from './transcript.ts';

/** A moment of a session, mostly a compaction: what was known, what came next, and what the agent itself kept. */
export interface Cut {
  /** How many rows come before it; at a compaction, the next one is the summary. */
  index: number;
  sessionId: string;
  before: readonly Row[];
  /** Up to the next compaction. */
  after: readonly Row[];
  /** Empty where the session was not compacted. */
  summary: string;
  /** The transcript as it was at the moment. */
  bytes: Uint8Array;
  /** Whether the evaluation can read the rows: it knows the format of Claude Code only. */
  isReadable: boolean;
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

/** Null where there are not so many rows. */
export function cutTranscript({ rows, offsets, bytes }: Transcript, index: number): Cut | null {
  if (index > rows.length) return null;
  const next = rows[index];
  const summary = next !== undefined && isCompaction(next) ? next : null;
  const start = summary === null ? index : index + 1;
  const end = listCompactions({ rows }).find((compaction) => compaction >= start);
  const before = rows.slice(0, index);
  return {
    index,
    sessionId: before.map((row) => getText(row, 'sessionId')).find((id) => id) ?? 'session',
    before,
    after: rows.slice(start, end),
    summary: summary === null ? '' : readBlocks(summary).map(readBlockText).join(''),
    bytes: bytes.subarray(0, offsets[index]),
    isReadable: before.some(isMessage),
  };
}

function countCalls(rows: readonly Row[]): number {
  return [...findToolCalls(rows)].length;
}
