import type { Action, Event, PlanItem } from '../model/event.ts';
import { formatTimestamp } from '../model/time.ts';
import { limitOutput } from './output.ts';
import { dropReminders, isOurBrief, keepSpoken } from './spoken-text.ts';

/** When and where something happened: what all events have. */
export type Stamp = Pick<Event, 'at' | 'ref' | 'cwd' | 'branch' | 'model'>;

export interface StampFacts {
  at: string | null;
  line: number;
  id: string | null;
  cwd?: string | null;
  model?: string | null;
}

export function makeStamp({ at, line, id, cwd, model }: StampFacts): Stamp {
  return {
    at,
    ref: { line, id: id === null ? null : id.toWellFormed() },
    ...(cwd ? { cwd: cwd.toWellFormed() } : {}),
    ...(model ? { model: model.toWellFormed() } : {}),
  };
}

/** Milliseconds since 1970 or a date with a time zone, as the one form of times; null for anything else. */
export function toTimestamp(value: unknown): string | null {
  const ms = toMs(value);
  return ms === null ? null : formatTimestamp(ms);
}

export function toMs(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : value;
  return typeof ms === 'number' && Number.isFinite(ms) ? Math.trunc(ms) : null;
}

/** What the human said, or what this product said in the human's place; nothing for blank text. */
export function* tellPrompt(stamp: Stamp, text: string): Generator<Event> {
  const said = keepSpoken(dropReminders(text));
  if (isOurBrief(said)) yield { type: 'injected', ...stamp, text: said };
  else if (said.trim() !== '') yield { type: 'prompt', ...stamp, text: said };
}

/** Text that a hook or plugin added: told only when it is a brief of this product. */
export function* tellAdded(stamp: Stamp, text: string): Generator<Event> {
  if (isOurBrief(text)) yield { type: 'injected', ...stamp, text: keepSpoken(text) };
}

export function* tellReply(stamp: Stamp, text: string): Generator<Event> {
  const said = keepSpoken(text);
  if (isOurBrief(said)) yield { type: 'injected', ...stamp, text: said };
  else if (said.trim() !== '') yield { type: 'reply', ...stamp, text: said };
}

export function tellCall(stamp: Stamp, call: { id: string; tool: string; action: Action }): Event {
  const { id, tool, action } = call;
  return { type: 'call', ...stamp, call: id.toWellFormed(), tool: tool.toWellFormed(), action };
}

export interface Outcome {
  id: string;
  ok: boolean | null;
  exit: number | null;
  output: string;
  refused?: true;
}

/** A brief that the agent asked for is known already, and nothing that happened in this session. */
export function tellResult(stamp: Stamp, { id, ok, exit, output, refused }: Outcome): Event {
  const shown = isOurBrief(output) ? '' : limitOutput(dropReminders(output).toWellFormed());
  const result = { type: 'result', ...stamp, call: id.toWellFormed(), ok, exit, output: shown } as const;
  return refused === undefined ? result : { ...result, refused };
}

export function tellPlan(stamp: Stamp, items: PlanItem[]): Event {
  return { type: 'plan', ...stamp, items };
}

export function tellCompaction(stamp: Stamp, summary: string | null): Event {
  const told = summary === null || summary.trim() === '' ? null : keepSpoken(summary);
  return { type: 'compaction', ...stamp, summary: told };
}

export function tellLimit(stamp: Stamp, text: string): Event {
  return { type: 'limit', ...stamp, text: keepSpoken(text) };
}
