import { canonicalize, sha256Hex } from '../../model/hash.ts';
import { parseJson } from '../../model/json.ts';

export interface V2Decision {
  id: string;
  kind: 'constraint' | 'settled_decision' | 'blocker_rule' | 'anti_goal';
  summary: string;
  details: string;
  priority: 'high' | 'medium';
  applies_when: string;
  source_refs: string[];
}

export interface V2Evidence {
  id: string;
  type: 'file' | 'transcript';
  label: string;
  path: string;
  content_hash?: string | null;
}

/** What is to be resumed, in the order in which handoff V2 writes it. */
export interface V2Snapshot {
  schema_version: 2;
  snapshot_id: string;
  terminal_id: string;
  source_session_id: string;
  created_at: string;
  expires_at: string;
  status: 'pending';
  goal: string;
  current_task: string;
  progress_percent: number;
  progress_state: 'blocked' | 'in_progress' | 'ready';
  blockers: { type: string; summary: string }[];
  active_files: string[];
  pending_operations: { type: string; target: string; state: string }[];
  next_step: string;
  decision_refs: string[];
  evidence_refs: string[];
  /** Null only for a handover that was made of no transcript, which handoff V2 itself refuses. */
  n_1_transcript_path: string | null;
  n_2_transcript_path: string | null;
  message_intent: 'question' | 'instruction' | 'correction';
  goal_origin: 'user_message' | 'slash_command_with_args' | 'slash_command_bare';
  quality_score?: number;
  tasks_snapshot?: { id: string; title: string; status: string }[];
  open_questions?: string[];
  session_chain: string[];
  last_user_message?: string;
}

export interface V2Envelope {
  schema_version: 1;
  resume_snapshot: V2Snapshot;
  decision_register: V2Decision[];
  evidence_index: V2Evidence[];
  checksum: string;
}

/**
 * SHA-256 over the JSON in ASCII, its keys in order and without white space. Neither the intent is covered nor what is
 * added when the status changes.
 */
export function computeV2Checksum(envelope: { resume_snapshot: object }): string {
  return hashCovered(printCovered(envelope));
}

function printCovered(envelope: { resume_snapshot: object }): string {
  const covered = {
    ...envelope,
    checksum: undefined,
    environment_context: undefined,
    resume_snapshot: {
      ...envelope.resume_snapshot,
      consumed_at: undefined,
      consumed_by_session_id: undefined,
      rejected_at: undefined,
      rejected_by_session_id: undefined,
      rejection_reason: undefined,
      message_intent: undefined,
    },
  };
  return escapeToAscii(canonicalize(covered));
}

function hashCovered(text: string): string {
  return `sha256:${sha256Hex(text)}`;
}

function escapeToAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const NUMBER_MARK = '\ue000number:';
const MARKED_NUMBER = /"\\ue000number:([^"]*)"/g;

/**
 * The checksum that an envelope ought to have, of the text that was read. Numbers are covered as they were written: to
 * the tool, 1.0 and 1 differ. Null when it is not built like an envelope, or has what has no canonical form.
 */
export function computeV2ChecksumOfText(text: string): string | null {
  const value = parseJson(markNumbers(text), 'an envelope');
  if (typeof value !== 'object' || value === null || !('resume_snapshot' in value)) return null;
  const { resume_snapshot } = value;
  if (typeof resume_snapshot !== 'object' || resume_snapshot === null) return null;
  try {
    return hashCovered(printCovered({ ...value, resume_snapshot }).replace(MARKED_NUMBER, '$1'));
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** The numbers of a JSON text as texts that keep how they were written. */
function markNumbers(json: string): string {
  let marked = '';
  let from = 0;
  for (let i = 0, inString = false; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inString = false;
      continue;
    }
    if (code === QUOTE) inString = true;
    NUMBER.lastIndex = i;
    const number = code === QUOTE ? undefined : NUMBER.exec(json)?.[0];
    if (number === undefined) continue;
    marked += `${json.slice(from, i)}"${NUMBER_MARK}${number}"`;
    from = i + number.length;
    i = from - 1;
  }
  return marked + json.slice(from);
}
