import type { Event, FileEdit, PlanItem } from '../model/event.ts';
import { addPaths, countCall, flushWindow, joinIndexes, type MentionSource, queueForIndex } from './name-index.ts';
import { findDefinitions, findPaths } from './names.ts';
import { didFail } from './outcome.ts';
import type { CommandRun, Message, PendingCall, SessionLog, Step } from './session-log.ts';
import { findRemovals, findShownFiles } from './shell.ts';
import { applyRemovals, locatePath, TouchedFile } from './touched-files.ts';

const MAX_RESULTS = 150;
const MAX_REPLIES = 400;

/** Commands to the agent's own interface: they ask for no work. */
const HOUSEKEEPING =
  /^\s*\/(?:clear|compact|compress|config|context|cost|doctor|exit|export|fork|help|hooks|init|login|logout|mcp|memory|model|new|permissions|plugin|quit|rename|resume|rewind|stats|status|theme|undo|usage)(?=\s|$)/;

/** Sub-agents' own events are skipped: what they found comes back as a result in the main conversation. */
export function logEvent(log: SessionLog, event: Event): void {
  if (event.sidechain === true) return;
  if (event.cwd !== undefined) log.cwd = event.cwd;
  if (event.branch !== undefined) log.branch = event.branch;
  if (event.model !== undefined) log.model = event.model;
  log.firstAt ??= event.at;
  if (event.type !== 'injected') log.lastAt = event.at ?? log.lastAt;
  const toMessage = (text: string): Message => ({ call: log.calls, text, line: event.ref.line });
  switch (event.type) {
    case 'prompt':
      if (HOUSEKEEPING.test(event.text)) break;
      log.lastSpeaker = 'human';
      log.prompts.push({
        ...toMessage(event.text),
        ...(log.asked === null ? {} : { question: log.asked }),
        ...(event.from === undefined ? {} : { from: event.from }),
      });
      log.asked = null;
      queueText(log, event.text, 'user');
      break;
    case 'reply':
      if (event.text.trim() === '') break;
      log.lastSpeaker = 'agent';
      log.stop = null;
      pushBounded(log.replies, toMessage(event.text), MAX_REPLIES);
      queueText(log, event.text, 'agent');
      break;
    case 'compaction':
      if (event.summary === null) break;
      queueText(log, event.summary, 'summary');
      break;
    case 'plan':
      log.plan = event.items;
      log.planLine = event.ref.line;
      queueText(log, event.items.map(printPlanItem).join('\n'), 'task');
      break;
    case 'call':
      logCall(log, event);
      break;
    case 'result':
      logResult(log, event);
      break;
    case 'limit':
      log.stop = toMessage(event.text);
      break;
    case 'interrupted':
      log.interrupted.add(log.prompts.length);
      break;
  }
}

function printPlanItem({ id, text, detail }: PlanItem): string {
  return `${id === undefined ? '' : `#${id} `}${text}\n${detail ?? ''}`;
}

function queueText({ windows, calls: call }: SessionLog, text: string, source: MentionSource): void {
  queueForIndex(windows, { kind: 'text', text, place: { source, call } });
}

