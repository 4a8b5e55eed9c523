import { parseRow, type Row } from '../shared/json.ts';

/** What the first bytes of a row say about it. Rows are written field by field in a fixed order. */
export interface RowKind {
  /** Of the envelope, as `response_item`. */
  type: string;
  /** Of the payload, as `function_call`; empty where it has none. */
  kind: string;
  /** Of the item in an `item_completed`. */
  item: string;
  ordinal: number | null;
}

const LOOKED_AT = 400;
const ENVELOPE =
  /^\s{0,8}\{"timestamp":"[^"\\]{0,40}",(?:"ordinal":(\d{1,15}),)?"type":"(\w{1,60})","payload":\{(?:"type":"(\w{1,60})")?/;
const ITEM = /"item":\{"type":"(\w{1,60})"/;

/** Null when the bytes do not tell: then the row has to be parsed. */
export function peekKind(bytes: Buffer): RowKind | null {
  const head = bytes.toString('latin1', 0, LOOKED_AT);
  const match = ENVELOPE.exec(head);
  if (match === null) return null;
  const [, ordinal, type = '', kind = ''] = match;
  if (kind === '' && (type === 'response_item' || type === 'event_msg')) return null;
  return {
    type,
    kind,
    item: kind === 'item_completed' ? (ITEM.exec(head)?.[1] ?? '') : '',
    ordinal: ordinal === undefined ? null : Number(ordinal),
  };
}

export function parseLine(bytes: Buffer): Row | null {
  return parseRow(bytes.toString('utf8'));
}

/** What a parsed row is, for rows that did not tell by their first bytes. */
export function readKind(row: Row): RowKind {
  const payload = typeof row.payload === 'object' && row.payload !== null ? row.payload : {};
  const kind = 'type' in payload && typeof payload.type === 'string' ? payload.type : '';
  const item =
    'item' in payload && typeof payload.item === 'object' && payload.item !== null ? payload.item : {};
  return {
    type: typeof row.type === 'string' ? row.type : '',
    kind,
    item: kind === 'item_completed' && 'type' in item && typeof item.type === 'string' ? item.type : '',
    ordinal: typeof row.ordinal === 'number' ? row.ordinal : null,
  };
}

/** Rows that say nothing about the work, by far the most and the longest ones. */
export function isIdle({ type, kind, item }: RowKind): boolean {
  if (type === 'response_item') return IDLE_RESPONSES.has(kind);
  if (type === 'event_msg') {
    if (kind === 'item_completed') return IDLE_ITEMS.has(item);
    return IDLE_EVENTS.has(kind) || IDLE_EVENT_FAMILY.test(kind);
  }
  return IDLE_TYPES.has(type);
}

const IDLE_TYPES = new Set([
  'world_state',
  'token_usage_record',
  'security_risk_score',
  'retained_context',
  'realtime_item',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
]);
const IDLE_RESPONSES = new Set([
  'reasoning',
  'agent_message',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'image_generation_call',
  'compaction',
  'compaction_summary',
  'compaction_trigger',
  'context_compaction',
  'ghost_snapshot',
  'other',
]);
const IDLE_EVENTS = new Set([
  'agent_reasoning',
  'agent_reasoning_raw_content',
  'agent_reasoning_section_break',
  'context_compacted',
  'entered_review_mode',
  'exited_review_mode',
  'exec_command_end',
  'image_generation_end',
  'item_started',
  'session_configured',
  'shutdown_complete',
  'sub_agent_activity',
  'task_complete',
  'task_started',
  'thread_goal_updated',
  'thread_name_updated',
  'thread_rolled_back',
  'thread_settings_applied',
  'turn_aborted',
  'turn_complete',
  'turn_diff',
  'turn_started',
  'view_image_tool_call',
  'warning',
  'web_search_end',
]);
const IDLE_EVENT_FAMILY =
  /^(?:collab_|dynamic_tool_|guardian_|hook_|mcp_startup_|model_|plan_|realtime_|request_)/;
const IDLE_ITEMS = new Set([
  'CollabAgentToolCall',
  'ContextCompaction',
  'EnteredReviewMode',
  'ExitedReviewMode',
  'HookPrompt',
  'ImageGeneration',
  'ImageView',
  'Reasoning',
  'Sleep',
  'SubAgentActivity',
  'WebSearch',
]);
