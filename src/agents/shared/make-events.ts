// The events of a session, made from what agents record. Imported as `make`: `make.prompt`, `make.call`.
import { type Action, type Event, limitRawOutput, type PlanItem } from '../../model/event.ts';
import { dropReminders, isOurBrief, splitBrief, toMessageText } from './message-text.ts';

/** When and where something happened: what all events have. */
export type Stamp = Pick<Event, 'at' | 'ref' | 'cwd' | 'branch' | 'model' | 'sidechain'>;

interface StampFacts extends Partial<Record<'cwd' | 'model' | 'branch', string | null>> {
  at: string | null;
  line: number;
  id: string | null;
}

export function stamp({ at, line, id, cwd, model, branch }: StampFacts): Stamp {
  return {
    at,
    ref: { line, id: id?.toWellFormed() ?? null },
    ...(cwd ? { cwd: cwd.toWellFormed() } : {}),
    ...(model ? { model: model.toWellFormed() } : {}),
    ...(branch ? { branch: branch.toWellFormed() } : {}),
  };
}

/** A prompt of the human, or of the agent that is named; what this product put into it is apart. Nothing for blank text. */
export function* prompt(
  stamp: Stamp,
  text: string,
  { from, steering = false }: { from?: string | undefined; steering?: boolean } = {},
): Generator<Event> {
  const { brief, said } = splitBrief(toMessageText(dropReminders(text)));
  if (brief !== '') yield { type: 'injected', ...stamp, text: brief };
  if (said.trim() === '') return;
  const author = from === undefined ? {} : { from: from.toWellFormed() };
  yield { type: 'prompt', ...stamp, text: said, ...author, ...(steering && { steering }) };
}

/** Text that a hook or plugin added: only a brief of this product is an event. */
export function* injected(stamp: Stamp, text: string): Generator<Event> {
  if (isOurBrief(text)) yield { type: 'injected', ...stamp, text: toMessageText(text) };
}

/** An interim one has its answer still to come. */
export function* reply(stamp: Stamp, text: string, isInterim = false): Generator<Event> {
  const said = toMessageText(text);
  if (isOurBrief(said)) yield { type: 'injected', ...stamp, text: said };
  else if (said.trim() !== '') yield { type: 'reply', ...stamp, text: said, ...(isInterim && { interim: true }) };
}

/** Nothing for one that the agent keeps to itself. */
export function* thought(stamp: Stamp, text: string): Generator<Event> {
  if (text.trim() !== '' && !isOurBrief(text)) yield { type: 'thought', ...stamp, text: toMessageText(text) };
}

type CallStamp = Stamp & { by_human?: true };

export function call(stamp: CallStamp, call: { id: string; tool: string; action: Action }): Event {
  const { id, tool, action } = call;
  return { type: 'call', ...stamp, call: id.toWellFormed(), tool: tool.toWellFormed(), action };
}

export interface CallOutcome {
  id: string;
  ok: boolean | null;
  exit: number | null;
  output: string;
  refused?: true;
  running?: true;
}

/** A brief of ours that the agent asked for is left out: it is about another session. */
export function result(stamp: Stamp, { id, ok, exit, output, refused, running }: CallOutcome): Event {
  const shown = isOurBrief(output) ? '' : limitRawOutput(dropReminders(output).toWellFormed());
  const result = { type: 'result', ...stamp, call: id.toWellFormed(), ok, exit, output: shown } as const;
  return { ...result, ...(refused && { refused }), ...(running && { running }) };
}

export function plan(stamp: Stamp, items: PlanItem[]): Event {
  return { type: 'plan', ...stamp, items };
}

export function compaction(stamp: Stamp, summary: string | null): Event {
  const text = summary === null || summary.trim() === '' ? null : toMessageText(summary);
  return { type: 'compaction', ...stamp, summary: text };
}

/** The human stopped the agent. */
export function interruption(stamp: Stamp): Event {
  return { type: 'interrupted', ...stamp };
}

export function limit(stamp: Stamp, text: string): Event {
  return { type: 'limit', ...stamp, text: toMessageText(text) };
}