function logCall(log: SessionLog, event: Extract<Event, { type: 'call' }>): void {
  log.calls++;
  log.stop = null;
  log.asked = null;
  countCall(log.windows, log.calls);
  const { calls: call } = log;
  const { action } = event;
  const line = event.ref.line;
  const step: Step = { call, line, tool: event.tool, kind: action.kind, input: {}, failed: null, output: '' };
  pushBounded<Step>(log.steps, step, MAX_STEPS);
  const open = (what: string, source: MentionSource, more: Partial<PendingCall> = {}): void => {
    const own = {
      call,
      what,
      line,
      source,
      command: null,
      path: null,
      edits: [],
      step,
      isBackground: false,
      about: [],
      ...more,
    };
    log.pending.set(event.call, own);
  };
  const setInput = (input: Record<string, string | null>): void => {
    for (const [name, value] of Object.entries(input)) if (value !== null) step.input[name] = value.slice(0, MAX_INPUT);
  };
  switch (action.kind) {
    case 'edit':
      for (const edit of action.edits) logEdit(log, edit, line);
      open(action.edits.map((edit) => edit.path).join(', '), 'edited', { edits: action.edits });
      setInput({ file_path: action.edits.map((edit) => edit.path).join(', '), new_string: listAdded(action.edits) });
      break;
    case 'read':
      logRead(log, action.path, line);
      open(action.path, 'content', { path: action.path });
      setInput({ file_path: action.path });
      break;
    case 'command': {
      const { command, background } = action;
      setInput({ command });
      const run = { call, command, background, line, started: null, failed: null, exit: null, output: '' };
      log.commands.push(run);
      dropOldOutput(log.commands);
      queueText(log, command, 'command');
      const shown = findShownFiles(command).map((path) => locatePath(path, log.cwd));
      for (const path of shown) logRead(log, path, line);
      open(command, 'output', { command: run, path: shown.length === 1 ? (shown[0] ?? null) : null });
      break;
    }
    case 'search':
      queueText(log, `${action.pattern} ${action.path ?? ''}`, 'pattern');
      open(action.pattern, 'hits');
      setInput({ pattern: action.pattern, path: action.path });
      break;
    case 'fetch':
      open(action.url, 'other');
      setInput({ url: action.url });
      break;
    case 'delegate':
      queueText(log, action.task, 'plan');
      open(action.task, 'report', { isBackground: action.background === true });
      setInput({ prompt: action.task });
      break;
    case 'ask':
      queueText(log, action.question, 'plan');
      open(action.question, 'answer');
      setInput({ question: action.question });
      break;
    case 'propose':
      log.proposals.push({ call, text: action.text, line });
      queueText(log, action.text, 'plan');
      open(action.text, 'plan');
      setInput({ plan: action.text });
      break;
    case 'other':
      if (STOP_TOOL.test(event.tool)) endBackground(log, action.texts);
      queueText(log, action.texts.join('\n'), 'plan');
      open(action.texts.join(' '), 'other', { about: action.texts });
      setInput({ input: action.texts.join(' ') });
      break;
  }
}

