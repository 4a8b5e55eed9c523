import { readLines } from '../../platform/lines.ts';
import { getRow, getText, parseRow } from '../shared/json.ts';
import { mayHoldBrief } from '../shared/message-text.ts';

const TYPE = /^\s{0,8}\{"type":"([\w.]{1,80})"/;

/** Whether the bytes of a row prove that it makes no event. Output of hooks may be a brief of ours. */
export function canSkipRow(bytes: Buffer): boolean {
  const type = TYPE.exec(bytes.toString('latin1', 0, 120))?.[1];
  if (type === undefined || type === REWIND) return false;
  return type === 'hook.end' ? !mayHoldBrief(bytes) : isWithoutEvents(type);
}

/** Rows that say nothing about the work. The longest rows, snapshots of all messages, are among them. */
export function isWithoutEvents(type: string): boolean {
  return EVENTLESS.has(type) || EVENTLESS_FAMILY.test(type);
}

const EVENTLESS_FAMILY =
  /^(?:(?:auto_mode_switch|canvas|capabilities|command|commands|custom_notification|elicitation|exit_plan_mode|extensions|external_tool|factory|managed_settings|mcp|mcp_app|pending_messages|permission|sampling|session_limits_exhausted|skill|subagent|system|tools|ui|user_input)[._]|hook\.(?:start|progress)$|model\.(?!call_failure$)|(?:assistant|session)\.fusion_)/;
const EVENTLESS = new Set(
  (
    'assistant.idle assistant.intent assistant.message_delta assistant.message_start assistant.reasoning ' +
    'assistant.reasoning_delta assistant.server_tool_progress assistant.streaming_delta assistant.tool_call_delta ' +
    'assistant.turn_end assistant.turn_retry assistant.turn_start assistant.usage session.auto_mode_resolved ' +
    'session.autopilot_objective_changed session.background_tasks_changed session.binary_asset ' +
    'session.compaction_start session.context_cleared session.custom_agents_updated session.extensions_loaded ' +
    'session.handoff session.idle session.import_legacy session.info session.mcp_server_status_changed ' +
    'session.mcp_servers_loaded session.mode_changed session.mode_notice_delivered session.permissions_changed ' +
    'session.plan_changed session.remote_steerable_changed session.schedule_cancelled session.schedule_created ' +
    'session.schedule_rearmed session.session_limits_changed session.shutdown session.skills_loaded ' +
    'session.snapshot_rewind session.task_complete session.title_changed session.todos_changed session.tools_updated ' +
    'session.truncation session.usage_checkpoint session.usage_info session.usage_record session.warning ' +
    'session.workspace_file_changed tool.execution_partial_result tool.execution_progress tool.search_activated ' +
    'tool.user_requested'
  ).split(' '),
);

/** What was rewound. Saved with a bookmark. */
export interface Rewinds {
  /** Ids of discarded events. */
  gone: Set<string>;
  /** The first and last line of each discarded part. */
  ranges: [number, number][];
}

export function isDiscarded({ gone, ranges }: Rewinds, line: number, id: string | null): boolean {
  return (id !== null && gone.has(id)) || ranges.some(([start, end]) => line >= start && line <= end);
}

/** `from` is the first event that is discarded. */
type Rewind = { line: number; from: string | null };

export const REWIND = 'session.snapshot_rewind';
const MARK = Buffer.from(`"${REWIND}"`);

/** Scans the bytes of a transcript. One with rewinds is read and parsed once more. */
export function findRewinds(path: string, until: number): Rewinds {
  const rewinds: Rewind[] = [];
  const gone = new Set<string>();
  for (const { bytes, number } of readLines(path, { until })) {
    if (!bytes.subarray(0, 200).includes(MARK)) continue;
    const row = parseRow(bytes.toString('utf8'));
    if (row?.type !== REWIND) continue;
    const data = getRow(row, 'data');
    rewinds.push({ line: number, from: getText(data, 'upToEventId') });
    for (const id of Array.isArray(data.eventIds) ? data.eventIds : []) if (typeof id === 'string') gone.add(id);
  }
  return { gone, ranges: rewinds.length === 0 ? [] : findRanges(path, rewinds, until) };
}

function findRanges(path: string, rewinds: readonly Rewind[], until: number): [number, number][] {
  const lines = new Map<string, number>();
  for (const { bytes, number } of readLines(path, { until })) {
    const id = parseRow(bytes.toString('utf8'))?.id;
    if (typeof id === 'string' && !lines.has(id)) lines.set(id, number);
  }
  return rewinds.flatMap(({ line, from }): [number, number][] => {
    const start = from === null ? undefined : lines.get(from);
    return start !== undefined && start <= line ? [[start, line]] : [];
  });
}
