import { readLines } from '../../platform/lines.ts';
import { getRow, getText, parseRow, type Row } from '../shared/json.ts';
import { decodeText, peekText, toKey } from '../shared/json-lines.ts';
import { mayHoldBrief } from '../shared/message-text.ts';
import { readSaid } from './prompts.ts';

const READ_TYPES = 'user assistant system attachment queue-operation relocated progress'.split(' ');

/** Types of rows that Claude Code writes for itself: settings, titles, backups, copies of what other rows hold. */
const SKIPPED_TYPES = new Set(
  (
    'summary custom-title ai-title tag mode permission-mode last-prompt file-history-snapshot ' +
    'file-history-delta attribution-snapshot content-replacement worktree-state pr-link continued-in ' +
    'resume-head-vouch ended-by-model agent-name agent-color agent-setting bridge-session history-suppression ' +
    'session-owner isolation-latch dev-mods memory-mode atis-latch tools-used derived-from data-flow-records ' +
    'data-flow-incomplete cost-state fork-context-ref frame-link observer-ref artifact-comment-monitor ' +
    'artifact-autoreact-ledger api-request api-request-shape api-request-blob repl-mode'
  ).split(' '),
);

export const KNOWN_TYPES: ReadonlySet<string> = new Set([...READ_TYPES, ...SKIPPED_TYPES]);

/** Blocks of the agent's messages without words or calls of Claude Code's tools. */
export const SILENT_BLOCKS: ReadonlySet<string> = new Set(
  (
    'thinking redacted_thinking image document server_tool_use web_search_tool_result web_fetch_tool_result ' +
    'code_execution_tool_result mcp_tool_use mcp_tool_result container_upload'
  ).split(' '),
);

/** A row of a conversation; Qwen Code writes similar ones, whose messages consist of parts. */
export function isConversationRow(row: Row): boolean {
  if (typeof row.isSidechain !== 'boolean' || typeof row.sessionId !== 'string') return false;
  return !('parts' in getRow(row, 'message'));
}

const READ_ATTACHMENTS = new Set('queued_command task_reminder teammate_mailbox'.split(' '));

const TYPE = '"type":"';
const TYPE_BYTES = toKey('type');
const ATTACHMENT = '"attachment":{';
/** A thought whose text is kept from the transcript. */
const HIDDEN_THOUGHT = '"content":[{"type":"thinking","thinking":"",';
const AGENT_PROGRESS = Buffer.from('"type":"agent_progress"');
const TEXT_BLOCK = Buffer.from('"type":"text"');
const TOOL_USE_BLOCK = Buffer.from('"type":"tool_use"');

/** The type is near the beginning of a row: searching a short text is faster than searching a long row. */
const HEAD_BYTES = 700;

/** The first `type` in a row: its own, or that of an object before it, as the message or the attachment. */
function peekType(bytes: Buffer): { head: string; at: number; type: string } {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const at = head.indexOf(TYPE);
  if (at === -1) return { head, at, type: peekText(bytes, TYPE_BYTES) };
  const start = at + TYPE.length;
  return { head, at, type: head.slice(start, head.indexOf('"', start)) };
}

/** Whether the bytes of a row prove that it makes no event. A row written in an unusual way has to be parsed. */
export function canSkipRow(bytes: Buffer): boolean {
  const { head, at, type } = peekType(bytes);
  if (type === 'user') return false;
  if (at !== -1 && head.endsWith(ATTACHMENT, at)) {
    return !READ_ATTACHMENTS.has(type) && !mayHoldBrief(bytes);
  }
  if (SKIPPED_TYPES.has(type)) return true;
  if (type === 'progress') return !bytes.includes(AGENT_PROGRESS);
  return head.includes(HIDDEN_THOUGHT) && !bytes.includes(TEXT_BLOCK) && !bytes.includes(TOOL_USE_BLOCK);
}

/** Most results are stored twice; the unread copy is not even decoded. Quotes in texts are escaped: this is no text. */
const DATA = Buffer.from(',"toolUseResult":{');

const COPIES = (
  [
    [true, '"filePath":', ',"originalFile":"', '","structuredPatch":'],
    [true, '"stdout":"', '{"stdout":"', '","stderr":'],
    [true, '"mode":', ',"content":"', '","numLines":'],
    [false, '"type":"text","file":{', '"type":"tool_result","content":"', '"}]},"'],
  ] as const
).map(([inData, data, before, after]) => ({
  /** Whether the unread copy is in the data, or is the text for the model. */
  inData,
  /** How the data of such a result begins. */
  data: Buffer.from(data),
  /** What encloses the unread copy. */
  before: Buffer.from(before),
  after: Buffer.from(after),
}));

