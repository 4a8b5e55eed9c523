import * as v from 'valibot';

const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

/** From best to worst. */
export const RATINGS = ['Excellent', 'Good', 'Acceptable', 'Needs Improvement'] as const;
export const Rating = v.picklist(RATINGS);
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
