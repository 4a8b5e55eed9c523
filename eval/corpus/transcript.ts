import { isAscii } from 'node:buffer';
import { asRow, getText, parseRow, type Row, toRows } from '../../src/agents/shared/json.ts';

/**
 * A Claude Code transcript, read by the evaluation's own few rules. The product's reader is not used: what it overlooks
 * must show as a loss.
 */
export interface Transcript {
  bytes: Buffer;
  /** The rows that are JSON objects; cuts are counted in them. */
  rows: readonly Row[];
  /** Where each of them begins. */
  offsets: readonly number[];
}

export function parseTranscript(bytes: Buffer): Transcript {
  const rows: Row[] = [];
  const offsets: number[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf('\n', start);
    const end = newline === -1 ? bytes.length : newline;
    const row = start === end ? null : parseRow(decode(bytes.subarray(start, end)));
    if (row !== null) {
      rows.push(row);
      offsets.push(start);
    }
    start = end + 1;
  }
  return { bytes, rows, offsets };
}

/** Most lines are ASCII, and that is several times cheaper to take over than to decode. */
function decode(line: Buffer): string {
  return line.toString(isAscii(line) ? 'latin1' : 'utf8');
}

export function isCompaction(row: Row): boolean {
  return row.isCompactSummary === true;
}

/** A message in Claude Code's format. */
export function isMessage(row: Row): boolean {
  return (row.type === 'user' || row.type === 'assistant') && asRow(row.message)?.content !== undefined;
}

export function readBlocks(row: Row): Row[] {
  const message = asRow(row.message);
  if (message === null) return [];
  const { content } = message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : toRows(content);
}

/** What a block says, without the names of parameters and without thinking, which the next session never sees. */
export function readBlockText(block: Row): string {
  switch (block.type) {
    case 'text':
      return getText(block, 'text') ?? '';
    case 'tool_use':
      return collectStrings(block.input).join('\n');
    case 'tool_result':
      return typeof block.content === 'string'
        ? block.content
        : toRows(block.content)
            .map((part) => getText(part, 'text') ?? '')
            .join('\n');
    default:
      return '';
  }
}

function collectStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectStrings) : [];
}

/** Text that stands where a human's would and was put there by the agent. */
const NOT_HUMAN =
  /^\s*(?:<(?:command-|local-command|system-reminder|task-notification|user-prompt-submit-hook|bash-)|Caveat:|\[Request interrupted|This session is being continued)/;

/** A human's message; null for any other row. */
export function readHumanMessage(row: Row): string | null {
  if (row.type !== 'user' || row.isMeta === true || isCompaction(row) || row.isSidechain === true) return null;
  const blocks = readBlocks(row);
  if (blocks.some((block) => block.type === 'tool_result')) return null;
  const text = blocks
    .filter((block) => block.type === 'text')
    .map(readBlockText)
    .join('\n')
    .trim()
    .replace(/<system-reminder>.*?<\/system-reminder>/gs, '')
    .trim();
  return text === '' || NOT_HUMAN.test(text) ? null : text;
}

export interface ToolCall {
  tool: string;
  input: Row;
}

/** Rows of the session's own agent, without those of the agents that it started. */
export function isOwnReply(row: Row): boolean {
  return row.type === 'assistant' && row.isSidechain !== true;
}

export function* findToolCalls(rows: Iterable<Row>): Generator<ToolCall> {
  for (const row of rows) {
    if (!isOwnReply(row)) continue;
    for (const block of readBlocks(row)) {
      const input = block.type === 'tool_use' ? asRow(block.input) : null;
      if (input !== null) yield { tool: getText(block, 'name') ?? '', input };
    }
  }
}

const EDITING_TOOLS = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);

export interface Touched {
  edited: string[];
  read: string[];
  commands: string[];
}

export function listTouched(calls: Iterable<ToolCall>): Touched {
  const touched: Touched = { edited: [], read: [], commands: [] };
  for (const { tool, input } of calls) {
    if (EDITING_TOOLS.has(tool)) {
      addText(touched.edited, getText(input, 'file_path') || getText(input, 'notebook_path'));
    } else if (tool === 'Read') addText(touched.read, getText(input, 'file_path'));
    else if (tool === 'Bash') addText(touched.commands, getText(input, 'command'));
  }
  return touched;
}

function addText(list: string[], text: string | null): void {
  if (text !== null && text !== '') list.push(text);
}

/** The items of the last plan. */
export function listTasks(calls: Iterable<ToolCall>): Row[] {
  let todos: unknown = null;
  for (const { tool, input } of calls) if (tool === 'TodoWrite') todos = input.todos;
  return toRows(todos);
}
