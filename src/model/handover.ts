import * as v from 'valibot';
import { Fact, FactId, MAX_FACTS } from './fact.ts';
import { HandoverId, Timestamp } from './scalars.ts';
import { Project, Workspace } from './workspace.ts';

const Reason = v.pipe(v.string(), v.minLength(1), v.maxBytes(200));

/** Facts that ended for the same reason. */
export const EndedFacts = v.strictObject({
  reason: Reason,
  ids: v.pipe(v.array(FactId), v.minLength(1), v.maxLength(MAX_FACTS)),
});
export type EndedFacts = v.InferOutput<typeof EndedFacts>;

const Superseded = v.strictObject({
  id: FactId,
  /** What says it now; the same id where the same fact has another status. */
  by: FactId,
  reason: Reason,
});

/** What became of the facts of the previous handover, and of the one that joined. Each is counted or named exactly once. */
export const Chain = v.strictObject({
  /** How many are here again. */
  carried: v.pipe(v.number(), v.integer(), v.minValue(0)),
  resolved: v.array(EndedFacts),
  superseded: v.pipe(v.array(Superseded), v.maxLength(MAX_FACTS)),
  dropped: v.array(EndedFacts),
  /** A handover that was written by hand since the previous one. */
  joined: v.exactOptional(HandoverId),
});
export type Chain = v.InferOutput<typeof Chain>;

const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

/** From best to worst. */
export const Rating = v.picklist(['Excellent', 'Good', 'Acceptable', 'Needs Improvement']);
export type Rating = v.InferOutput<typeof Rating>;

/** How far a reader can count on a handover, one question each. 1 is best; an axis that does not apply is left out. */
export const QualityAxes = v.strictObject({
  /** Is it known what the work is for? */
  goal: v.exactOptional(Share),
  /** The share of tasks whose status is known. */
  tasks: v.exactOptional(Share),
  /** Is what was settled written down, for as much as was changed? */
  decisions: v.exactOptional(Share),
  /** The share of what counts that leads back to where it was seen. */
  evidence: v.exactOptional(Share),
  /** Is the way free, or is at least known what stands in it? */
  blockers: v.exactOptional(Share),
  /** How recent was the last thing that it tells of? */
  freshness: v.exactOptional(Share),
  /** The share of what counts that does not rest on an agent's or an import's word alone. */
  verified: v.exactOptional(Share),
});
export type QualityAxes = v.InferOutput<typeof QualityAxes>;
export type QualityAxis = keyof QualityAxes;

export const Quality = v.strictObject({ score: Share, rating: Rating, axes: QualityAxes });
export type Quality = v.InferOutput<typeof Quality>;

export const HANDOVER_SCHEMA = 'handover/1';
export const MAX_TITLE_BYTES = 1024;
export const MAX_SUMMARY_BYTES: number = 1024 * 1024;
export const MAX_AGENT_BYTES = 64;

export const Session = v.strictObject({
  agent: v.pipe(v.string(), v.minLength(1), v.maxBytes(MAX_AGENT_BYTES)),
  id: v.nullable(v.string()),
  terminal: v.nullable(v.string()),
  model: v.nullable(v.string()),
  transcript: v.nullable(v.string()),
  started_at: v.nullable(Timestamp),
  /** When the last thing happened that is told; left out where that is not known. */
  last_at: v.exactOptional(Timestamp),
});
export type Session = v.InferOutput<typeof Session>;

/** What was taken out before the first write: kind of secret and how many. */
const Redaction = v.strictObject({
  kind: v.string(),
  count: v.pipe(v.number(), v.integer(), v.minValue(1)),
});

/** Who vouched for a bundle, by the name that the receiver knows, and the fingerprint of the key. */
export const Signer = v.strictObject({ name: v.string(), key: v.string() });
export type Signer = v.InferOutput<typeof Signer>;

/** What a handover was before it came here. `detail` keeps the fields that have no place of their own. */
export const Imported = v.strictObject({
  format: v.string(),
  id: v.string(),
  /** Only of what came in a bundle: who signed it, or null when nobody did. */
  signer: v.exactOptional(v.nullable(Signer)),
  detail: v.exactOptional(v.record(v.string(), v.unknown())),
});
export type Imported = v.InferOutput<typeof Imported>;

const draftEntries = {
  schema: v.literal(HANDOVER_SCHEMA),
  id: HandoverId,
  created_at: Timestamp,
  expires_at: v.nullable(Timestamp),
  project: Project,
  session: Session,
  workspace: Workspace,
  title: v.pipe(v.string(), v.minLength(1), v.maxBytes(MAX_TITLE_BYTES)),
  summary: v.pipe(v.string(), v.maxBytes(MAX_SUMMARY_BYTES)),
  facts: v.pipe(v.array(Fact), v.maxLength(MAX_FACTS)),
  /** The handover that this one follows in its line of work. */
  previous: v.nullable(HandoverId),
  chain: v.exactOptional(Chain),
  quality: v.nullable(Quality),
  redactions: v.array(Redaction),
  imported: v.exactOptional(Imported),
};

/** A handover before it is sealed. */
export const HandoverDraft = v.strictObject(draftEntries);
export type HandoverDraft = v.InferOutput<typeof HandoverDraft>;

/** A draft that has neither id nor time yet: these it gets when it is kept. */
export type UnstampedDraft = Omit<HandoverDraft, 'id' | 'created_at'>;

/** The sealed record of a session's facts at one moment. It never changes; what happens to it later is in the journal. */
export const Handover = v.strictObject({
  ...draftEntries,
  checksum: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});
export type Handover = v.InferOutput<typeof Handover>;

/** Whether it came in a bundle: somebody else's word, that is shown and found but never followed or restored by itself. */
export function isForeign({ imported }: Pick<Handover, 'imported'>): boolean {
  return imported?.signer !== undefined;
}
