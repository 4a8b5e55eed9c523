import { posix } from 'node:path';
import type { Action, FileEdit } from '../../model/event.ts';
import { quoteForShell } from '../../model/text.ts';
import { makeOtherAction, makePatchAction, makeTextAction, resolveEdit } from '../shared/actions.ts';
import { resolveFilePath } from '../shared/files.ts';
import { asRow, getNumber, getRow, getText, parseRow, type Row, toRows } from '../shared/json.ts';
import { listTexts, toMessageText } from '../shared/message-text.ts';
import { parseUnifiedDiff } from '../shared/patch.ts';

export const COMMAND_TOOLS: ReadonlySet<string> = new Set(
  'exec_command shell_command shell local_shell container.exec unified_exec'.split(' '),
);

/** What a tool call does. `input` is an object, or the text of a tool that takes free text. */
export function toAction(tool: string, input: unknown, cwd: string | null): Action {
  const fields = asRow(input) ?? {};
  if (tool === 'apply_patch') {
    const patch = typeof input === 'string' ? input : getText(fields, 'input', 'patch');
    return makePatchAction(patch, cwd) ?? makeOtherAction(patch);
  }
  return toKnownAction(tool, fields, cwd) ?? makeOtherAction(input);
}

function toKnownAction(tool: string, fields: Row, cwd: string | null): Action | null {
  if (COMMAND_TOOLS.has(tool)) {
    const line = readCommandLine(fields.cmd ?? fields.command ?? fields.input);
    const given = getText(fields, 'workdir', 'working_directory');
    const folder = given === null ? cwd : resolveFilePath(given, cwd);
    const action = line === null ? null : readCommand(line, folder);
    return action?.kind === 'command' && folder !== null && folder !== cwd ? { ...action, folder } : action;
  }
  if (tool === 'view_image') {
    const path = getText(fields, 'path');
    return path === null ? null : { kind: 'read', path: resolveFilePath(path, cwd) };
  }
  if (tool === 'request_user_input') {
    const questions = toRows(fields.questions).flatMap((question) => getText(question, 'question') ?? []);
    return { kind: 'ask', question: toMessageText(questions.join('\n')) };
  }
  if (tool !== 'spawn_agent') return null;
  return makeTextAction(getText(fields, 'message', 'prompt', 'task'), (task) => ({ kind: 'delegate', task }));
}

/** A command, or what it does where that is obvious: it shows one file, or applies a patch. */
export function readCommand(line: string, folder: string | null): Action {
  const shown = findShownFile(line);
  if (shown !== null) return { kind: 'read', path: resolveFilePath(shown, folder) };
  return readPatchCommand(line, folder) ?? { kind: 'command', command: toMessageText(line), background: false };
}

const SHELL = /(?:^|[\\/])(?:bash|zsh|sh|dash|fish|ksh|pwsh|powershell)(?:\.exe)?$/i;

/** The command line that a program was started with: a text, or words that may begin with a shell. */
export function readCommandLine(command: unknown): string | null {
  if (typeof command === 'string') return command;
  if (!Array.isArray(command)) return null;
  const words = command.filter((word) => typeof word === 'string');
  const [program = '', flag = '', line] = words;
  if (SHELL.test(program) && /^-(?:l?i?c|Command|NoProfile)$/i.test(flag) && line !== undefined) {
    return words.at(-1) ?? line;
  }
  return words.length === 0 ? null : words.map(quoteForShell).join(' ');
}

const WORD = String.raw`(?:'[^'\n]{1,1000}'|"[^"$\x60\\\n]{1,1000}"|[\w@%+=:,./~-]{1,1000})`;
const SHOWING = new RegExp(
  String.raw`^\s{0,8}(?:cat|nl(?: -ba)?|head(?: -n? ?\d{1,6})?|tail(?: -n? ?\d{1,6})?|sed -n ['"]?\d{1,7}(?:,\d{1,7})?p['"]?) (${WORD})\s{0,8}$`,
);