const MAX_STEPS = 60;
const MAX_INPUT = 2000;
const IMPORT = /^\s*(?:import|from|use|using|#include|package|require)\b/;

/** The lines that edits bring in, without imports and blank lines. */
function listAdded(edits: readonly FileEdit[]): string {
  return edits
    .flatMap(({ before, after }) => {
      const old = new Set(before.split('\n'));
      return after.split('\n').filter((line) => line.trim() !== '' && !old.has(line) && !IMPORT.test(line));
    })
    .join('\n');
}

const COMMANDS_IN_FULL = 500;
const SHORT_OUTPUT = 1000;

/** Of old commands, only failures and short outputs are worth their memory. */
function dropOldOutput(commands: readonly CommandRun[]): void {
  const old = commands.at(-COMMANDS_IN_FULL - 1);
  if (old !== undefined && old.output.length > SHORT_OUTPUT && !didFail(old)) old.output = '';
}

function logRead(log: SessionLog, path: string, line: number): void {
  const file = touchFile(log, path, line);
  file.reads++;
  file.lastRead = log.calls;
  queueForIndex(log.windows, { kind: 'file', path, place: { source: 'opened', call: log.calls } });
}

function logEdit(log: SessionLog, edit: FileEdit, line: number): void {
  const file = touchFile(log, edit.path, line);
  countEdit(log, file);
  file.line = line;
  if (edit.change === 'created' && file.reads === 0 && file.edits === 1) file.created = true;
  file.deleted = edit.change === 'deleted' || edit.change === 'moved';
  if (!DOCUMENT.test(edit.path)) noteDefinitions(file, edit, log.calls);
  noteDocument(log, edit, line);
  if (edit.to !== undefined) countEdit(log, touchFile(log, edit.to, line));
  queueForIndex(log.windows, { kind: 'edit', edit, call: log.calls });
}

const DOCUMENT = /\.(?:mdx?|rst|txt|adoc)$/i;
const SHORTEST_DOCUMENT = 400;
const MAX_DOCUMENT = 12_000;
const MAX_DOCUMENTS = 4;

function noteDocument({ documents, calls: call }: SessionLog, edit: FileEdit, line: number): void {
  const { path, before, after, change } = edit;
  if (!DOCUMENT.test(path) || change === 'deleted') return;
  const known = documents.get(path);
  const isWhole = before === '' || change === 'created' || known?.text === before.slice(0, MAX_DOCUMENT);
  const isPart = !isWhole && known?.text.includes(before) === true;
  if (!isWhole && !isPart) return;
  const text = isPart ? known.text.replace(before, () => after) : after;
  documents.delete(path);
  if (text.length >= SHORTEST_DOCUMENT) documents.set(path, { call, line, text: text.slice(0, MAX_DOCUMENT) });
  for (const oldest of documents.keys()) if (documents.size > MAX_DOCUMENTS) documents.delete(oldest);
}

/** The names that edits declare in a file and none has taken out since. */
function noteDefinitions({ defined }: TouchedFile, { before, after }: FileEdit, call: number): void {
  const old = new Set(findDefinitions(before));
  const now = new Set(findDefinitions(after));
  for (const name of old) if (!now.has(name)) defined.delete(name);
  for (const name of now) if (!old.has(name)) defined.set(name, call);
}

/** All changes that one call makes to a file are one edit. */
function countEdit({ calls }: SessionLog, file: TouchedFile): void {
  if (file.lastEdit !== calls) {
    file.edits++;
    file.editCalls.push(calls);
  }
  file.lastEdit = calls;
}

function touchFile({ files }: SessionLog, path: string, line: number): TouchedFile {
  const file = files.get(path) ?? new TouchedFile(path, line);
  files.set(path, file);
  return file;
}

/** The end of an output says how it went. */
const MAX_OUTPUT = 16_000;
const OUTPUT_HEAD = 4000;
const MAX_START = 200;
/** How agents report that a command goes on in the background. */
const STARTED = /\bbackground\b/i;
const STOP_TOOL = /kill|stop|cancel/i;
/** Results that say nothing which is not known from the call or from the human's answer. */
const UNREAD: ReadonlySet<MentionSource> = new Set(['edited', 'answer', 'plan']);
/** How agents report that background work is over. */
const ENDED = /<status>(?:completed|failed|killed)|"status": ?"(?:completed|failed|killed)"/;
const MAX_STEP_OUTPUT = 1200;

function logResult(log: SessionLog, event: Extract<Event, { type: 'result' }>): void {
  const pending = log.pending.get(event.call);
  if (pending === undefined) return;
  const { command, edits, source, step } = pending;
  if (command?.background === true && command.started === null && STARTED.test(event.output)) {
    command.started = event.output.slice(0, MAX_START);
    // Of a command that puts itself into the background, the agent follows only the shell, which has ended.
    pending.isBackground = !/&\s*$/.test(command.command);
    step.output = event.output.slice(0, MAX_START);
    return;
  }
  log.pending.delete(event.call);
  const failed = event.ok === false || (event.exit !== null && event.exit !== 0);
  step.failed = failed;
  step.output = cutMiddle(event.output, MAX_STEP_OUTPUT);
  if (failed || event.refused === true) undoEdits(log, edits, pending.call);
  if (event.refused === true) {
    log.commands = log.commands.filter((run) => run !== command);
    log.steps = log.steps.filter((other) => other !== step);
    if (source === 'plan') log.proposals = log.proposals.filter((proposal) => proposal.call !== pending.call);
    return;
  }
  if (command !== null) {
    command.failed = failed;
    command.exit = event.exit;
    command.output = cutMiddle(event.output, MAX_OUTPUT, OUTPUT_HEAD);
    if (!failed) applyRemovals(log.files, findRemovals(command.command, log.cwd), pending);
  }
  if (!failed && ACTION_TOOL.test(step.tool)) noteAction(log, step, event.output);
  if (ENDED.test(event.output.slice(0, 2000))) endBackground(log, pending.about);
  if (source === 'answer') log.asked = pending.what;
  if (UNREAD.has(source)) return;
  pushBounded(log.results, { call: log.calls, source, text: event.output, paths: null }, MAX_RESULTS);
}

/** Tools of other services that change something there. */
const ACTION_TOOL =
  /(?:^|_)(?:create|update|add|save|post|send|merge|close|delete|transition)_?(?:[a-z]+_)*(?:issue|comment|pull_request|merge_request|pr|message|page|ticket|release|review)s?$/i;
const ACTION_REFERENCE =
  /https?:\/\/[^\s"\\]{3,120}\/(?:pull|issues?|issue|merge_requests|browse)\/[\w-]+|\b[A-Z]{2,8}-\d{1,6}\b|(?<!\w)#\d+/;
const MAX_ACTION = 120;

function noteAction({ actions, calls: call }: SessionLog, { tool, input }: Step, output: string): void {
  const name = tool.replace(/^.*__/, '');
  const reference = ACTION_REFERENCE.exec(output)?.[0] ?? '';
  const about = Object.values(input).join(' ').replace(/\s+/g, ' ').slice(0, MAX_ACTION);
  actions.push({
    call,
    text: [name, reference, about === '' ? '' : `"${about}"`].filter((part) => part !== '').join(' '),
  });
}

function cutMiddle(text: string, length: number, head = length / 2): string {
  if (text.length <= length) return text;
  return `${text.slice(0, head)}\n…\n${text.slice(head - length)}`;
}

/** Takes back what a call that failed, or was refused, would have done. */
function undoEdits({ files, documents }: SessionLog, edits: readonly FileEdit[], call: number): void {
  for (const path of new Set(edits.flatMap((edit) => [edit.path, edit.to ?? edit.path]))) {
    if (documents.get(path)?.call === call) documents.delete(path);
    const file = files.get(path);
    if (file === undefined) continue;
    file.edits--;
    file.editCalls.pop();
    file.lastEdit = file.editCalls.at(-1) ?? 0;
    file.failures++;
    file.created &&= file.edits > 0;
    file.deleted = false;
  }
}

/** A command in the background ends when it is stopped by an id that its first output gave. */
function endBackground({ pending }: SessionLog, ids: readonly string[]): void {
  for (const [call, { command }] of pending) {
    const started = command?.started ?? null;
    if (started !== null && ids.some((id) => id !== '' && started.includes(id))) pending.delete(call);
  }
}

/** Keeps at least the last `count` items, and at most twice as many. */
function pushBounded<T>(items: T[], item: T, count: number): void {
  items.push(item);
  if (items.length > count * 2) items.splice(0, items.length - count);
}

/** Finds the paths in texts that may still matter and drops the texts, to shrink the log. More events may follow. */
export function flushSessionLog({ results, windows }: SessionLog): void {
  for (const window of windows) flushWindow(window);
  for (const [index, result] of results.entries()) {
    if (result.paths !== null) continue;
    result.paths = index >= results.length - MAX_RESULTS ? findPaths(result.text) : [];
    result.text = '';
  }
}

/** To be called once, after the last event: builds the index of names. */
export function closeSessionLog(log: SessionLog): void {
  flushSessionLog(log);
  log.index = joinIndexes(log.windows.map((window) => window.index));
  for (const { paths, source, call } of log.results.slice(-MAX_RESULTS))
    addPaths(log.index, paths ?? [], { source, call });
}
