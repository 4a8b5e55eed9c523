import type { Action, Event } from '../../model/event.ts';
import {
  asRow,
  getAnyText,
  getNumber,
  getRow,
  getText,
  parseAny,
  parseRow,
  type Row,
} from '../shared/json.ts';
import { makeCall, makePlan, makePrompt, makeResult, type Stamp } from '../shared/make-events.ts';
import { toMessageText } from '../shared/message-text.ts';
import {
  isCommandTool,
  readAnswers,
  readChanges,
  readCommand,
  readPlan,
  toAction,
  toOther,
} from './actions.ts';
import { findInnerCalls } from './code-mode.ts';
import { readCommandLine } from './commands.ts';
import { listTexts } from './human-text.ts';
import { type CallsState, OpenCalls } from './open-calls.ts';
import { readToolOutput } from './tool-output.ts';

/** The tool calls of a session: each is told once, whatever number of rows speak of it. */
export class ToolCalls {
  readonly #open: OpenCalls;

  constructor(state: CallsState) {
    this.#open = new OpenCalls(state);
  }

  *readCall(stamp: Stamp, payload: Row): Generator<Event> {
    const id = findCallId(payload) ?? `line ${stamp.ref.line}`;
    const kind = payload.type;
    const name = kind === 'local_shell_call' ? 'local_shell' : (getText(payload, 'name') ?? '');
    const input =
      kind === 'local_shell_call' ? payload.action : readInput(payload.arguments ?? payload.input);
    if (name === 'exec' && typeof input === 'string') yield* this.#readScript(stamp, id, input);
    else if (name === 'update_plan') yield* this.#readPlan(stamp, id, input);
    else if (isPoll(name, input)) yield* this.#readPoll(stamp, { id, name, input });
    else {
      const namespace = getText(payload, 'namespace');
      const action = namespace === null ? toAction(name, input, cwdOf(stamp)) : toOther(input);
      yield* this.#begin(stamp, { id, tool: namespace === null ? name : `${namespace}__${name}`, action });
    }
  }

