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

const SupersededFact = v.strictObject({
  id: FactId,
  /** The fact that replaced it; the same id where only its status changed. */
  by: FactId,
  reason: Reason,
});

/** What became of the facts of the previous handover, and of `joined`. Each fact is counted or listed exactly once. */
export const Chain = v.strictObject({
  /** How many of them this handover has, too. */
  carried: v.pipe(v.number(), v.integer(), v.minValue(0)),
  resolved: v.array(EndedFacts),
  superseded: v.pipe(v.array(SupersededFact), v.maxLength(MAX_FACTS)),
  dropped: v.array(EndedFacts),
  /** Another handover whose facts were carried over, too: written by hand since the previous one, or of a line of work that was merged. */
  joined: v.exactOptional(HandoverId),
});
export type Chain = v.InferOutput<typeof Chain>;

const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

/** From best to worst. */
export const Rating = v.picklist(['Excellent', 'Good', 'Acceptable', 'Needs Improvement']);
export type Rating = v.InferOutput<typeof Rating>;

/** How far the next session can rely on a handover, from 0 to 1 (best). An axis that does not apply is left out. */
export const QualityAxes = v.strictObject({
  /** Whether it states what the work is for. */
  goal: v.exactOptional(Share),
  /** The share of tasks whose status is known. */
  tasks: v.exactOptional(Share),
  /** How many decisions and rules are recorded, compared with how much was changed. */
  decisions: v.exactOptional(Share),
  /** The share of important facts that have a source or a file to check them against. */
  evidence: v.exactOptional(Share),
  /** 1 when no check fails and no blocker is named; else at most half, by the share of these that are explained. */
  blockers: v.exactOptional(Share),
  /** How recent the last recorded activity was. */
  freshness: v.exactOptional(Share),
  /** The share of important facts that do not rest on the word of an agent or an import alone. */
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
  /** The time of the last event; left out where it is not known. */
  last_at: v.exactOptional(Timestamp),
});
export type Session = v.InferOutput<typeof Session>;

/** Secrets of one kind that were redacted before the first write, and how many. */
const Redaction = v.strictObject({
  kind: v.string(),
  count: v.pipe(v.number(), v.integer(), v.minValue(1)),
});

/** Who signed a bundle: the name on the receiver's trust list, and the fingerprint of the key. */
export const Signer = v.strictObject({ name: v.string(), key: v.string() });
export type Signer = v.InferOutput<typeof Signer>;

/** Where an imported handover comes from. `detail` has the fields of the original that a handover has no field for. */
export const ImportOrigin = v.strictObject({
  format: v.string(),
  id: v.string(),
  /** Only for handovers from a bundle: who signed it; null for an unsigned one. */
  signer: v.exactOptional(v.nullable(Signer)),
  detail: v.exactOptional(v.record(v.string(), v.unknown())),
});
export type ImportOrigin = v.InferOutput<typeof ImportOrigin>;

const draftEntries = {
  schema: v.literal(HANDOVER_SCHEMA),
  id: HandoverId,
  created_at: Timestamp,
  /** When somebody last added to it by hand, where that was after the last event of its session. */
  noted_at: v.exactOptional(Timestamp),
  expires_at: v.nullable(Timestamp),
  project: Project,
  session: Session,
  workspace: Workspace,
  title: v.pipe(v.string(), v.minLength(1), v.maxBytes(MAX_TITLE_BYTES)),
  summary: v.pipe(v.string(), v.maxBytes(MAX_SUMMARY_BYTES)),
  facts: v.pipe(v.array(Fact), v.maxLength(MAX_FACTS)),
  /** The handover that this one continues. */
  previous: v.nullable(HandoverId),
  chain: v.exactOptional(Chain),
  quality: v.nullable(Quality),
  redactions: v.array(Redaction),
  imported: v.exactOptional(ImportOrigin),
};

/** A handover before it is sealed. */
export const HandoverDraft = v.strictObject(draftEntries);
export type HandoverDraft = v.InferOutput<typeof HandoverDraft>;

/** A draft without id and creation time, which it gets when it is saved. */
export type UnstampedDraft = Omit<HandoverDraft, 'id' | 'created_at'>;

/** The sealed record of a session's facts at one moment. It never changes; what happens to it later is in the journal. */
export const Handover = v.strictObject({
  ...draftEntries,
  checksum: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});
export type Handover = v.InferOutput<typeof Handover>;

/** Whether it came in a bundle. Such a handover is listed and searched, but never followed or restored automatically. */
export function isForeign({ imported }: Pick<Handover, 'imported'>): boolean {
  return imported?.signer !== undefined;
}

/** The format of what came by `sync`. */
export const SYNC_FORMAT = 'sync/1';

/** Who signed it. What the same person did elsewhere counts as done here, so its signer is a detail. */
export function findSigner(imported: ImportOrigin | undefined): Signer | null {
  const of = imported?.signer ?? (imported?.format === SYNC_FORMAT ? imported.detail?.signer : undefined);
  const { success, output } = v.safeParse(Signer, of);
  return success ? output : null;
}

/** The key, 32 hexadecimal digits, that signed a handover which was made elsewhere; null for one of this store. */
export function findWriter({ imported }: Pick<Handover, 'imported'>): string | null {
  return findSigner(imported)?.key.replaceAll(' ', '') ?? null;
}
