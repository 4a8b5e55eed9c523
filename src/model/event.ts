import * as v from 'valibot';
import { Timestamp } from './scalars.ts';

/** Where in the transcript an event stands. */
export const EventRef = v.strictObject({
  line: v.pipe(v.number(), v.integer(), v.minValue(0)),
  id: v.nullable(v.string()),
});

const common = {
  at: v.nullable(Timestamp),
  ref: EventRef,
  cwd: v.exactOptional(v.string()),
  branch: v.exactOptional(v.string()),
  model: v.exactOptional(v.string()),
  /** A sub-agent's event, not the main line's. */
  sidechain: v.exactOptional(v.boolean()),
};

export const PlanItem = v.strictObject({
  text: v.string(),
  status: v.picklist(['pending', 'in_progress', 'completed', 'cancelled']),
});

/** One thing that happened in a session, in a form that no longer shows which agent wrote it. */
export const Event = v.variant('type', [
  v.strictObject({ type: v.literal('prompt'), ...common, text: v.string() }),
  v.strictObject({ type: v.literal('reply'), ...common, text: v.string() }),
  v.strictObject({
    type: v.literal('call'),
    ...common,
    call: v.string(),
    tool: v.string(),
    input: v.record(v.string(), v.unknown()),
  }),
  v.strictObject({
    type: v.literal('result'),
    ...common,
    call: v.string(),
    ok: v.nullable(v.boolean()),
    exit: v.nullable(v.number()),
    output: v.string(),
  }),
  v.strictObject({ type: v.literal('plan'), ...common, items: v.array(PlanItem) }),
  v.strictObject({ type: v.literal('compaction'), ...common, summary: v.nullable(v.string()) }),
  /** Text that this product put into the session itself: never captured again. */
  v.strictObject({ type: v.literal('injected'), ...common, text: v.string() }),
  v.strictObject({ type: v.literal('limit'), ...common, text: v.string() }),
]);
export type Event = v.InferOutput<typeof Event>;
