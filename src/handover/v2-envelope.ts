import { canonicalize } from '../model/canonical.ts';
import { sha256Hex } from '../model/checksum.ts';

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
  return `sha256:${sha256Hex(escapeToAscii(canonicalize(covered)))}`;
}

function escapeToAscii(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