/** The file that a command shows, if it does nothing else. */
function findShownFile(command: string): string | null {
  const word = SHOWING.exec(command)?.[1];
  if (word === undefined || word.startsWith('-')) return null;
  return /^['"]/.test(word) ? word.slice(1, -1) : word;
}

const PATCHING =
  /^\s{0,8}(?:cd (\S{1,1000}) && )?(?:apply_patch|applypatch)\s{1,8}<<-?\s{0,8}['"]?\w{1,40}['"]?\s{0,8}\n/;
const PATCH_END = '*** End Patch';

/** The patch that a command applies, if it does nothing else but change the folder first. */
function readPatchCommand(command: string, cwd: string | null): Action | null {
  const match = PATCHING.exec(command);
  const end = command.indexOf(PATCH_END);
  if (match === null || end === -1) return null;
  if (!/^\s*(?:\w{1,40}\s*)?$/.test(command.slice(end + PATCH_END.length).slice(0, 200))) return null;
  const [start, folder] = match;
  const isRelative = folder !== undefined && cwd !== null && !posix.isAbsolute(folder);
  return makePatchAction(command.slice(start.length), isRelative ? posix.join(cwd, folder) : (folder ?? cwd));
}

/** The edits of a patch that was applied: for each path the file's content, or a diff. */
export function readChanges(changes: Row, cwd: string | null): FileEdit[] {
  return Object.entries(changes).flatMap(([name, value]) => {
    const change = asRow(value);
    return change === null ? [] : readChange(name, change).map((edit) => resolveEdit(edit, cwd));
  });
}

/** The kind of a change is its `type`, or the one name in it. */
function readChange(path: string, change: Row): FileEdit[] {
  const kind = getText(change, 'type') ?? Object.keys(change)[0] ?? '';
  const fields = change.type === undefined ? getRow(change, kind) : change;
  const content = (getText(fields, 'content') ?? '').toWellFormed();
  if (kind === 'add') return [{ path, change: 'created', before: '', after: content }];
  if (kind === 'delete') return [{ path, change: 'deleted', before: content, after: '' }];
  const diff = getText(fields, 'unified_diff');
  return diff === null ? [] : parseUnifiedDiff(diff.toWellFormed(), path, getText(fields, 'move_path'));
}

/** What the human chose or typed when asked. */
export function readAnswers(output: Row): string {
  return Object.values(getRow(output, 'answers'))
    .flatMap((answer) => asRow(answer)?.answers ?? answer)
    .filter((answer) => typeof answer === 'string')
    .map((answer) => answer.replace(/^user_note: /, ''))
    .join('\n');
}

interface ToolOutput {
  ok: boolean | null;
  exit: number | null;
  text: string;
  /** The name under which a running process or script is polled. */
  running: string | null;
}

/** The text of a tool's output, and what the lines above it say about how it went. */
export function readToolOutput(output: unknown): ToolOutput {
  const wrapped = asRow(output);
  if (wrapped !== null) {
    const inner = readToolOutput(wrapped.content ?? wrapped.content_items ?? wrapped.output ?? '');
    return typeof wrapped.success === 'boolean' ? { ...inner, ok: wrapped.success } : inner;
  }
  const [first = '', ...others] = listTexts(output);
  const old = readOldOutput(first);
  if (old !== null) return old;
  const { script, ...head } = readPreambles(first);
  const parts = [head.text, ...others].map((text) => (script ? readScriptResult(text) : { text, exit: null }));
  const exits = parts.flatMap((part) => part.exit ?? []);
  const exit = head.exit ?? exits.find((code) => code !== 0) ?? exits[0] ?? null;
  const texts = parts.map((part) => part.text).filter((part) => part !== '');
  const ok = exit === null ? (head.ok ?? (REFUSAL.test(first) ? false : null)) : exit === 0;
  return { ok, exit, text: texts.join('\n'), running: head.running };
}

const REFUSAL =
  /^(?:unsupported call|exec_command failed|exec_command rejected|apply_patch verification failed|apply_patch was requested|write_stdin failed|failed to |execution error|aborted|command timed out|patch rejected|rejected by|tool call error|err: )/i;

/** Older versions wrote `{"output":"…","metadata":{"exit_code":0}}`. */
function readOldOutput(text: string): ToolOutput | null {
  const row = text.startsWith('{"output"') ? (parseRow(text) ?? {}) : {};
  const output = getText(row, 'output');
  const exit = getNumber(getRow(row, 'metadata'), 'exit_code');
  return output === null || exit === null ? null : { ok: exit === 0, exit, text: output, running: null };
}

/** A script that prints the result of a command prints its JSON. */
function readScriptResult(text: string): { text: string; exit: number | null } {
  const row = text.startsWith('{') && text.includes('"exit_code"') ? (parseRow(text) ?? {}) : {};
  return { text: getText(row, 'output') ?? text, exit: getNumber(row, 'exit_code') };
}

const NOTE =
  /^(?:Chunk ID: \S*|Wall time:? [\d.]+ seconds?|Original token count: \d+|Total output lines: \d+|Process exited with code (-?\d{1,10})|Exit code: (-?\d{1,10})|Process running with session ID (\S{1,40})|Script running with cell ID (\S{1,40})|Script (completed|failed|terminated)\b.{0,80})$/;
const MAX_NOTES = 8;
/** A patch given to a shell is answered within the shell's answer, which then has no exit status. */
const MAX_PREAMBLES = 2;

/** `script` is whether a script wrote the output. */
type Preamble = ToolOutput & { script: boolean };

function readPreambles(given: string): Preamble {
  let output: Preamble = { ok: null, exit: null, text: given, running: null, script: false };
  for (let i = 0; i < MAX_PREAMBLES && output.exit === null && output.running === null; i++) {
    const found = readPreamble(output.text);
    if (found === null) break;
    output = { ...output, ...found };
  }
  return output;
}

/** What the lines down to `Output:` say, and the text after them; null without such lines. */
function readPreamble(text: string): Partial<Preamble> | null {
  let at = 0;
  const found: Partial<Preamble> = {};
  for (let i = 0; i <= MAX_NOTES; i++) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? Math.min(text.length, at + 200) : end);
    if (line === 'Output:' && i > 0) return { ...found, text: end === -1 ? '' : text.slice(end + 1) };
    const note = NOTE.exec(line);
    if (note === null || end === -1) return null;
    const [, exited, exitCode = exited, session, cell, script] = note;
    if (exitCode !== undefined) found.exit = Number(exitCode);
    if (session !== undefined || cell !== undefined) found.running = session ?? `cell ${cell}`;
    if (script !== undefined) found.ok = script === 'completed';
    if (script !== undefined || cell !== undefined) found.script = true;
    at = end + 1;
  }
  return null;
}
