import * as v from 'valibot';
import { catchError, HandoverError } from '../../errors.ts';
import { canonicalize, sha256Hex } from '../../model/hash.ts';
import { parseJson, RECORD_LIMITS } from '../../model/json.ts';
import { NonEmpty } from './session-handoff-record.ts';

/** SHA-256 of the ASCII JSON with sorted keys. Covers neither the intent nor what a change of status adds. */
export function computeV2Checksum(envelope: { resume_snapshot: object }): string {
  return `sha256:${sha256Hex(printCovered(envelope))}`;
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
  const encode = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return canonicalize(covered).replace(/[^ -~]/g, encode);
}

const NUMBER_MARK = '\ue000number:';
const MARKED_NUMBER = /"\\ue000number:([^"]*)"/g;

/** Numbers count as written: to handoff V2, 1.0 and 1 differ. Null for anything but an envelope, and for one without a canonical form. */
function computeV2ChecksumOfText(text: string): string | null {
  const value = parseJson(markNumbers(text), 'an envelope');
  if (typeof value !== 'object' || value === null || !('resume_snapshot' in value)) return null;
  const { resume_snapshot } = value;
  if (typeof resume_snapshot !== 'object' || resume_snapshot === null) return null;
  const print = (): string => printCovered({ ...value, resume_snapshot }).replace(MARKED_NUMBER, '$1');
  const covered = catchError(TypeError, null, print);
  return covered === null ? null : `sha256:${sha256Hex(covered)}`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Replaces the numbers of a JSON text by strings that keep their spelling. */
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

/* Envelopes as handoff V2 wrote them: 0.3.x with one transcript path, 0.5.x with two. Other fields are dropped. */

const Time = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'is not a time'),
);
const Texts = v.array(v.string());
const MaybeText = v.nullish(v.string());

const Task = v.object({
  id: v.nullish(v.union([v.string(), v.number()])),
  title: MaybeText,
  subject: MaybeText,
  status: MaybeText,
});

const Snapshot = v.object({
  schema_version: v.literal(2, 'is not 2'),
  snapshot_id: NonEmpty,
  terminal_id: v.string(),
  source_session_id: v.string(),
  created_at: Time,
  expires_at: v.nullish(Time),
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
  tasks_snapshot: v.nullish(v.array(Task)),
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
  id: NonEmpty,
  kind: v.picklist(['constraint', 'settled_decision', 'blocker_rule', 'anti_goal'], 'is not a known kind'),
  summary: v.string(),
  details: MaybeText,
  priority: MaybeText,
  applies_when: MaybeText,
  source_refs: v.nullish(Texts, []),
  bridge_token: MaybeText,
});

const Evidence = v.object({
  id: NonEmpty,
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
  checksum: NonEmpty,
});
export type V2Record = v.InferOutput<typeof V2Record>;

/** As this version writes it. */
export type V2Envelope = V2Record & {
  schema_version: 1;
  /** Never null; empty for a handover without a transcript, from which handoff V2 does not resume. */
  resume_snapshot: { n_1_transcript_path: string };
};

/** Leaves room for the handover made of it, which is larger and nested deeper. */
const LIMITS = { maxBytes: RECORD_LIMITS.maxBytes / 2, maxDepth: 48 };

/** Checks fields, references and checksum as handoff V2 does. The transcript need not exist any more. */
export function parseV2Record(text: string): V2Record {
  const result = v.safeParse(V2Record, parseJson(text, 'the envelope', LIMITS));
  if (!result.success) {
    const [issue] = result.issues;
    throw invalidError(`${v.getDotPath(issue) ?? 'the envelope'}: ${issue.message}`);
  }
  const record = result.output;
  const { resume_snapshot, decision_register, evidence_index } = record;
  assertKnown(resume_snapshot.decision_refs, decision_register, 'decision');
  assertKnown(resume_snapshot.evidence_refs, evidence_index, 'evidence');
  if (computeV2ChecksumOfText(text) !== record.checksum) throw invalidError('its checksum does not match its content');
  return record;
}

function assertKnown(refs: readonly string[], items: readonly { id: string }[], what: string): void {
  const ids = new Set(items.map(({ id }) => id));
  if (refs.some((ref) => !ids.has(ref))) throw invalidError(`it refers to ${what} that it does not have`);
}

function invalidError(why: string): HandoverError {
  return new HandoverError('HANDOVER_INPUT_INVALID', why);
}
