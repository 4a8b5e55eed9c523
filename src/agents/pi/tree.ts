import { readLines } from '../../platform/lines.ts';
import { getText, parseRow } from '../json.ts';

/** The entries of a session file that are live, by their ids; null when all are. */
export type LiveEntries = Set<string> | null;

const HEAD_BYTES = 300;
const HEAD = /^\{"type":"[a-z_]+","id":"([^"\\]+)","parentId":(?:null|"([^"\\]*)"),/;

/**
 * Entries form a tree, of which the branch that ends in the last entry is live. Going back in a session is rare: a file
 * in which every entry follows the one before it is told apart without keeping the ids.
 */
export function findLiveEntries(path: string, until: number): LiveEntries {
  const parents = new Map<string, string | null>();
  let last: string | null = null;
  let isLine = true;
  for (const { bytes } of readLines(path, { until })) {
    const entry = readLinks(bytes);
    if (entry === null) continue;
    // A parent that was lost with a broken line is replaced by the entry before.
    const isLost: boolean = entry.parent !== null && entry.parent !== last && !parents.has(entry.parent);
    const parent: string | null = isLost ? last : entry.parent;
    if (parent !== last) {
      // A line that is broken, or still being written, leads nowhere.
      if (parseRow(bytes.toString('utf8')) === null) continue;
      isLine = false;
    }
    parents.set(entry.id, parent);
    last = entry.id;
  }
  return isLine ? null : collectBranch(parents, last);
}

function collectBranch(parents: ReadonlyMap<string, string | null>, leaf: string | null): Set<string> {
  const live = new Set<string>();
  for (let id = leaf; id !== null && !live.has(id); id = parents.get(id) ?? null) live.add(id);
  return live;
}

/** The ids at the head of a line as pi writes it; a line in another order is parsed whole. */
function readLinks(bytes: Buffer): { id: string; parent: string | null } | null {
  const match = HEAD.exec(bytes.toString('utf8', 0, HEAD_BYTES));
  if (match !== null) return { id: match[1] ?? '', parent: match[2] ?? null };
  const row = parseRow(bytes.toString('utf8'));
  const id = row === null || row.type === 'session' ? null : getText(row, 'id');
  return row === null || id === null ? null : { id, parent: getText(row, 'parentId') };
}
