import * as v from 'valibot';
import { findFailureLines } from '../../distill/outcome.ts';
import { type Action, type Event, listActionTexts } from '../../model/event.ts';
import { computeFactId } from '../../model/fact.ts';
import { baseName } from '../../model/paths.ts';
import { compareErrors, normaliseError } from '../ask/error-shape.ts';
import { Changes } from './changes.ts';
import { findLook, hasCheck, nameUse } from './classify-command.ts';

export const DEBT_KINDS = ['file', 'command', 'error', 'rejected', 'question'] as const;
export type DebtKind = (typeof DEBT_KINDS)[number];

const Count = v.number();

/** Something that was found out again, and where it had been found out before. Lines are those of transcripts, from 1. */
export const FoundAgain = v.object({
  kind: v.picklist(DEBT_KINDS),
  /** The path, the command, the error, the rejected idea or the question. */
  text: v.string(),
  line: Count,
  before: v.object({ line: v.nullable(Count), in: v.picklist(['same', 'previous', 'handover']) }),
});
export type FoundAgain = v.InferOutput<typeof FoundAgain>;

/** What followed an earlier session, or a compaction of its own session. */
export const Successor = v.object({
  /** 0: the beginning of the session; n: after its nth compaction. */
  part: Count,
  line: Count,
  started_at: v.nullable(v.string()),
  calls: Count,
  /** What this product put into it, as far as the transcript shows. */
  injected: v.nullable(v.picklist(['brief', 'hint'])),
  found: v.array(FoundAgain),
  /** Null when nothing was edited. Minutes without those in which the user was waited for; tokens are counted elsewhere. */
  first_edit: v.nullable(v.object({ line: Count, calls: Count, minutes: Count, tokens: v.nullable(Count) })),
});
export type Successor = v.InferOutput<typeof Successor>;

export interface Sources {
  /** The events of the session before it; empty when it follows none. */
  previous: Iterable<Event>;
  own: Iterable<Event>;
  /** Rejected and refuted facts, and since when they are. */
  rejected: readonly { text: string; at: string }[];
}

/** What a session found out again, by part; only of the parts that follow something. */
export function findAgain({ previous, own, rejected }: Sources): Successor[] {
  const search = new Search(rejected);
  for (const event of previous) search.add(event);
  const follows = search.calls > 0;
  search.beginSession();
  for (const event of own) search.add(event);
  return search.finish().filter(({ part, calls }) => calls > 0 && (part > 0 || follows));
}

interface Look {
  part: number;
  call: number;
  line: number;
  output: string;
}

interface Failure {
  shape: ReturnType<typeof normaliseError>;
  part: number;
  line: number;
  /** The part in which the same went well afterwards. */
  solvedIn: number | null;
}

interface OpenCall {
  /** Its number, and how many calls its part had before it. */
  call: number;
  before: number;
  part: number;
  line: number;
  tool: string;
  action: Action;
  /** Whether the agent itself made it, and neither a sub-agent nor the user. */
  isOwn: boolean;
}

/** The part before the session itself. */
const PREVIOUS = -1;
/** Outputs beyond this many characters are not kept: what cannot be compared is not counted. */
const MAX_KEPT = 32 * 1024 * 1024;
/** How many earlier looks at the same thing, or failures of the same command, are compared. */
const MAX_COMPARED = 50;

class Search {
  calls = 0;
  readonly #changes = new Changes();
  readonly #rejected: ReadonlyMap<string, Sources['rejected'][number]>;
  readonly #parts: Successor[] = [];
  #part = PREVIOUS;
  #kept = 0;
  #lastAt: string | null = null;
  #minutes = 0;
  readonly #open = new Map<string, OpenCall>();
  readonly #looks = new Map<string, Look[]>();
  readonly #failures = new Map<string, Failure[]>();
  readonly #questions = new Map<string, { part: number; line: number }>();
  /** What was counted in this part. */
  #counted = new Set<string>();
  #reads: { path: string; call: number; item: FoundAgain }[] = [];

