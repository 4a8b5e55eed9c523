import { getRow, type Row } from '../shared/json.ts';
import { peekText, toKey } from '../shared/json-lines.ts';

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
