import { readLines } from '../../platform/lines.ts';
import { getRow, getText, parseRow, type Row } from '../json.ts';
import { decodeText } from '../json-lines.ts';
import { peekText, toKey } from '../peek.ts';
import { readHumanRow } from './prompts.ts';

/**
 * Claude Code keeps most of what a tool gave back twice: as the text that the model was given, and as data beside it. What
 * is not looked at is not even decoded; it is half of a long transcript. Quotes inside of texts have a backslash before
 * them, so that these sequences of bytes can only be what they look like.
 */
const DATA = Buffer.from(',"toolUseResult":{');

interface Copy {
  /** What the data of such a result begins with. */
  data: Buffer;
  /** Whether it is the data that nobody reads, or the text that the model was given. */
  inData: boolean;
  /** What stands before and behind the part that nobody reads. */
  before: Buffer;
  behind: Buffer;
}

const COPIES: readonly Copy[] = (
  [
    [true, '"filePath":', ',"originalFile":"', '","structuredPatch":'],
    [true, '"stdout":"', '{"stdout":"', '","stderr":'],
    [true, '"mode":', ',"content":"', '","numLines":'],
    [false, '"type":"text","file":{', '"type":"tool_result","content":"', '"}]},"'],
  ] as const
).map(([inData, data, before, behind]) => ({
  inData,
  data: Buffer.from(data),
  before: Buffer.from(before),
  behind: Buffer.from(behind),
}));

/** A long output stands in the data alone. */
const PERSISTED = Buffer.from('"persistedOutputPath":');
const BACKSLASH = 0x5c;

/** The text of a row, with nothing in the place of what is a copy. */
export function decodeWithoutCopies(bytes: Buffer): string {
  const data = bytes.indexOf(DATA);
  const at = data + DATA.length;
  const copy = data === -1 ? undefined : COPIES.find((one) => startsWith(bytes, one.data, at));
  if (copy === undefined) return decodeText(bytes);
  const found = bytes.indexOf(copy.before, copy.inData ? at - 1 : 0);
  const start = found + copy.before.length;
  const end = found === -1 ? -1 : bytes.indexOf(copy.behind, start);
  if (end === -1 || bytes[end - 1] === BACKSLASH || bytes.includes(PERSISTED, at)) return decodeText(bytes);
  return decodeText(bytes.subarray(0, start)) + decodeText(bytes.subarray(end));
}

function startsWith(bytes: Buffer, start: Buffer, at: number): boolean {
  return bytes.subarray(at, at + start.length).equals(start);
}

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

/** Kinds of rows that tell what happened. */
const TELLING = ['user', 'assistant', 'system', 'attachment', 'queue-operation', 'relocated'];

/** Kinds of rows that are for Claude Code itself: settings, titles, backups, and copies of what other rows tell. */
const NEEDLESS = new Set([
  'progress',
  'summary',
  'custom-title',
  'ai-title',
  'tag',
  'mode',
  'permission-mode',
  'last-prompt',
  'file-history-snapshot',
  'file-history-delta',
  'attribution-snapshot',
  'content-replacement',
  'worktree-state',
  'pr-link',
  'continued-in',
  'resume-head-vouch',
  'ended-by-model',
  'agent-name',
  'agent-color',
  'agent-setting',
  'bridge-session',
  'history-suppression',
  'session-owner',
  'isolation-latch',
  'dev-mods',
  'memory-mode',
  'atis-latch',
  'tools-used',
  'derived-from',
  'data-flow-records',
  'data-flow-incomplete',
  'cost-state',
  'fork-context-ref',
  'frame-link',
  'observer-ref',
  'artifact-comment-monitor',
  'artifact-autoreact-ledger',
  'api-request',
  'api-request-shape',
  'api-request-blob',
  'repl-mode',
]);

const KNOWN = new Set([...TELLING, ...NEEDLESS]);

export function isKnownType(type: string): boolean {
  return KNOWN.has(type);
}

/** Blocks of the agent's messages in which nothing is said and no tool of Claude Code's is called. */
const SILENT_BLOCKS = new Set([
  'thinking',
  'redacted_thinking',
  'image',
  'document',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'mcp_tool_use',
  'mcp_tool_result',
  'container_upload',
]);

export function isSilentBlock(type: string): boolean {
  return SILENT_BLOCKS.has(type);
}

const TYPE = '"type":"';
const TYPE_BYTES = toKey('type');
const ATTACHMENT = '"attachment":{';
const THINKING = '"content":[{"type":"thinking"';
const TEXT_BLOCK = Buffer.from('"type":"text"');
const TOOL_USE_BLOCK = Buffer.from('"type":"tool_use"');
const BRIEF = Buffer.from('# Handover ');

/** What a row is stands near its beginning: a short text is looked through faster than a long row. */
const HEAD_BYTES = 700;

function peekHead(bytes: Buffer): { head: string; at: number; type: string } {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const at = head.indexOf(TYPE);
  if (at === -1) return { head, at, type: peekText(bytes, TYPE_BYTES) };
  const start = at + TYPE.length;
  return { head, at, type: head.slice(start, head.indexOf('"', start)) };
}

/**
 * The first value that a key `type` has in a row. It may be the row's own, or that of what stands before it: of the
 * message in an assistant row, of the attachment in an attachment row.
 */
export function peekType(bytes: Buffer): string {
  return peekHead(bytes).type;
}

/** Whether the bytes of a row say for certain that it tells nothing. A row that is written in another way is parsed. */
export function isNeedlessRow(bytes: Buffer): boolean {
  const { head, at, type } = peekHead(bytes);
  if (type === 'user') return false;
  if (at !== -1 && head.endsWith(ATTACHMENT, at)) return isNeedlessAttachment(type, bytes);
  return NEEDLESS.has(type) || (head.includes(THINKING) && isThinkingOnly(bytes));
}

function isNeedlessAttachment(type: string, bytes: Buffer): boolean {
  if (type === 'queued_command' || type === 'task_reminder') return false;
  return !bytes.includes(BRIEF);
}

/** Most rows hold one block of a message. */
function isThinkingOnly(bytes: Buffer): boolean {
  return !bytes.includes(TEXT_BLOCK) && !bytes.includes(TOOL_USE_BLOCK);
}

/** A row of a conversation, as opposed to one of the many without a place in it. Qwen Code's are made of parts. */
export function isConversationRow(row: Row): boolean {
  if (typeof row.isSidechain !== 'boolean' || typeof row.sessionId !== 'string') return false;
  return !('parts' in getRow(row, 'message'));
}

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
