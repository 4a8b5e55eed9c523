import * as v from 'valibot';
import { Timestamp } from './scalars.ts';

/** The place of an event in the transcript: the line, from 1, and the agent's own id of the row, if it has one. */
const EventRef = v.strictObject({
  line: v.pipe(v.number(), v.integer(), v.minValue(0)),
  id: v.nullable(v.string()),
});

const Flag = v.exactOptional(v.literal(true));

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
  /** In the folder that the call names, if that is not the session's. */
  v.strictObject({
    kind: v.literal('command'),
    command: v.string(),
    background: v.boolean(),
    folder: v.exactOptional(v.string()),
  }),
  /** Looking for files or text: pattern and place. */
  v.strictObject({ kind: v.literal('search'), pattern: v.string(), path: v.nullable(v.string()) }),
  v.strictObject({ kind: v.literal('fetch'), url: v.string() }),
  /** Work given to a sub-agent. In the background it continues until its result: the report of its start is none. */
  v.strictObject({ kind: v.literal('delegate'), task: v.string(), background: Flag }),
  /** A question to the human. The answer comes as a prompt. */
  v.strictObject({ kind: v.literal('ask'), question: v.string() }),
  /** A plan presented to the human. */
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
    /** Said while the agent was at work on the request before it. */
    steering: Flag,
  }),
  /** An interim one is marked as said on the way: the agent's answer is still to come. */
  v.strictObject({ type: v.literal('reply'), ...common, text: v.string(), interim: Flag }),
  /** What the agent thought and did not say, where its transcript has the text. */
  v.strictObject({ type: v.literal('thought'), ...common, text: v.string() }),
  v.strictObject({
    type: v.literal('call'),
    ...common,
    call: v.string(),
    tool: v.string(),
    action: Action,
    /** The human made it, not the agent. */
    by_human: Flag,
  }),
  v.strictObject({
    type: v.literal('result'),
    ...common,
    call: v.string(),
    /** Null where the agent does not say. */
    ok: v.nullable(v.boolean()),
    exit: v.nullable(v.number()),
    output: v.string(),
    /** The human rejected the call. What the human said about it follows as a prompt. */
    refused: Flag,
    /** What the call started still runs: this is its output so far, and another result follows. */
    running: Flag,
  }),
  /** The whole plan after a change to it. */
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

/** The texts by which an action is known: not what an edit took out and put in. */
export function listActionTexts(action: Action): string[] {
  switch (action.kind) {
    case 'edit':
      return action.edits.flatMap((edit) => [edit.path, edit.to ?? '']);
    case 'read':
      return [action.path];
    case 'command':
      return [action.command];
    case 'search':
      return [action.pattern, action.path ?? ''];
    case 'fetch':
      return [action.url];
    case 'delegate':
      return [action.task];
    case 'ask':
      return [action.question];
    case 'propose':
      return [action.text];
    case 'other':
      return action.texts;
  }
}

const HEAD = 16_000;
const TAIL = 8_000;
/** More than any key is long, with a prefix on each of its lines. */
const MARGIN = 32_000;

/**
 * The output of a tool as it is kept, once its secrets are taken out. Cut in the middle when long: the beginning shows what it
 * was, the end how it went.
 */
export function limitOutput(text: string): string {
  if (text.length <= HEAD + TAIL) return text;
  // No half of a placeholder stays, which would no longer be known as one.
  const { head, tail } = cutMiddle(text, HEAD, TAIL);
  return `${head.replace(/\[[^\s[\]]{0,60}$/, '')}\n…\n${tail.replace(/^[^\s[\]]{0,60}\]/, '')}`;
}

/** Before redaction: keeps so much around the final part that a secret which reaches into it is whole. */
export function limitRawOutput(text: string): string {
  if (text.length <= HEAD + TAIL + 2 * MARGIN) return text;
  const { head, tail } = cutMiddle(text, HEAD + MARGIN, TAIL + MARGIN);
  return `${head}\n…\n${tail}`;
}

/** Never between the two halves of one character. */
function cutMiddle(text: string, head: number, tail: number): { head: string; tail: string } {
  return {
    head: text.slice(0, head).replace(/[\ud800-\udbff]$/, ''),
    tail: text.slice(-tail).replace(/^[\udc00-\udfff]/, ''),
  };
}
