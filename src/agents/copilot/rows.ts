import { readLines } from '../../platform/lines.ts';
import { getRow, getText, parseRow } from '../json.ts';

/** What was taken back of a transcript. */
export interface Rewound {
  /** By id. */
  gone: Set<string>;
  /** By lines, from one to another. */
  ranges: [number, number][];
}

export function rewindNothing(): Rewound {
  return { gone: new Set(), ranges: [] };
}

export function isDead({ gone, ranges }: Rewound, line: number, id: string | null): boolean {
  return (id !== null && gone.has(id)) || ranges.some(([start, end]) => line >= start && line <= end);
}

interface Rewind {
  line: number;
  /** The first event that is gone. */
  from: string | null;
}

export const REWIND = 'session.snapshot_rewind';
const MARK = Buffer.from(`"${REWIND}"`);

/** Costs a look at the bytes; a transcript in which something was taken back is read once more for the ids. */
export function findRewound(path: string, until: number): Rewound {
  const rewinds: Rewind[] = [];
  const gone = new Set<string>();
  for (const { bytes, number } of readLines(path, { until })) {
    if (bytes.subarray(0, 200).indexOf(MARK) === -1) continue;
    const row = parseRow(bytes.toString('utf8'));
    if (row?.type !== REWIND) continue;
    const data = getRow(row, 'data');
    rewinds.push({ line: number, from: getText(data, 'upToEventId') });
    const ids: readonly unknown[] = Array.isArray(data.eventIds) ? data.eventIds : [];
    for (const id of ids) if (typeof id === 'string') gone.add(id);
  }
  return { gone, ranges: rewinds.length === 0 ? [] : findRanges(path, rewinds, until) };
}

function findRanges(path: string, rewinds: readonly Rewind[], until: number): [number, number][] {
  const wanted = new Map<string, number>();
  for (const { from } of rewinds) if (from !== null) wanted.set(from, 0);
  for (const { bytes, number } of readLines(path, { until })) {
    const id = parseRow(bytes.toString('utf8'))?.id;
    if (typeof id === 'string' && wanted.get(id) === 0) wanted.set(id, number);
  }
  return rewinds.flatMap(({ line, from }) => {
    const start = from === null ? 0 : (wanted.get(from) ?? 0);
    return start > 0 && start <= line ? [[start, line] satisfies [number, number]] : [];
  });
}

const TYPE = /^\s{0,8}\{"type":"([\w.]{1,80})"/;

/** The type of a row by its first bytes; null when they do not tell. */
export function peekType(bytes: Buffer): string | null {
  return TYPE.exec(bytes.toString('latin1', 0, 120))?.[1] ?? null;
}

/** Rows that say nothing about the work. Snapshots of all messages are among them, and they are the longest. */
export function isIdle(type: string): boolean {
  return IDLE.has(type) || IDLE_FAMILY.test(type);
}

const BRIEF = Buffer.from('# Handover ');

/** Whether a row can be passed over unparsed. What a hook gave back may be a brief of ours. */
export function isNeedless(bytes: Buffer): boolean {
  const type = peekType(bytes);
  if (type === REWIND) return false;
  if (type === 'hook.end') return !bytes.includes(BRIEF);
  return type !== null && isIdle(type);
}

const IDLE_FAMILY =
  /^(?:(?:auto_mode_switch|canvas|capabilities|command|commands|custom_notification|elicitation|exit_plan_mode|extensions|external_tool|factory|managed_settings|mcp|mcp_app|pending_messages|permission|sampling|session_limits_exhausted|skill|subagent|system|tools|ui|user_input)[._]|hook\.(?:start|progress)$|model\.(?!call_failure$)|(?:assistant|session)\.fusion_)/;
const IDLE = new Set([
  'abort',
  'assistant.idle',
  'assistant.intent',
  'assistant.message_delta',
  'assistant.message_start',
  'assistant.reasoning',
  'assistant.reasoning_delta',
  'assistant.server_tool_progress',
  'assistant.streaming_delta',
  'assistant.tool_call_delta',
  'assistant.turn_end',
  'assistant.turn_retry',
  'assistant.turn_start',
  'assistant.usage',
  'session.auto_mode_resolved',
  'session.autopilot_objective_changed',
  'session.background_tasks_changed',
  'session.binary_asset',
  'session.compaction_start',
  'session.context_cleared',
  'session.custom_agents_updated',
  'session.extensions_loaded',
  'session.handoff',
  'session.idle',
  'session.import_legacy',
  'session.info',
  'session.mcp_server_status_changed',
  'session.mcp_servers_loaded',
  'session.mode_changed',
  'session.mode_notice_delivered',
  'session.permissions_changed',
  'session.plan_changed',
  'session.remote_steerable_changed',
  'session.schedule_cancelled',
  'session.schedule_created',
  'session.schedule_rearmed',
  'session.session_limits_changed',
  'session.shutdown',
  'session.skills_loaded',
  'session.snapshot_rewind',
  'session.task_complete',
  'session.title_changed',
  'session.todos_changed',
  'session.tools_updated',
  'session.truncation',
  'session.usage_checkpoint',
  'session.usage_info',
  'session.usage_record',
  'session.warning',
  'session.workspace_file_changed',
  'tool.execution_partial_result',
  'tool.execution_progress',
  'tool.search_activated',
  'tool.user_requested',
]);
