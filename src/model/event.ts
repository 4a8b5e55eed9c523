import * as v from 'valibot';
import { Timestamp } from './scalars.ts';

/** Where in the transcript an event stands: the line from 1, and the agent's own id of the row where it has one. */
const EventRef = v.strictObject({
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

export const FileEdit = v.strictObject({
  path: v.string(),
  change: v.picklist(['created', 'edited', 'deleted', 'moved']),
  /** The replaced text and its replacement, where the transcript has them. */
  before: v.string(),
  after: v.string(),
  /** Where it was moved to. */
  to: v.exactOptional(v.string()),
});
export type FileEdit = v.InferOutput<typeof FileEdit>;

/** What a tool call does, independent of the agent that made it. */
export const Action = v.variant('kind', [
  v.strictObject({ kind: v.literal('edit'), edits: v.array(FileEdit) }),
  v.strictObject({ kind: v.literal('read'), path: v.string() }),
  v.strictObject({ kind: v.literal('command'), command: v.string(), background: v.boolean() }),
  /** Looking for files or text: pattern and place. */
  v.strictObject({ kind: v.literal('search'), pattern: v.string(), path: v.nullable(v.string()) }),
  v.strictObject({ kind: v.literal('fetch'), url: v.string() }),
  /** Work given to a sub-agent. In the background it goes on until the result comes: that it was started is none. */
  v.strictObject({ kind: v.literal('delegate'), task: v.string(), background: v.exactOptional(v.literal(true)) }),
  /** A question to the human. The answer comes as a prompt. */
  v.strictObject({ kind: v.literal('ask'), question: v.string() }),
  /** A plan laid before the human. */
  v.strictObject({ kind: v.literal('propose'), text: v.string() }),
  /** Everything else: the texts of the tool's input, without its parameter names. */
  v.strictObject({ kind: v.literal('other'), texts: v.array(v.string()) }),
]);
export type Action = v.InferOutput<typeof Action>;

export const PlanItem = v.strictObject({
  text: v.string(),
  status: v.picklist(['pending', 'in_progress', 'completed', 'cancelled']),
  /** What the agent calls the item by, where it numbers them. */
  id: v.exactOptional(v.string()),
  /** More about the item, where the agent keeps it apart. */
  detail: v.exactOptional(v.string()),
});
export type PlanItem = v.InferOutput<typeof PlanItem>;

/** One thing that happened in a session, in a form that is the same for all agents. */
export const Event = v.variant('type', [
  v.strictObject({
    type: v.literal('prompt'),
    ...common,
    text: v.string(),
    /** Who wrote it, where that is another agent, such as the lead of a team. */
    from: v.exactOptional(v.string()),
  }),
  v.strictObject({ type: v.literal('reply'), ...common, text: v.string() }),
  v.strictObject({ type: v.literal('call'), ...common, call: v.string(), tool: v.string(), action: Action }),
  v.strictObject({
    type: v.literal('result'),
    ...common,
    call: v.string(),
    /** Null where the agent does not say. */
    ok: v.nullable(v.boolean()),
    exit: v.nullable(v.number()),
    output: v.string(),
    /** The human rejected the call. What the human said about it follows as a prompt. */
    refused: v.exactOptional(v.literal(true)),
  }),
  /** The whole plan as it stands after a change to it. */
  v.strictObject({ type: v.literal('plan'), ...common, items: v.array(PlanItem) }),
  v.strictObject({ type: v.literal('compaction'), ...common, summary: v.nullable(v.string()) }),
  /** Text that this product put into the session itself: never captured again. */
  v.strictObject({ type: v.literal('injected'), ...common, text: v.string() }),
  /** The agent was stopped by a limit or an error of its provider. */
  v.strictObject({ type: v.literal('limit'), ...common, text: v.string() }),
  /** The human stopped the agent in the middle of its work. */
  v.strictObject({ type: v.literal('interrupted'), ...common }),
]);
export type Event = v.InferOutput<typeof Event>;
