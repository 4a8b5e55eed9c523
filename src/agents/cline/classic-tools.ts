import type { Action, FileEdit } from '../../model/event.ts';
import { collectTexts, getAnyText, getText, type Row } from '../shared/json.ts';
import { toMessageText } from '../shared/message-text.ts';
import { resolveFilePath, type TouchedFiles } from '../shared/touched-files.ts';
import { toPatch } from './actions.ts';

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
      if (path !== null) files.markSeen(path);
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