  constructor(rejected: Sources['rejected']) {
    this.#rejected = new Map(
      rejected.flatMap((one) => listWordings(one.text).map((words) => [idOf(words), one] as const)),
    );
  }

  beginSession(): void {
    this.#open.clear();
    this.#begin(0, null);
  }

  finish(): Successor[] {
    this.#settleReads();
    return this.#parts;
  }

  add(event: Event): void {
    if (event.type === 'compaction' && !event.sidechain) {
      if (this.#part !== PREVIOUS) this.#begin(this.#part + 1, event);
      return;
    }
    this.#passTime(event);
    this.#changes.addEvent(event, this.calls);
    if (event.type === 'call') this.#addCall(event);
    else if (event.type === 'result') this.#addResult(event);
    else if (event.type === 'plan') this.#addPlan(event);
    else if (event.type === 'injected') this.#noteInjected(event.text);
  }

  get #current(): Successor | undefined {
    return this.#parts.at(-1);
  }

  #begin(part: number, event: Event | null): void {
    this.#settleReads();
    this.#part = part;
    this.#minutes = 0;
    this.#lastAt = event?.at ?? null;
    this.#counted = new Set();
    const [line, started_at] = [event?.ref.line ?? 1, event?.at ?? null];
    this.#parts.push({ part, line, started_at, calls: 0, injected: null, found: [], first_edit: null });
  }

  /** Until a prompt, the user was waited for; as in a long gap before a result, for which somebody had to approve the call. */
  #passTime(event: Event): void {
    const { at } = event;
    const part = this.#current;
    if (at === null || part === undefined) return;
    part.started_at ??= at;
    const passed = this.#lastAt === null ? 0 : Date.parse(at) - Date.parse(this.#lastAt);
    if (event.type !== 'prompt' && passed > 0 && passed <= LONGEST_STEP_MS) this.#minutes += passed / MINUTE_MS;
    this.#lastAt = at;
  }

  #noteInjected(text: string): void {
    const part = this.#current;
    if (part !== undefined && part.injected !== 'brief') part.injected = text.includes('\n') ? 'brief' : 'hint';
  }

  #addCall(event: Extract<Event, { type: 'call' }>): void {
    const { tool, action, ref } = event;
    const isOwn = event.sidechain !== true && event.by_human !== true;
    const part = this.#current;
    const place = { call: ++this.calls, before: part?.calls ?? 0, part: this.#part, line: ref.line };
    this.#open.set(event.call, { ...place, tool, action, isOwn });
    if (!isOwn) return;
    if (part !== undefined) part.calls++;
    if (action.kind === 'ask') this.#addQuestion(action.question, ref.line);
    else if (action.kind === 'command' || action.kind === 'propose')
      for (const text of listActionTexts(action)) this.#matchRejected(text, event);
  }

  /** Such an event is mostly a call of its own. */
  #addPlan(event: Extract<Event, { type: 'plan' }>): void {
    if (event.sidechain) return;
    const isCounted = [...this.#open.values()].some(({ line }) => line === event.ref.line);
    const part = this.#current;
    if (!isCounted && part !== undefined) part.calls++;
    for (const { text } of event.items) if (this.#matchRejected(text, event)) return;
  }

  #matchRejected(text: string, { at, ref: { line } }: Event): boolean {
    const found = this.#rejected.get(idOf(text));
    if (found === undefined || at === null || at < found.at) return false;
    return this.#count({ kind: 'rejected', text: found.text, line, before: { line: null, in: 'handover' } });
  }

  #addQuestion(text: string, line: number): void {
    const key = idOf(text);
    const before = this.#questions.get(key);
    if (before !== undefined && before.part < this.#part)
      this.#count({ kind: 'question', text, line, before: this.#placeOf(before) });
    this.#questions.set(key, { part: this.#part, line });
  }

  #addResult(event: Extract<Event, { type: 'result' }>): void {
    const call = this.#open.get(event.call);
    if (call === undefined || event.running) return;
    this.#open.delete(event.call);
    if (event.refused) return;
    const failed = event.ok === false || (event.exit ?? 0) !== 0;
    const { action } = call;
    this.#changes.addCall(action, call.call, failed);
    if (call.part !== this.#part) return;
    if (action.kind === 'edit' && !failed) this.#noteEdit(call);
    if (!call.isOwn) return;
    if (failed) this.#addFailure(call, event.output);
    else {
      this.#solve(call, event.output);
      if (event.ok !== null || action.kind !== 'command') this.#addLook(call, event.output.trim());
    }
  }

  #noteEdit({ line, before }: OpenCall): void {
    const part = this.#current;
    if (part !== undefined)
      part.first_edit ??= { line, calls: before, minutes: Math.round(this.#minutes * 10) / 10, tokens: null };
  }

  #addLook({ action, call, line }: OpenCall, output: string): void {
    const key = keyOfLook(action);
    if (key === null) return;
    const known = this.#looks.get(key) ?? [];
    const shows = action.kind === 'read' ? showLines : showAll;
    const earlier = known.filter((look) => {
      const isOfSession = look.part !== PREVIOUS;
      return look.part < this.#part && this.#changes.stands(action, { call: look.call, isOfSession });
    });
    const here = known.filter((look) => look.part === this.#part);
    const last = earlier.at(-1);
    if (last !== undefined && shows(earlier, output) && !shows(here, output)) {
      const [text = ''] = listActionTexts(action);
      const kind = action.kind === 'read' ? 'file' : 'command';
      const item: FoundAgain = { kind, text, line, before: this.#placeOf(last) };
      if (this.#count(item) && action.kind === 'read') this.#reads.push({ path: action.path, call, item });
    }
    this.#kept += output.length;
    if (this.#kept > MAX_KEPT) return;
    this.#looks.set(key, [...known.slice(1 - MAX_COMPARED), { part: this.#part, call, line, output }]);
  }

  /** Agents must read a file before they edit it: such reads are no debt. */
  #settleReads(): void {
    const part = this.#current;
    const needed = this.#reads.filter(({ path, call }) => this.#changes.wasEdited(path, call)).map(({ item }) => item);
    if (part !== undefined) part.found = part.found.filter((item) => !needed.includes(item));
    this.#reads = [];
  }

  #addFailure({ action, tool, line }: OpenCall, output: string): void {
    const key = keyOfFailure(action, tool);
    const [text] = findFailureLines(output, 1);
    if (key === null || text === undefined || /^(?:error: )?exit code/i.test(text)) return;
    const shape = normaliseError(text);
    const known = this.#failures.get(key) ?? [];
    const before = known.findLast(
      (one) => (one.solvedIn ?? this.#part) < this.#part && compareErrors(one.shape, shape) === 'same',
    );
    if (before !== undefined) this.#count({ kind: 'error', text, line, before: this.#placeOf(before) });
    this.#failures.set(key, [...known.slice(1 - MAX_COMPARED), { shape, part: this.#part, line, solvedIn: null }]);
  }

  /** A pipe hides the status of a command that failed, but not what it said. */
  #solve({ action, tool }: OpenCall, output: string): void {
    const known = this.#failures.get(keyOfFailure(action, tool) ?? '');
    if (known === undefined) return;
    const shapes = findFailureLines(output, 1).map(normaliseError);
    for (const failure of known)
      if (!shapes.some((shape) => compareErrors(failure.shape, shape) !== null)) failure.solvedIn ??= this.#part;
  }

  #placeOf({ part, line }: { part: number; line: number }): FoundAgain['before'] {
    return { line, in: part === PREVIOUS ? 'previous' : 'same' };
  }

  /** False when it was counted already, or in the previous session. */
  #count(item: FoundAgain): boolean {
    const key = `${item.kind}\n${item.text}`;
    const part = this.#current;
    if (part === undefined || this.#counted.has(key) || part.found.length >= part.calls) return false;
    this.#counted.add(key);
    part.found.push(item);
    return true;
  }
}

