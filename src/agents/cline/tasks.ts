import type { Action, Event, FileEdit } from '../../model/event.ts';
import type { FoundSession, Reading } from '../agent.ts';
import { readChecklist } from '../checklist.ts';
import { asRow, collectTexts, countUnknown, getAnyText, getRow, getText, type Row, toRows } from '../json.ts';
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
} from '../make-events.ts';
import { toMessageText } from '../message-text.ts';
import { resolveFilePath, TouchedFiles } from '../touched-files.ts';
import { readAddedTexts, readWrapped } from './prompts.ts';
import { toPatch } from './tools.ts';
import { readJsonFile } from './transcript.ts';

const TOOLS =
  'execute_command|read_file|write_to_file|replace_in_file|new_rule|search_files|list_files|list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|attempt_completion|plan_mode_respond|act_mode_respond|new_task|load_mcp_documentation|web_fetch|web_search|condense|summarize_task|report_bug|use_skill|use_subagents|apply_patch|generate_explanation|focus_chain';
const OPENING = new RegExp(`<(${TOOLS})>`);
const PARAMETERS = [
  'absolutePath',
  'action',
  'arguments',
  'command',
  'content',
  'context',
  'coordinate',
  'diff',
  'file_pattern',
  'input',
  'options',
  'path',
  'prompt',
  'query',
  'question',
  'recursive',
  'regex',
  'requires_approval',
  'response',
  'result',
  'server_name',
  'skill_name',
  'task_progress',
  'text',
  'tool_name',
  'uri',
  'url',
];
/** Their text may hold the closing tag of another file: the last one counts. */
const FREE_TEXT = new Set(['content', 'diff', 'input', 'result', 'response']);

export interface WrittenCall {
  tool: string;
  input: Row;
}

/** A reply of the time when tools were called by writing them out: what was said, and the call. */
export function splitReply(text: string): { said: string; call: WrittenCall | null } {
  const spoken = dropThoughts(text);
  const opening = OPENING.exec(spoken);
  if (opening === null) return { said: spoken, call: null };
  const tool = opening[1] ?? '';
  const start = opening.index + opening[0].length;
  const end = spoken.lastIndexOf(`</${tool}>`);
  const body = spoken.slice(start, end < start ? undefined : end);
  return { said: spoken.slice(0, opening.index), call: { tool, input: readParameters(body) } };
}

const THOUGHT = '<thinking>';
const THOUGHT_END = '</thinking>';

function dropThoughts(text: string): string {
  let kept = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(THOUGHT, at);
    const end = start === -1 ? -1 : text.indexOf(THOUGHT_END, start);
    if (end === -1) return kept + text.slice(at);
    kept += text.slice(at, start);
    at = end + THOUGHT_END.length;
  }
}

function readParameters(body: string): Row {
  const found = PARAMETERS.flatMap((name) => {
    const start = body.indexOf(`<${name}>`);
    if (start === -1) return [];
    const from = start + name.length + 2;
    const end = FREE_TEXT.has(name) ? body.lastIndexOf(`</${name}>`) : body.indexOf(`</${name}>`, from);
    return [[name, trimLines(body.slice(from, end < from ? undefined : end))] as const];
  });
  return Object.fromEntries(found);
}

function trimLines(text: string): string {
  return text.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
}

/** What a call does; null for those that only say something. */
export function toClassicAction(
  tool: string,
  input: Row,
  context: { cwd: string | null; files: TouchedFiles },
): Action {
  return toKnown(tool, input, context) ?? { kind: 'other', texts: collectTexts(input).map(toMessageText) };
}

function toKnown(
  tool: string,
  input: Row,
  { cwd, files }: { cwd: string | null; files: TouchedFiles },
): Action | null {
  const given = getAnyText(input, 'absolutePath', 'path');
  const path = given === null ? null : resolveFilePath(given.trim(), cwd);
  const say = (name: string, make: (text: string) => Action): Action | null => {
    const text = getText(input, name);
    return text === null ? null : make(toMessageText(text));
  };
  switch (tool) {
    case 'execute_command':
      return say('command', (command) => ({ kind: 'command', command, background: false }));
    case 'read_file':
      if (path !== null) files.meet(path);
      return path === null ? null : { kind: 'read', path };
    case 'write_to_file':
    case 'new_rule': {
      const content = getText(input, 'content') ?? '';
      return path === null ? null : { kind: 'edit', edits: [files.write(path, content)] };
    }
    case 'replace_in_file': {
      const edits = path === null ? [] : readReplacements(getText(input, 'diff') ?? '', path, files);
      return edits.length === 0 ? null : { kind: 'edit', edits };
    }
    case 'apply_patch':
      return toPatch(getText(input, 'input'), cwd)[0] ?? null;
    case 'search_files':
      return say('regex', (pattern) => ({ kind: 'search', pattern, path }));
    case 'list_files':
    case 'list_code_definition_names':
      return path === null ? null : { kind: 'search', pattern: '*', path };
    case 'web_search':
      return say('query', (pattern) => ({ kind: 'search', pattern, path: null }));
    case 'web_fetch':
      return say('url', (url) => ({ kind: 'fetch', url }));
    case 'new_task':
      return say('context', (task) => ({ kind: 'delegate', task }));
    case 'ask_followup_question':
      return say('question', (question) => ({ kind: 'ask', question }));
    default:
      return null;
  }
}

/** Blocks of what to look for and what to put in its place, between lines that only mark. */
function readReplacements(diff: string, path: string, files: TouchedFiles): FileEdit[] {
  const edits: FileEdit[] = [];
  let before: string[] | null = null;
  let after: string[] | null = null;
  for (const line of diff.split(/\r?\n/)) {
    if (/^[-<]{7} SEARCH>?\s*$/.test(line)) {
      before = [];
      after = null;
    } else if (before !== null && after === null && /^={7}\s*$/.test(line)) after = [];
    else if (before !== null && after !== null && /^[+>]{7} REPLACE>?\s*$/.test(line)) {
      edits.push(files.edit(path, before.join('\n'), after.join('\n')));
      before = null;
      after = null;
    } else (after ?? before)?.push(line);
  }
  return edits;
}

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
