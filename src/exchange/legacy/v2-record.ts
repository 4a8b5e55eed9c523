import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { parseJson, RECORD_LIMITS } from '../../model/json.ts';
import { computeV2ChecksumOfText } from './v2-envelope.ts';

/* Envelopes as handoff V2 wrote them: 0.3.x with one transcript path, 0.5.x with two. What is not named here is kept out. */

const Filled = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== '', 'is empty'),
);
const Moment = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'is not a time'),
);
const Texts = v.array(v.string());
const MaybeText = v.nullish(v.string());

const Snapshot = v.object({
  schema_version: v.literal(2, 'is not 2'),
  snapshot_id: Filled,
  terminal_id: v.string(),
  source_session_id: v.string(),
  created_at: Moment,
  expires_at: v.nullish(Moment),
  status: v.picklist(['pending', 'consumed', 'rejected_stale', 'rejected_invalid'], 'is not a known status'),
  goal: v.string(),
  current_task: v.string(),
  progress_percent: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  progress_state: v.string(),
  blockers: v.array(v.object({ type: MaybeText, summary: v.string() })),
  active_files: Texts,
  pending_operations: v.array(v.object({ type: MaybeText, target: v.string(), state: MaybeText })),
  next_step: v.string(),
  decision_refs: Texts,
  evidence_refs: Texts,
  transcript_path: MaybeText,
  n_1_transcript_path: MaybeText,
  n_2_transcript_path: MaybeText,
  message_intent: MaybeText,
  goal_origin: MaybeText,
  quality_score: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  tasks_snapshot: v.nullish(
    v.array(
      v.object({
        id: v.nullish(v.union([v.string(), v.number()])),
        title: MaybeText,
        subject: MaybeText,
        status: MaybeText,
      }),
    ),
  ),
  open_questions: v.nullish(Texts),
  session_chain: v.nullish(v.array(v.unknown())),
  last_user_message: MaybeText,
  consumed_at: MaybeText,
  consumed_by_session_id: MaybeText,
  rejected_at: MaybeText,
  rejected_by_session_id: MaybeText,
  rejection_reason: MaybeText,
});

const Decision = v.object({
  id: Filled,
  kind: v.picklist(['constraint', 'settled_decision', 'blocker_rule', 'anti_goal'], 'is not a known kind'),
  summary: v.string(),
  details: MaybeText,
  priority: MaybeText,
  applies_when: MaybeText,
  source_refs: v.nullish(Texts, []),
  bridge_token: MaybeText,
});

const Evidence = v.object({
  id: Filled,
  type: v.picklist(['file', 'transcript', 'test', 'log', 'git'], 'is not a known type'),
  label: v.string(),
  path: v.string(),
  content_hash: v.nullish(v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/, 'is not a hash'))),
});

const V2Record = v.object({
  resume_snapshot: Snapshot,
  decision_register: v.array(Decision),
  evidence_index: v.array(Evidence),
  environment_context: v.optional(v.unknown()),
  checksum: Filled,
});
export type V2Record = v.InferOutput<typeof V2Record>;

/** A handover is nested a little deeper than what it was made of, and must be readable too. */
const LIMITS = { maxBytes: RECORD_LIMITS.maxBytes / 2, maxDepth: 48 };

/**
 * Reads an envelope and checks it as the tool does: its fields, its references and its checksum. Where the transcript is
 * does not matter: it may have gone since. Throws a coded error that says what is wrong.
 */
export function parseV2Record(text: string): V2Record {
  const result = v.safeParse(V2Record, parseJson(text, 'the envelope', LIMITS));
  if (!result.success) {
    const [issue] = result.issues;
    throw refuse(`${v.getDotPath(issue) ?? 'the envelope'}: ${issue.message}`);
  }
  const record = result.output;
  const { resume_snapshot, decision_register, evidence_index } = record;
  assertKnown(resume_snapshot.decision_refs, decision_register, 'decision');
  assertKnown(resume_snapshot.evidence_refs, evidence_index, 'evidence');
  if (computeV2ChecksumOfText(text) !== record.checksum)
    throw refuse('its checksum does not match its content');
  return record;
}

function assertKnown(refs: readonly string[], items: readonly { id: string }[], what: string): void {
  const ids = new Set(items.map(({ id }) => id));
  if (refs.some((ref) => !ids.has(ref))) throw refuse(`it refers to ${what} that it does not have`);
}

function refuse(why: string): HandoverError {
  return new HandoverError('HANDOVER_INPUT_INVALID', why);
}
