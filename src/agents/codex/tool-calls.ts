import { type Action, type Event, limitRawOutput } from '../../model/event.ts';
import { makeOtherAction, parseInput, readPlanItems } from '../shared/actions.ts';
import { TouchedFiles } from '../shared/files.ts';
import { asRow, getNumber, getRow, getText, parseRow, type Row } from '../shared/json.ts';
import * as make from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { listTexts, toMessageText } from '../shared/message-text.ts';
import { takeCall } from '../shared/pending-events.ts';
import { findInnerCalls } from './code-mode.ts';
import * as tools from './tools.ts';

/** A call without an output so far, with what other rows said about it meanwhile. Saved with a bookmark. */
interface OpenCall {
  /** What the output is: this call's, the human's answer, or nothing of use. */
  output: 'call' | 'human' | 'nowhere';
  /** The name of what it polls: the output belongs to the call that started that. */
  polled: string | null;
  /** Whether it is an event of its own all the same: it writes to what it polls. */
  writes: boolean;
  edits: boolean;
  commands: readonly string[];
  exits: number[];
  ok: boolean | null;
}

export interface CallsState {
  open: Map<string, OpenCall>;
  /** Calls whose process or script still runs, by the name under which it is polled, with the output so far. */
  running: Map<string, { call: string; output: string }>;
  /** Those that MCP servers read or wrote. */
  files: Set<string>;
}

/** The tool calls of a session. Each becomes one call event, however many rows describe it. */
export class ToolCalls {
  readonly #state: CallsState;
  readonly #files: TouchedFiles;

  constructor(state: CallsState) {
    this.#state = state;
    this.#files = new TouchedFiles(state.files);
  }

  *readCall(stamp: make.Stamp, payload: Row): Generator<Event> {
    const id = findCallId(payload) ?? `line ${stamp.ref.line}`;
    const isLocalShell = payload.type === 'local_shell_call';
    const name = isLocalShell ? 'local_shell' : (getText(payload, 'name') ?? '');
    const input = isLocalShell ? payload.action : parseInput(payload.arguments ?? payload.input);
    if (name === 'exec' && typeof input === 'string') yield* this.#readScript(stamp, id, input);
    else if (name === 'update_plan') {
      this.#open(id, { output: 'nowhere' });
      yield* makePlanOf(stamp, input);
    } else if (name === 'write_stdin' || (name === 'wait' && asRow(input)?.cell_id !== undefined)) {
      yield* this.#readPoll(stamp, id, name, input);
    } else {
      const namespace = getText(payload, 'namespace');
      const action = namespace === null ? this.#toAction(name, input, stamp) : this.#toMcpAction(name, input, stamp);
      this.#openFor(id, action);
      yield make.call(stamp, { id, tool: namespace === null ? name : `${namespace}__${name}`, action });
    }
  }

