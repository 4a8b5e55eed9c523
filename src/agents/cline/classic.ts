import type { Event } from '../../model/event.ts';
import type { FoundSession, Reading } from '../agent.ts';
import { asRow, countUnknown, getAnyText, getRow, getText, type Row, toRows } from '../shared/json.ts';
import {
  makeCall,
  makeInjected,
  makePlan,
  makePrompt,
  makeReply,
  makeResult,
  makeStamp,
  type Stamp,
  toTimestamp,
} from '../shared/make-events.ts';
import { readChecklist } from '../shared/message-text.ts';
import { TouchedFiles } from '../shared/touched-files.ts';
import { splitReply, toClassicAction } from './classic-tools.ts';
import { readJsonFile } from './messages.ts';
import { readAddedTexts, readWrapped } from './user-text.ts';

/** A task of the extension's first generation: its conversation with the model, in which tools may be called by writing. */
export function* readTask(session: FoundSession, reading: Reading): Generator<Event> {
  const messages = readJsonFile(session.path);
  if (!Array.isArray(messages)) {
    reading.rows++;
    reading.unreadable++;
    return;
  }
  reading.sessionId = session.id;
  const reader = new TaskReader(session, reading);
  for (const [index, message] of messages.entries()) yield* reader.read(message, index + 1);
}

const RESULT = /^\[([\w-]{1,80})(?: for '[\s\S]{0,4000}?')?\] Result:\s*/;
const DENIED = /^(?:The user denied|The tool execution failed|\[ERROR\]|<error>|Error\b|Command failed)/;
const EXITED = /^Command (?:executed successfully \(|failed with )exit code (\d{1,5})/;

class TaskReader {
  readonly #session: FoundSession;
  readonly #reading: Reading;
  readonly #files = new TouchedFiles();
  readonly #native = new Map<string, string>();
  #last: Call | null = null;
  #lastPlan = '';
  #model: string | null = null;

  constructor(session: FoundSession, reading: Reading) {
    this.#session = session;
    this.#reading = reading;
  }

  *read(value: unknown, line: number): Generator<Event> {
    this.#reading.rows++;
    const message = asRow(value);
    if (message === null) {
      this.#reading.unreadable++;
      return;
    }
    this.#model = getAnyText(getRow(message, 'modelInfo'), 'modelId', 'id') ?? this.#model;
    const stamp = makeStamp({
      at: toTimestamp(message.ts),
      line,
      id: getText(message, 'id'),
      cwd: this.#session.cwd,
      model: this.#model,
    });
    const blocks =
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : toRows(message.content);
    if (message.role === 'assistant') for (const block of blocks) yield* this.#readAssistant(stamp, block);
    else if (message.role === 'user') yield* this.#readUser(stamp, blocks);
    else countUnknown(this.#reading.unknown, `role/${getText(message, 'role') ?? ''}`);
  }

  *#readAssistant(stamp: Stamp, block: Row): Generator<Event> {
    if (block.type === 'tool_use') {
      const tool = getText(block, 'name') ?? '';
      yield* this.#tellTool(stamp, { id: getText(block, 'id'), tool, input: getRow(block, 'input') });
    } else if (block.type === 'text') {
      const { said, call } = splitReply(getText(block, 'text') ?? '');
      yield* makeReply(stamp, said.trim());
      if (call !== null) yield* this.#tellTool(stamp, { id: null, ...call });
    }
  }

  *#tellTool(
    stamp: Stamp,
    { id, tool, input }: { id: string | null; tool: string; input: Row },
  ): Generator<Event> {
    yield* this.#tellProgress(stamp, getText(input, 'task_progress') ?? '');
    this.#last = { id: id ?? `${stamp.ref.line}`, tool };
    if (id !== null) this.#native.set(id, tool);
    const said = SAYING.has(tool) ? (getAnyText(input, 'result', 'response') ?? '') : null;
    if (said !== null) {
      yield* makeReply(stamp, said);
      return;
    }
    const { task_progress: _, ...rest } = input;
    const action = toClassicAction(tool, rest, { cwd: this.#session.cwd, files: this.#files });
    yield makeCall(stamp, { ...this.#last, action });
  }

  *#tellProgress(stamp: Stamp, list: string): Generator<Event> {
    const items = readChecklist(list);
    if (items.length === 0 || list === this.#lastPlan) return;
    this.#lastPlan = list;
    yield makePlan(stamp, items);
  }

  *#readUser(stamp: Stamp, blocks: readonly Row[]): Generator<Event> {
    let result: string[] | null = null;
    for (const block of blocks) {
      if (block.type === 'tool_result') yield* this.#readNative(stamp, block);
      const text = block.type === 'text' ? (getText(block, 'text') ?? '') : '';
      for (const added of readAddedTexts(text)) yield* makeInjected(stamp, added);
      if (/^\s*<environment_details>/.test(text)) continue;
      if (RESULT.test(text)) {
        if (result !== null) yield* this.#tellOutput(stamp, this.#last, result);
        result = [text.replace(RESULT, '')].filter((rest) => rest !== '');
      } else if (result !== null) result.push(text);
      else yield* makePrompt(stamp, readWrapped(text)?.said ?? '');
    }
    if (result !== null) yield* this.#tellOutput(stamp, this.#last, result);
  }

  *#readNative(stamp: Stamp, block: Row): Generator<Event> {
    const { content } = block;
    const id = getText(block, 'tool_use_id');
    const tool = id === null ? undefined : this.#native.get(id);
    const texts =
      typeof content === 'string'
        ? [content]
        : toRows(content).flatMap((part) => getText(part, 'text') ?? []);
    const call = id === null || tool === undefined ? this.#last : { id, tool };
    if (id !== null) this.#native.delete(id);
    yield* this.#tellOutput(
      stamp,
      call,
      texts.map((text) => text.replace(RESULT, '')),
    );
  }

  /** The human's answer or remark comes in the place of the result of what it is about, or after it. */
  *#tellOutput(stamp: Stamp, call: Call | null, texts: readonly string[]): Generator<Event> {
    const heard = texts.map((text, index) => {
      const isForeign = index === 0 && call !== null && SHOWING_TOOLS.has(call.tool);
      return isForeign ? null : readWrapped(text);
    });
    const isAnswer = heard[0]?.wrapper === 'answer' || heard[0]?.wrapper === 'user_message';
    if (call !== null && !SAYING.has(call.tool) && !isAnswer) {
      const output = texts.join('\n').trim();
      const exited = call.tool === 'execute_command' ? EXITED.exec(output)?.[1] : undefined;
      const exit = exited === undefined ? null : Number(exited);
      yield makeResult(stamp, {
        id: call.id,
        ok: exit === null ? !DENIED.test(output) : exit === 0,
        exit,
        output,
      });
    }
    for (const part of heard) yield* makePrompt(stamp, part?.said ?? '');
  }
}

interface Call {
  id: string;
  tool: string;
}

/** Tools by which the agent says something. */
const SAYING = new Set(['attempt_completion', 'plan_mode_respond', 'act_mode_respond', 'focus_chain']);

/** Tools whose result begins with what others wrote: nothing in it is the human's. */
const SHOWING_TOOLS = new Set([
  'access_mcp_resource',
  'browser_action',
  'list_code_definition_names',
  'list_files',
  'read_file',
  'search_files',
  'use_mcp_tool',
  'web_fetch',
  'web_search',
]);