const MINUTE_MS = 60_000;
/** Agents stop a command in the foreground after this time at the latest. */
const LONGEST_STEP_MS = 10 * MINUTE_MS;

/** The same words, whatever their case and white space. */
function idOf(text: string): string {
  return computeFactId('note', text);
}

/** A rejected idea, and the commands in it. */
function listWordings(text: string): string[] {
  return [
    text,
    ...Array.from(text.matchAll(/`([^`\n]{3,200})`/g), ([, code = '']) => code).filter((code) => /\S\s+\S/.test(code)),
  ];
}

/** Whether every line of a text was shown before. Files are read in parts, which may differ the next time. */
function showLines(looks: readonly Look[], text: string): boolean {
  if (text === '') return false;
  const shown = new Set(looks.flatMap(({ output }) => output.split('\n').map((line) => line.trim())));
  return text.split('\n').every((line) => shown.has(line.trim()));
}

function showAll(looks: readonly Look[], text: string): boolean {
  return looks.some(({ output }) => output === text);
}

/** The key by which a repeated look is recognised; null for other actions. */
function keyOfLook(action: Action): string | null {
  if (action.kind === 'read') return `read\n${action.path}`;
  if (action.kind === 'search') return `search\n${action.path}\n${action.pattern}`;
  if (action.kind !== 'command' || action.background || hasCheck(action.command) || findLook(action.command) === null)
    return null;
  return `command\n${action.folder}\n${action.command.replace(/\s+/g, ' ').trim()}`;
}

/** What has to go well for a failure to be solved. Failed checks are part of the work; so are edits that did not apply. */
function keyOfFailure(action: Action, tool: string): string | null {
  if (action.kind === 'read') return `read\n${baseName(action.path)}`;
  if (action.kind === 'other') return `${tool}\n${action.texts.join('\n')}`;
  if (action.kind !== 'command' || action.background || hasCheck(action.command)) return null;
  return `command\n${nameUse(action.command)}`;
}