  #toAction(tool: string, input: unknown, stamp: make.Stamp): Action {
    const action = tools.toAction(tool, input, stamp.cwd ?? null);
    return action.kind === 'other' && tool.includes('__') ? this.#toMcpAction(tool, input, stamp) : action;
  }

  #toMcpAction(tool: string, input: unknown, { cwd = null }: { cwd?: string | null }): Action {
    return describeMcpFileCall({ tool, input: asRow(input) ?? {}, cwd }, this.#files) ?? makeOtherAction(input);
  }

  #open(id: string, call: Partial<OpenCall>): void {
    const blank = { polled: null, writes: false, edits: false, commands: [], exits: [], ok: null };
    this.#state.open.set(id, { output: 'call', ...blank, ...call });
  }

  #openFor(id: string, { kind }: Action, commands: readonly string[] = []): void {
    this.#open(id, { commands, edits: kind === 'edit', output: kind === 'ask' ? 'human' : 'call' });
  }

  #find(id: string | null): OpenCall | undefined {
    return id === null ? undefined : this.#state.open.get(id);
  }

  /** A poll is not a call of its own: its output belongs to the call that started what it asks about. */
  *#readPoll(stamp: make.Stamp, id: string, tool: string, input: unknown): Generator<Event> {
    const fields = asRow(input) ?? {};
    const name = fields.session_id === undefined ? `cell ${fields.cell_id}` : `${fields.session_id}`;
    const isKnown = this.#state.running.has(name);
    const writes = Boolean(getText(fields, 'chars'));
    this.#open(id, isKnown ? { polled: name, writes } : {});
    if (!isKnown || writes) yield make.call(stamp, { id, tool, action: makeOtherAction(input) });
  }

  /** A script stands for the commands in it. Its patches have rows of their own. */
  *#readScript(stamp: make.Stamp, id: string, source: string): Generator<Event> {
    const inner = findInnerCalls(source);
    const plans = inner.filter(({ name }) => name === 'update_plan');
    for (const { input } of plans) yield* makePlanOf(stamp, input);
    const work = inner.filter(({ name }) => name !== 'update_plan');
    if (work.length === 0 && plans.length > 0) return this.#open(id, { output: 'nowhere' });
    const commands = work.flatMap(({ name, input }) => {
      const fields = asRow(input) ?? {};
      return tools.COMMAND_TOOLS.has(name) ? (tools.readCommandLine(fields.cmd ?? fields.command) ?? []) : [];
    });
    const [first, ...others] = work;
    const only = others.length === 0 && first?.name !== 'apply_patch' ? first : undefined;
    let action: Action = makeOtherAction(source);
    if (only?.input !== undefined) action = this.#toAction(only.name, only.input, stamp);
    else if (commands.length > 0) {
      action = { kind: 'command', command: toMessageText(commands.join('\n')), background: false };
    }
    this.#openFor(id, action, commands);
    yield make.call(stamp, { id, tool: 'exec', action });
  }

  *readOutput(stamp: make.Stamp, payload: Row): Generator<Event> {
    const id = getText(payload, 'call_id');
    if (id === null) return;
    const call = takeCall(this.#state.open, id);
    if (call?.output === 'nowhere') return;
    if (call?.output === 'human') return yield* readAnswer(stamp, id, payload.output);
    const { ok, exit: ownExit, text, running } = tools.readToolOutput(payload.output);
    const exit = ownExit ?? call?.exits.find((code) => code !== 0) ?? call?.exits[0] ?? null;
    const isFine = exit === null ? (ok ?? call?.ok ?? null) : exit === 0;
    const outcome = { ok: isFine, exit: call?.edits ? null : exit };
    if (call?.writes) yield make.result(stamp, { id, ok: ownExit === null ? ok : true, exit: null, output: text });
    const polled = call?.polled ?? null;
    const origin = polled === null ? { call: id, output: '' } : takeCall(this.#state.running, polled);
    if (origin === undefined) return;
    const output = origin.output + text;
    if (running !== null) this.#state.running.set(running, { ...origin, output: limitRawOutput(output) });
    if (running !== null && polled !== null && text.trim() === '') return;
    yield make.result(stamp, { id: origin.call, ...outcome, output, ...(running !== null && { running: true }) });
  }

  /** The report of a patch whose call is an event already only says whether it was applied. */
  *readPatch(stamp: make.Stamp, payload: Row, id: string | null): Generator<Event> {
    const ok = payload.success !== false && payload.status !== 'failed' && payload.status !== 'declined';
    const call = this.#find(id);
    if (call?.edits) {
      call.ok = ok;
      return;
    }
    const edits = tools.readChanges(getRow(payload, 'changes'), stamp.cwd ?? null);
    if (id === null || edits.length === 0) return;
    const own = call === undefined ? id : `${id}:patch`;
    yield make.call(stamp, { id: own, tool: 'apply_patch', action: { kind: 'edit', edits } });
    const output = [getText(payload, 'stdout'), getText(payload, 'stderr')].filter((text) => text).join('\n');
    yield make.result(stamp, { id: own, ok, exit: null, output });
  }

  /** Commands of calls and scripts are events already; any other was started by the human. */
  *readExecution(stamp: make.Stamp, item: Row, id: string | null): Generator<Event> {
    const exit = getNumber(item, 'exit_code');
    const command = tools.readCommandLine(item.command);
    const call = this.#find(id) ?? this.#findScript(command ?? '');
    if (call !== undefined) {
      if (exit !== null) call.exits.push(exit);
      return;
    }
    const isAgents = item.source === 'agent' || item.source === 'unified_exec_interaction';
    if (id === null || command === null || isAgents) return;
    const action = tools.readCommand(command, stamp.cwd ?? null);
    yield make.call({ ...stamp, by_human: true }, { id, tool: 'CommandExecution', action });
    const ok = exit === null ? null : exit === 0;
    yield make.result(stamp, { id, ok, exit, output: getText(item, 'aggregated_output') ?? '' });
  }

  /** The script that runs a command. */
  #findScript(command: string): OpenCall | undefined {
    for (const call of this.#state.open.values()) if (call.commands.includes(command)) return call;
    return undefined;
  }

  noteOutcome(id: string | null, ok: boolean): void {
    const call = this.#find(id);
    if (call !== undefined) call.ok = ok;
  }
}

/** A web search. Its row is written when it is over, without what it found. */
export function* readSearch(stamp: make.Stamp, payload: Row): Generator<Event> {
  const fields = getRow(payload, 'action');
  const id = getText(payload, 'id') ?? `line ${stamp.ref.line}`;
  const url = getText(fields, 'url');
  const pattern = getText(fields, 'query', 'pattern') ?? listTexts(fields.queries).join(' ');
  if (url === null && pattern === '') return;
  const action: Action =
    url === null
      ? { kind: 'search', pattern: toMessageText(pattern), path: null }
      : { kind: 'fetch', url: toMessageText(url) };
  yield make.call(stamp, { id, tool: 'web_search', action });
  const status = getText(payload, 'status') ?? 'completed';
  if (status === 'in_progress') return;
  yield make.result(stamp, { id, ok: status === 'completed', exit: null, output: '' });
}

/** The id that a call and its output share. */
export function findCallId(payload: Row): string | null {
  return getText(payload, 'call_id', 'id');
}

function* makePlanOf(stamp: make.Stamp, input: unknown): Generator<Event> {
  const steps = asRow(input)?.plan;
  if (Array.isArray(steps)) yield make.plan(stamp, readPlanItems(steps, 'step'));
}

function* readAnswer(stamp: make.Stamp, id: string, output: unknown): Generator<Event> {
  const texts = listTexts(asRow(output)?.content ?? output);
  const answer = texts.map((text) => tools.readAnswers(parseRow(text) ?? {})).find((text) => text !== '');
  if (answer !== undefined) yield* make.prompt(stamp, answer);
  else yield make.result(stamp, { id, ok: null, exit: null, output: texts.join('\n') });
}