  *#begin(stamp: Stamp, call: { id: string; tool: string; action: Action }): Generator<Event> {
    const { kind } = call.action;
    this.#open.open(call.id, { edits: kind === 'edit', output: kind === 'ask' ? 'human' : 'call' });
    yield makeCall(stamp, call);
  }

  *#readPlan(stamp: Stamp, id: string, input: unknown): Generator<Event> {
    this.#open.open(id, { output: 'nowhere' });
    const items = readPlan(input);
    if (items.length > 0) yield makePlan(stamp, items);
  }

  /** Asking how something goes on is no call of its own: the answer belongs to what was started. */
  *#readPoll(
    stamp: Stamp,
    { id, name, input }: { id: string; name: string; input: unknown },
  ): Generator<Event> {
    const fields = asRow(input) ?? {};
    const running = fields.session_id === undefined ? `cell ${fields.cell_id}` : `${fields.session_id}`;
    const origin = this.#open.findRunning(running);
    this.#open.open(id, origin === null ? {} : { output: 'origin', origin });
    if (origin === null || getText(fields, 'chars'))
      yield makeCall(stamp, { id, tool: name, action: toOther(input) });
  }

  /** A script is told by the commands in it, where it has some. What it patches is told by rows of its own. */
  *#readScript(stamp: Stamp, id: string, source: string): Generator<Event> {
    const inner = findInnerCalls(source);
    const plans = inner.filter(({ name }) => name === 'update_plan');
    for (const { input } of plans) {
      const items = readPlan(input);
      if (items.length > 0) yield makePlan(stamp, items);
    }
    const work = inner.filter(({ name }) => name !== 'update_plan');
    if (work.length === 0 && plans.length > 0) {
      this.#open.open(id, { output: 'nowhere' });
      return;
    }
    const commands = work.flatMap(({ name, input }) => {
      const fields = asRow(input) ?? {};
      return isCommandTool(name) ? (readCommandLine(fields.cmd ?? fields.command) ?? []) : [];
    });
    const [only, ...others] = work;
    let action: Action = toOther(source);
    if (
      only !== undefined &&
      others.length === 0 &&
      only.name !== 'apply_patch' &&
      only.input !== undefined
    ) {
      action = toAction(only.name, only.input, cwdOf(stamp));
    } else if (commands.length > 0) {
      action = { kind: 'command', command: toMessageText(commands.join('\n')), background: false };
    }
    this.#open.open(id, {
      commands,
      edits: action.kind === 'edit',
      output: action.kind === 'ask' ? 'human' : 'call',
    });
    yield makeCall(stamp, { id, tool: 'exec', action });
  }

  *readOutput(stamp: Stamp, payload: Row): Generator<Event> {
    const id = getText(payload, 'call_id');
    if (id === null) return;
    const call = this.#open.close(id);
    if (call?.output === 'nowhere') return;
    const told = readToolOutput(payload.output);
    if (call?.output === 'human') {
      yield* this.#readAnswer(stamp, id, payload.output);
      return;
    }
    const target = call?.origin ?? id;
    if (told.running !== null) this.#open.leaveRunning(told.running, target);
    if (call?.output === 'origin' && told.running !== null && told.text.trim() === '') return;
    const exit = told.exit ?? call?.exits.find((code) => code !== 0) ?? call?.exits[0] ?? null;
    const ok = exit === null ? (told.ok ?? call?.ok ?? null) : exit === 0;
    yield makeResult(stamp, { id: target, ok, exit: call?.edits ? null : exit, output: told.text });
  }

  *#readAnswer(stamp: Stamp, id: string, output: unknown): Generator<Event> {
    const texts = listTexts(asRow(output)?.content ?? output);
    const answer = texts.map((text) => readAnswers(parseRow(text) ?? {})).find((text) => text !== '');
    if (answer !== undefined) yield* makePrompt(stamp, answer);
    else yield makeResult(stamp, { id, ok: null, exit: null, output: texts.join('\n') });
  }

  /** A patch whose call was told already is not told again. */
  *readPatch(stamp: Stamp, payload: Row, id: string | null): Generator<Event> {
    const ok = payload.success !== false && payload.status !== 'failed' && payload.status !== 'declined';
    const call = id === null ? undefined : this.#open.find(id);
    if (call?.edits) {
      call.ok = ok;
      return;
    }
    const edits = readChanges(getRow(payload, 'changes'), cwdOf(stamp));
    if (id === null || edits.length === 0) return;
    const own = call === undefined ? id : `${id}:patch`;
    yield makeCall(stamp, { id: own, tool: 'apply_patch', action: { kind: 'edit', edits } });
    const output = [getText(payload, 'stdout'), getText(payload, 'stderr')].filter((text) => text).join('\n');
    yield makeResult(stamp, { id: own, ok, exit: null, output });
  }

  /** Commands of calls and scripts are told by those; what is left was started by the human. */
  *readExecution(stamp: Stamp, item: Row, id: string | null): Generator<Event> {
    const exit = getNumber(item, 'exit_code');
    const command = readCommandLine(item.command);
    const call = (id === null ? undefined : this.#open.find(id)) ?? this.#open.findScript(command ?? '');
    if (call !== undefined) {
      if (exit !== null) call.exits.push(exit);
      return;
    }
    if (
      id === null ||
      command === null ||
      item.source === 'agent' ||
      item.source === 'unified_exec_interaction'
    )
      return;
    yield makeCall(stamp, { id, tool: 'CommandExecution', action: readCommand(command, cwdOf(stamp)) });
    const ok = exit === null ? null : exit === 0;
    yield makeResult(stamp, { id, ok, exit, output: getText(item, 'aggregated_output') ?? '' });
  }

  noteOutcome(id: string | null, ok: boolean): void {
    const call = id === null ? undefined : this.#open.find(id);
    if (call !== undefined) call.ok = ok;
  }

  *readSearch(stamp: Stamp, payload: Row): Generator<Event> {
    const action = getRow(payload, 'action');
    const id = getText(payload, 'id') ?? `line ${stamp.ref.line}`;
    const url = getText(action, 'url');
    const pattern = getAnyText(action, 'query', 'pattern') ?? listTexts(action.queries).join(' ');
    if (url === null && pattern === '') return;
    yield makeCall(stamp, {
      id,
      tool: 'web_search',
      action:
        url === null
          ? { kind: 'search', pattern: toMessageText(pattern), path: null }
          : { kind: 'fetch', url: toMessageText(url) },
    });
    // The row is written when the search is over; what it found goes to the model alone.
    const status = getText(payload, 'status') ?? 'completed';
    if (status !== 'in_progress')
      yield makeResult(stamp, { id, ok: status === 'completed', exit: null, output: '' });
  }
}

/** The name under which a call and its output know each other. */
export function findCallId(payload: Row): string | null {
  return getAnyText(payload, 'call_id', 'id');
}

function cwdOf({ cwd }: Stamp): string | null {
  return cwd ?? null;
}

/** Inputs are the JSON of an object, or free text. */
function readInput(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  return asRow(parseAny(input)) ?? input;
}

function isPoll(name: string, input: unknown): boolean {
  const fields = asRow(input) ?? {};
  return name === 'write_stdin' || (name === 'wait' && fields.cell_id !== undefined);
}