/** A long output is in the data only. */
const PERSISTED = Buffer.from('"persistedOutputPath":');
const BACKSLASH = 0x5c;

/** The text of a row, with an empty text in place of the unread copy. */
export function decodeWithoutCopies(bytes: Buffer): string {
  const data = bytes.indexOf(DATA);
  const at = data + DATA.length;
  const copy =
    data === -1 ? undefined : COPIES.find((one) => bytes.subarray(at, at + one.data.length).equals(one.data));
  if (copy === undefined) return decodeText(bytes);
  const found = bytes.indexOf(copy.before, copy.inData ? at - 1 : 0);
  const start = found + copy.before.length;
  const end = found === -1 ? -1 : bytes.indexOf(copy.after, start);
  if (end === -1 || bytes[end - 1] === BACKSLASH || bytes.includes(PERSISTED, at)) return decodeText(bytes);
  return decodeText(bytes.subarray(0, start)) + decodeText(bytes.subarray(end));
}

/** The rows read so far, by id: a resumed session may repeat rows of the one before. */
export interface SeenRows {
  /** A number for each row of an earlier reading, a tenth of the size of its id. */
  earlier: Uint32Array;
  ids: Set<string>;
}

/** Records a row. Returns whether it was read before; null when it is unknown, as an earlier row has the same number. */
export function markSeen(seen: SeenRows, id: string): boolean | null {
  if (seen.ids.has(id)) return true;
  if (seen.earlier.length > 0 && seen.earlier.includes(toRowNumber(id))) return null;
  seen.ids.add(id);
  return false;
}

/** The same rows in the form that is saved. */
export function packSeen({ earlier, ids }: SeenRows): SeenRows {
  const packed = new Uint32Array(earlier.length + ids.size);
  packed.set(earlier);
  let next = earlier.length;
  for (const id of ids) packed[next++] = toRowNumber(id);
  return { earlier: packed, ids: new Set() };
}

/** The last eight digits of a hexadecimal id, which are random or a counter; a hash (FNV-1a) of any other id. */
function toRowNumber(id: string): number {
  const number = Number.parseInt(id.slice(-8), 16);
  if (!Number.isNaN(number)) return number;
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** After a rewind two prompts follow the same row. Only the later one counts; what follows the earlier is discarded. */
export interface Rewinds {
  /** The latest prompt after each row that has one. */
  latest: Map<string, string>;
  /** The prompts that were replaced. */
  taken: Set<string>;
  /** The ids of the rows discarded so far. */
  dead: Set<string>;
}

export function startRewinds(): Rewinds {
  return { latest: new Map(), taken: new Set(), dead: new Set() };
}

const TOOL_RESULT = Buffer.from('"type":"tool_result"');

/** Scans a transcript for replaced prompts. Parses only rows that may be prompts. */
export function findRewinds(path: string, until: number): Rewinds {
  const rewinds = startRewinds();
  for (const { bytes } of readLines(path, { until })) {
    if (peekType(bytes).type !== 'user' || bytes.includes(TOOL_RESULT)) continue;
    const row = parseRow(bytes.toString('utf8'));
    const replaced = row === null ? null : findReplacedPrompt(row, rewinds);
    if (replaced !== null) rewinds.taken.add(replaced);
  }
  return rewinds;
}

/** The id of the prompt that this row, if it is a prompt, replaces. Notes the row as the latest one. */
export function findReplacedPrompt(row: Row, { latest }: Rewinds): string | null {
  const { type, uuid, parentUuid } = row;
  if (type !== 'user' || typeof uuid !== 'string' || typeof parentUuid !== 'string') return null;
  if (uuid === parentUuid || row.isSidechain === true || readSaid(row).length === 0) return null;
  const earlier = latest.get(parentUuid);
  latest.set(parentUuid, uuid);
  return earlier === undefined || earlier === uuid ? null : earlier;
}

/** Only a parent that came before discards a row: with later ones, a cycle could discard everything. */
export function isDiscarded(row: Row, { taken, dead }: Rewinds): boolean {
  const uuid = taken.size === 0 ? null : getText(row, 'uuid');
  if (uuid === null) return false;
  const parent = getText(row, 'parentUuid') ?? getText(row, 'logicalParentUuid');
  if (!taken.has(uuid) && (parent === null || !dead.has(parent))) return false;
  dead.add(uuid);
  return true;
}
