import { getNumber, getRow, getText, type Row } from '../shared/json.ts';

export interface RowKind {
  /** Of the row, as `response_item`. */
  type: string;
  /** Of the payload, as `function_call`; empty where it has none. */
  kind: string;
  /** Of the item in an `item_completed`. */
  item: string;
  ordinal: number | null;
}

const PEEKED_BYTES = 400;
const ENVELOPE =
  /^\s{0,8}\{"timestamp":"[^"\\]{0,40}",(?:"ordinal":(\d{1,15}),)?"type":"(\w{1,60})","payload":\{(?:"type":"(\w{1,60})")?/;
const ITEM = /"item":\{"type":"(\w{1,60})"/;

/** What the first bytes say about a row: its fields are written in a fixed order. Null when it has to be parsed. */
export function peekKind(bytes: Buffer): RowKind | null {
  const head = bytes.toString('latin1', 0, PEEKED_BYTES);
  const match = ENVELOPE.exec(head);
  if (match === null) return null;
  const [, ordinal, type = '', kind = ''] = match;
  if (kind === '' && (type === 'response_item' || type === 'event_msg')) return null;
  const item = kind === 'item_completed' ? (ITEM.exec(head)?.[1] ?? '') : '';
  return { type, kind, item, ordinal: ordinal === undefined ? null : Number(ordinal) };
}

export function readKind(row: Row): RowKind {
  const payload = getRow(row, 'payload');
  const kind = getText(payload, 'type') ?? '';
  const item = kind === 'item_completed' ? getText(getRow(payload, 'item'), 'type') : null;
  return { type: getText(row, 'type') ?? '', kind, item: item ?? '', ordinal: getNumber(row, 'ordinal') };
}

const REACHED_LIMIT = Buffer.from('"rate_limit_reached_type":"');

/** Whether the bytes of a row prove that it makes no event. */
export function canSkipRow(bytes: Buffer): boolean {
  const kind = peekKind(bytes);
  if (kind === null || kind.kind === 'thread_rolled_back') return false;
  return isWithoutEvents(kind) || (kind.kind === 'token_count' && !bytes.includes(REACHED_LIMIT));
}

/** Rows that say nothing about the work: by far the most, and the longest ones. */
export function isWithoutEvents({ type, kind, item }: RowKind): boolean {
  if (type === 'response_item') return EVENTLESS_RESPONSES.has(kind);
  if (type !== 'event_msg') return EVENTLESS_TYPES.has(type);
  if (kind === 'item_completed') return EVENTLESS_ITEMS.has(item);
  return EVENTLESS_EVENTS.has(kind) || EVENTLESS_FAMILY.test(kind);
}

const EVENTLESS_TYPES = new Set(
  (
    'world_state token_usage_record security_risk_score retained_context realtime_item ' +
    'inter_agent_communication inter_agent_communication_metadata'
  ).split(' '),
);
const EVENTLESS_RESPONSES = new Set(
  (
    'reasoning agent_message tool_search_call tool_search_output additional_tools image_generation_call ' +
    'compaction compaction_summary compaction_trigger context_compaction ghost_snapshot other'
  ).split(' '),
);
const EVENTLESS_EVENTS = new Set(
  (
    'agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break context_compacted ' +
    'entered_review_mode exited_review_mode exec_command_end image_generation_end item_started ' +
    'session_configured shutdown_complete sub_agent_activity ' +
    'thread_goal_updated thread_name_updated thread_rolled_back thread_settings_applied ' +
    'turn_diff view_image_tool_call warning web_search_end'
  ).split(' '),
);
const EVENTLESS_FAMILY = /^(?:collab_|dynamic_tool_|guardian_|hook_|mcp_startup_|model_|plan_|realtime_|request_)/;
const EVENTLESS_ITEMS = new Set(
  (
    'CollabAgentToolCall ContextCompaction EnteredReviewMode ExitedReviewMode HookPrompt ImageGeneration ' +
    'ImageView Reasoning Sleep SubAgentActivity WebSearch'
  ).split(' '),
);

/** Beginnings of texts that the program wrote as if by the human. */
const NOT_HUMAN =
  /^(?:# AGENTS\.md instructions|<INSTRUCTIONS>|<codex_|<environment_context>|<goal_context>|<hook_|<permissions instructions>|<recommended_plugins>|<skill>|<skills_instructions>|<subagent_notification>|<system|<turn_aborted>|<user_action>|<user_instructions>|<user_shell_command>|Another language model started to solve this problem)/;

/** Editors write what is open in front of what was typed. */
const EDITOR_CONTEXT = '# Context from my IDE setup:';
const TYPED = /^## My request for Codex:[ \t]*\n?/m;

/** What the human typed in a text of the user's role; null for a text of the program. */
export function findHumanText(text: string): string | null {
  const start = text.trimStart();
  if (start === '' || NOT_HUMAN.test(start)) return null;
  if (!start.startsWith(EDITOR_CONTEXT)) return text;
  const typed = TYPED.exec(start);
  return typed === null ? text : start.slice(typed.index + typed[0].length);
}
