import type { Action, Event, FileEdit } from '../../model/event.ts';
import { countUnknown, type FoundSession, type ReadStats } from '../agent.ts';
import { makeOtherAction, makePatchAction, makeTextAction, parseInput, type ToolCall } from '../shared/actions.ts';
import { resolveFilePath, TouchedFiles } from '../shared/files.ts';
import { asRow, getRow, getText, type Row, toTimestamp } from '../shared/json.ts';
import * as make from '../shared/make-events.ts';
import { describeMcpFileCall } from '../shared/mcp-files.ts';
import { dropElements, listTexts, readChecklist, toBlocks } from '../shared/message-text.ts';
import { takeCall } from '../shared/pending-events.ts';
import { readAddedTexts, readWrapped } from './prompts.ts';

const RESULT = /^\[([\w-]{1,80})(?: for '[\s\S]{0,4000}?')?\] Result:\s*/;
const DENIED = /^(?:The user denied|The tool execution failed|\[ERROR\]|<error>|Error\b|Command failed)/;
const EXITED = /^Command (?:executed successfully \(|failed with )exit code (\d{1,5})/;

/** Tools that only say something. */
const SAYING_TOOLS = new Set(['attempt_completion', 'plan_mode_respond', 'act_mode_respond', 'focus_chain']);

/** Tools whose result begins with text by others: nothing in it is the human's. */
const SHOWING_TOOLS = new Set(
  (
    'access_mcp_resource browser_action list_code_definition_names list_files read_file search_files ' +
    'use_mcp_tool web_fetch web_search'
  ).split(' '),
);

type Call = { id: string; tool: string };

/** Reads a task of the editor extension, in which the model may call tools by writing them out. */
export class TaskReader {
  readonly #session: FoundSession;
  readonly #stats: ReadStats;
  readonly #files = new TouchedFiles();
  /** The tools of native calls without a result so far. */
  readonly #open = new Map<string, string>();
  #last: Call | null = null;
  #lastPlan = '';
  #model: string | null = null;

  constructor(session: FoundSession, stats: ReadStats) {
    this.#session = session;
    this.#stats = stats;
  }

  *read(message: Row, line: number): Generator<Event> {
    this.#model = getText(getRow(message, 'modelInfo'), 'modelId', 'id') ?? this.#model;
    const { cwd } = this.#session;
    const at = toTimestamp(message.ts);
    const stamp = make.stamp({ at, line, id: getText(message, 'id'), cwd, model: this.#model });
    const blocks = toBlocks(message.content);
    if (message.role === 'assistant') for (const block of blocks) yield* this.#readAssistant(stamp, block);
    else if (message.role === 'user') yield* this.#readUser(stamp, blocks);
    else countUnknown(this.#stats, `role/${getText(message, 'role') ?? ''}`);
  }

  *#readAssistant(stamp: make.Stamp, block: Row): Generator<Event> {
    if (block.type === 'tool_use') {
      const call = { tool: getText(block, 'name') ?? '', input: getRow(block, 'input') };
      yield* this.#readCall(stamp, call, getText(block, 'id'));
    } else if (block.type === 'text') {
      const { said, call } = splitReply(getText(block, 'text') ?? '');
      yield* make.reply(stamp, said.trim());
      if (call !== null) yield* this.#readCall(stamp, call, null);
    }
  }

  *#readCall(stamp: make.Stamp, { tool, input }: Omit<ToolCall, 'cwd'>, id: string | null): Generator<Event> {
    const { task_progress: progress, ...rest } = input;
    const items = typeof progress === 'string' ? readChecklist(progress) : [];
    if (typeof progress === 'string' && items.length > 0 && progress !== this.#lastPlan) {
      this.#lastPlan = progress;
      yield make.plan(stamp, items);
    }
    this.#last = { id: id ?? `${stamp.ref.line}`, tool };
    if (id !== null) this.#open.set(id, tool);
    if (SAYING_TOOLS.has(tool)) return yield* make.reply(stamp, getText(input, 'result', 'response') ?? '');
    const action = toAction({ tool, input: rest, cwd: this.#session.cwd }, this.#files);
    yield make.call(stamp, { ...this.#last, action: action ?? makeOtherAction(rest) });
  }

  *#readUser(stamp: make.Stamp, blocks: readonly Row[]): Generator<Event> {
    let result: string[] | null = null;
    for (const block of blocks) {
      if (block.type === 'tool_result') yield* this.#readNativeResult(stamp, block);
      const text = block.type === 'text' ? (getText(block, 'text') ?? '') : '';
      for (const added of readAddedTexts(text)) yield* make.injected(stamp, added);
      if (/^\s*<environment_details>/.test(text)) continue;
      if (RESULT.test(text)) {
        if (result !== null) yield* this.#readOutput(stamp, this.#last, result);
        result = [text.replace(RESULT, '')].filter((rest) => rest !== '');
      } else if (result !== null) result.push(text);
      else yield* make.prompt(stamp, readWrapped(text)?.said ?? '');
    }
    if (result !== null) yield* this.#readOutput(stamp, this.#last, result);
  }

  *#readNativeResult(stamp: make.Stamp, block: Row): Generator<Event> {
    const id = getText(block, 'tool_use_id');
    const tool = id === null ? undefined : takeCall(this.#open, id);
    const call = id === null || tool === undefined ? this.#last : { id, tool };
    const texts = listTexts(block.content).map((text) => text.replace(RESULT, ''));
    yield* this.#readOutput(stamp, call, texts);
  }

  /** The human's answer or remark comes instead of the result that it is about, or after it. */
  *#readOutput(stamp: make.Stamp, call: Call | null, texts: readonly string[]): Generator<Event> {
    const isForeign = call !== null && SHOWING_TOOLS.has(call.tool);
    const heard = texts.map((text, index) => (isForeign && index === 0 ? null : readWrapped(text)));
    const isAnswer = heard[0]?.wrapper === 'answer' || heard[0]?.wrapper === 'user_message';
    if (call !== null && !SAYING_TOOLS.has(call.tool) && !isAnswer) {
      const output = texts.join('\n').trim();
      const exited = call.tool === 'execute_command' ? EXITED.exec(output)?.[1] : undefined;
      const exit = exited === undefined ? null : Number(exited);
      yield make.result(stamp, { id: call.id, ok: exit === null ? !DENIED.test(output) : exit === 0, exit, output });
    }
    for (const part of heard) yield* make.prompt(stamp, part?.said ?? '');
  }
}

const TOOLS =
  'execute_command|read_file|write_to_file|replace_in_file|new_rule|search_files|list_files|list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|attempt_completion|plan_mode_respond|act_mode_respond|new_task|load_mcp_documentation|web_fetch|web_search|condense|summarize_task|report_bug|use_skill|use_subagents|apply_patch|generate_explanation|focus_chain';
const OPENING = new RegExp(`<(${TOOLS})>`);
const PARAMETERS = (
  'absolutePath action arguments command content context coordinate diff file_pattern input options path ' +
  'prompt query question recursive regex requires_approval response result server_name skill_name ' +
  'task_progress text tool_name uri url'
).split(' ');
/** Their text may contain the closing tag: the last one counts. */
const FREE_TEXT = new Set(['content', 'diff', 'input', 'result', 'response']);

/** Splits a reply into what was said and the call that is written out after it. */
function splitReply(text: string): { said: string; call: Omit<ToolCall, 'cwd'> | null } {
  const reply = dropElements(text, 'thinking');
  const opening = OPENING.exec(reply);
  if (opening === null) return { said: reply, call: null };
  const tool = opening[1] ?? '';
  const start = opening.index + opening[0].length;
  const end = reply.lastIndexOf(`</${tool}>`);
  const body = reply.slice(start, end < start ? undefined : end);
  return { said: reply.slice(0, opening.index), call: { tool, input: readParameters(body) } };
}

function readParameters(body: string): Row {
  const found = PARAMETERS.flatMap((name) => {
    const start = body.indexOf(`<${name}>`);
    if (start === -1) return [];
    const from = start + name.length + 2;
    const end = FREE_TEXT.has(name) ? body.lastIndexOf(`</${name}>`) : body.indexOf(`</${name}>`, from);
    const value = body.slice(from, end < from ? undefined : end);
    return [[name, value.replace(/^\r?\n/, '').replace(/\r?\n$/, '')] as const];
  });
  return Object.fromEntries(found);
}

function toAction({ tool, input, cwd }: ToolCall, files: TouchedFiles): Action | null {
  const given = getText(input, 'absolutePath', 'path');
  const path = given === null ? null : resolveFilePath(given.trim(), cwd);
  const fromText = (name: string, build: (text: string) => Action): Action | null =>
    makeTextAction(getText(input, name), build);
  switch (tool) {
    case 'execute_command':
      return fromText('command', (command) => ({ kind: 'command', command, background: false }));
    case 'read_file':
      return path === null ? null : files.read(path);
    case 'write_to_file':
    case 'new_rule':
      return path === null ? null : { kind: 'edit', edits: [files.write(path, getText(input, 'content') ?? '')] };
    case 'replace_in_file': {
      const edits = path === null ? [] : readReplacements(getText(input, 'diff') ?? '', path, files);
      return edits.length === 0 ? null : { kind: 'edit', edits };
    }
    case 'apply_patch':
      return makePatchAction(getText(input, 'input'), cwd);
    case 'search_files':
      return fromText('regex', (pattern) => ({ kind: 'search', pattern, path }));
    case 'list_files':
    case 'list_code_definition_names':
      return path === null ? null : { kind: 'search', pattern: '*', path };
    case 'web_search':
      return fromText('query', (pattern) => ({ kind: 'search', pattern, path: null }));
    case 'web_fetch':
      return fromText('url', (url) => ({ kind: 'fetch', url }));
    case 'new_task':
      return fromText('context', (task) => ({ kind: 'delegate', task }));
    case 'use_mcp_tool': {
      const given = asRow(parseInput(input.arguments)) ?? {};
      return describeMcpFileCall({ tool: getText(input, 'tool_name') ?? '', input: given, cwd }, files);
    }
    case 'ask_followup_question':
      return fromText('question', (question) => ({ kind: 'ask', question }));
    default:
      return null;
  }
}

/** Blocks of text to search for and its replacement, separated by marker lines. */
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
