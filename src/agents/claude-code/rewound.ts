import { readLines } from '../../platform/lines.ts';
import { parseRow } from '../row.ts';
import { readHumanRow } from './prompts.ts';
import { peekType } from './rows.ts';

const PARENT = Buffer.from('{"parentUuid":"');
const TOOL_RESULT = Buffer.from('"type":"tool_result"');

/**
 * The prompts that were taken back: going back in a conversation and saying something else leaves two prompts after the
 * same row, and only the later one counts. What hangs on the earlier one is dead with it. Looks at bytes; only the
 * rows that may be prompts are parsed.
 */
export function findRewoundPrompts(path: string): Set<string> {
  const latest = new Map<string, string>();
  const rewound = new Set<string>();
  for (const { bytes } of readLines(path)) {
    if (!bytes.subarray(0, PARENT.length).equals(PARENT)) continue;
    if (peekType(bytes) !== 'user' || bytes.includes(TOOL_RESULT)) continue;
    const row = parseRow(bytes.toString('utf8'));
    if (row === null || row.isSidechain === true || readHumanRow(row) === null) continue;
    const { uuid, parentUuid } = row;
    if (typeof uuid !== 'string' || typeof parentUuid !== 'string' || uuid === parentUuid) continue;
    const earlier = latest.get(parentUuid);
    if (earlier !== undefined && earlier !== uuid) rewound.add(earlier);
    latest.set(parentUuid, uuid);
  }
  return rewound;
}
