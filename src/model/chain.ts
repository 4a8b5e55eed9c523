import * as v from 'valibot';
import { FactId, MAX_FACTS } from './fact.ts';
import { HandoverId } from './scalars.ts';

const Reason = v.pipe(v.string(), v.minLength(1), v.maxBytes(200));

/** Facts that ended for the same reason. */
export const Parted = v.strictObject({
  reason: Reason,
  ids: v.pipe(v.array(FactId), v.minLength(1), v.maxLength(MAX_FACTS)),
});
export type Parted = v.InferOutput<typeof Parted>;

export const Superseded = v.strictObject({
  id: FactId,
  /** What says it now; the same id where the same fact has another status. */
  by: FactId,
  reason: Reason,
});
export type Superseded = v.InferOutput<typeof Superseded>;

/** What became of the facts of the previous handover, and of the one that joined. Each is counted or named exactly once. */
export const Chain = v.strictObject({
  /** How many are here again. */
  carried: v.pipe(v.number(), v.integer(), v.minValue(0)),
  resolved: v.array(Parted),
  superseded: v.pipe(v.array(Superseded), v.maxLength(MAX_FACTS)),
  dropped: v.array(Parted),
  /** A handover that was written by hand since the previous one. */
  joined: v.exactOptional(HandoverId),
});
export type Chain = v.InferOutput<typeof Chain>;
