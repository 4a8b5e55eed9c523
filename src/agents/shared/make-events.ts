import type { Action, Event, PlanItem } from '../../model/event.ts';
import { formatTimestamp } from '../../model/time.ts';
import { dropReminders, isOurBrief, splitBrief, toMessageText } from './message-text.ts';

const MAX_OUTPUT = 24_000;
const HEAD = 16_000;
const TAIL = 8_000;

/** The output of a tool. Cut in the middle when long: the beginning shows what it was, the end how it went. */
function limitOutput(text: string): string {
  if (text.length <= MAX_OUTPUT) return text;
  // Never between the two halves of one character.
  const head = text.slice(0, HEAD).replace(/[\ud800-\udbff]$/, '');
  return `${head}\n…\n${text.slice(-TAIL).replace(/^[\udc00-\udfff]/, '')}`;
}

/** When and where something happened: what all events have. */
export type Stamp = Pick<Event, 'at' | 'ref' | 'cwd' | 'branch' | 'model'>;

interface StampFacts extends Partial<Record<'cwd' | 'model' | 'branch', string | null>> {
  at: string | null;
  line: number;
  id: string | null;
}

export function makeStamp({ at, line, id, cwd, model, branch }: StampFacts): Stamp {
  return {
    at,
    ref: { line, id: id?.toWellFormed() ?? null },
    ...(cwd ? { cwd: cwd.toWellFormed() } : {}),
    ...(model ? { model: model.toWellFormed() } : {}),
    ...(branch ? { branch: branch.toWellFormed() } : {}),
  };
}

/** From milliseconds since 1970 or a date with a time zone; null for anything else. */
export function toTimestamp(value: unknown): string | null {
  const ms = toMs(value);
  return ms === null ? null : formatTimestamp(ms);
}

export function toMs(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : value;
  return typeof ms === 'number' && Number.isFinite(ms) ? Math.trunc(ms) : null;
}

/** A prompt of the human, or of the agent that is named; what this product put into it is apart. Nothing for blank text. */
export function* makePrompt(stamp: Stamp, text: string, from?: string): Generator<Event> {
  const { brief, said } = splitBrief(toMessageText(dropReminders(text)));
  if (brief !== '') yield { type: 'injected', ...stamp, text: brief };
  if (said.trim() === '') return;
  yield { type: 'prompt', ...stamp, text: said, ...(from === undefined ? {} : { from: from.toWellFormed() }) };
}

/** Text that a hook or plugin added: only a brief of this product is an event. */
export function* makeInjected(stamp: Stamp, text: string): Generator<Event> {
  if (isOurBrief(text)) yield { type: 'injected', ...stamp, text: toMessageText(text) };
}

export function* makeReply(stamp: Stamp, text: string): Generator<Event> {
  const said = toMessageText(text);
  if (isOurBrief(said)) yield { type: 'injected', ...stamp, text: said };
  else if (said.trim() !== '') yield { type: 'reply', ...stamp, text: said };
}

export function makeCall(stamp: Stamp, call: { id: string; tool: string; action: Action }): Event {
  const { id, tool, action } = call;
  return { type: 'call', ...stamp, call: id.toWellFormed(), tool: tool.toWellFormed(), action };
}

export interface CallOutcome {
  id: string;
  ok: boolean | null;
  exit: number | null;
  output: string;
  refused?: true;
}

const EXIT_STATUS = /Command exited with code (\d{1,5})\s*$/;

/** The exit status that several agents put in the last line of a command's output. */
export function readExitStatus(output: string): number | null {
  const [, status] = EXIT_STATUS.exec(output.slice(-200)) ?? [];
  return status === undefined ? null : Number(status);
}

/** A brief of ours that the agent asked for is left out: it is about another session. */
export function makeResult(stamp: Stamp, { id, ok, exit, output, refused }: CallOutcome): Event {
  const shown = isOurBrief(output) ? '' : limitOutput(dropReminders(output).toWellFormed());
  const result = { type: 'result', ...stamp, call: id.toWellFormed(), ok, exit, output: shown } as const;
  return refused === undefined ? result : { ...result, refused };
}

export function makePlan(stamp: Stamp, items: PlanItem[]): Event {
  return { type: 'plan', ...stamp, items };
}

export function makeCompaction(stamp: Stamp, summary: string | null): Event {
  const text = summary === null || summary.trim() === '' ? null : toMessageText(summary);
  return { type: 'compaction', ...stamp, summary: text };
}

/** The human stopped the agent. */
export function makeInterruption(stamp: Stamp): Event {
  return { type: 'interrupted', ...stamp };
}

export function makeLimit(stamp: Stamp, text: string): Event {
  return { type: 'limit', ...stamp, text: toMessageText(text) };
}
