import { readLines } from '../../platform/lines.ts';
import { getText, parseRow, type Row } from '../shared/json.ts';
import { readHumanRow } from './prompts.ts';
import { peekType } from './rows.ts';

/**
 * Going back in a conversation and saying something else leaves two prompts after the same row, and only the later one
 * counts. What hangs on the earlier one is dead with it.
 */
export interface Rewound {
  /** The latest prompt after each row that has one. */
  latest: Map<string, string>;
  /** The prompts that were taken back. */
  taken: Set<string>;
  /** The dead rows so far, by their ids. */
  dead: Set<string>;
}

export function startRewound(): Rewound {
  return { latest: new Map(), taken: new Set(), dead: new Set() };
}

const TOOL_RESULT = Buffer.from('"type":"tool_result"');

/** Looks through a transcript for prompts that were taken back. Looks at bytes; only what may be a prompt is parsed. */
export function findRewound(path: string, until: number): Rewound {
  const rewound = startRewound();
  for (const { bytes } of readLines(path, { until })) {
    if (peekType(bytes) !== 'user' || bytes.includes(TOOL_RESULT)) continue;
    const row = parseRow(bytes.toString('utf8'));
    const taken = row === null ? null : meetPrompt(row, rewound);
    if (taken !== null) rewound.taken.add(taken);
  }
  return rewound;
}

/** The prompt that a row takes back, if it is a prompt and takes one back. */
export function meetPrompt(row: Row, { latest }: Rewound): string | null {
  const { type, uuid, parentUuid } = row;
  if (type !== 'user' || typeof uuid !== 'string' || typeof parentUuid !== 'string') return null;
  if (uuid === parentUuid) return null;
  if (row.isSidechain === true || readHumanRow(row) === null) return null;
  const earlier = latest.get(parentUuid);
  latest.set(parentUuid, uuid);
  return earlier === undefined || earlier === uuid ? null : earlier;
}

/**
 * A row hangs on a row before it, a compaction on the last row that it covers. One that claims to hang on a later row does
 * not die with it, or a cycle could take everything along.
 */
export function isDead(row: Row, { taken, dead }: Rewound): boolean {
  const uuid = taken.size === 0 ? null : getText(row, 'uuid');
  if (uuid === null) return false;
  const parent = getText(row, 'parentUuid') ?? getText(row, 'logicalParentUuid');
  if (!taken.has(uuid) && (parent === null || !dead.has(parent))) return false;
  dead.add(uuid);
  return true;
}
