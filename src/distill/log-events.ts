import type { Event, FileEdit, PlanItem } from '../model/event.ts';
import { baseName, isProse } from '../model/paths.ts';
import { cleanLine, cutAtWord } from '../model/text.ts';
import { addPaths, countCall, flushWindow, joinIndexes, type MentionSource, queueForIndex } from './name-index.ts';
import { findPaths } from './names.ts';
import { didFail } from './outcome.ts';
import type { CommandRun, Message, PendingCall, SessionLog, Step } from './session-log.ts';
import { findRemovals, findShownFiles } from './shell.ts';
import { applyRemovals, locatePath, noteDeclared, TouchedFile } from './touched-files.ts';

const MAX_RESULTS = 150;
const MAX_REPLIES = 400;
/** The end says what comes next. */
const MAX_THOUGHT = 2000;

/** Commands to the agent's own interface: they ask for no work. */
const HOUSEKEEPING =
  /^\s*\/(?:clear|compact|compress|config|context|cost|doctor|exit|export|fork|help|hooks|init|login|logout|mcp|memory|model|new|permissions|plugin|quit|rename|resume|rewind|stats|status|theme|undo|usage)(?=\s|$)/;

/** Of sub-agents' events only edits count: what they found comes back as a result in the main conversation. */
export function logEvent(log: SessionLog, event: Event): void {
  if (event.sidechain === true) {
    const edits = event.type === 'call' && event.action.kind === 'edit' ? event.action.edits : [];
    for (const edit of edits) logEdit(log, edit, event.ref.line);
    return;
  }
  if (event.cwd !== undefined) log.cwd = event.cwd;
  if (event.branch !== undefined) log.branch = event.branch;
  if (event.model !== undefined) log.model = event.model;
  log.firstAt ??= event.at;
  // A queued prompt carries the time it was typed, which is before events that came first.
  if (event.type !== 'injected' && (event.at ?? '') > (log.lastAt ?? '')) log.lastAt = event.at;
  const toMessage = (text: string): Message => ({ call: log.calls, text, line: event.ref.line });
  switch (event.type) {
    case 'prompt':
      if (HOUSEKEEPING.test(event.text)) break;
      log.lastSpeaker = 'human';
      log.prompts.push({
        ...toMessage(event.text),
        ...log.asked,
        ...(event.from === undefined ? {} : { from: event.from }),
        ...(event.steering === undefined ? {} : { steering: true as const }),
      });
      log.asked = null;
      log.thought = null;
      queueText(log, event.text, 'user');
      break;
    case 'reply':
      if (event.text.trim() === '') break;
      log.lastSpeaker = 'agent';
      log.stop = null;
      log.thought = null;
      pushBounded(log.replies, { ...toMessage(event.text), ...(event.interim && { interim: true }) }, MAX_REPLIES);
      queueText(log, event.text, 'agent');
      break;
    case 'thought':
      log.thought = toMessage(event.text.slice(-MAX_THOUGHT));
      break;
    case 'compaction':
      if (event.summary === null) break;
      log.summary = { ...toMessage(event.summary), after: log.prompts.length };
      queueText(log, event.summary, 'summary');
      break;
    case 'plan':
      log.plan = event.items;
      log.planLine = event.ref.line;
      log.planCall = log.calls;
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
      if (log.asked?.question === undefined) log.asked = null;
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
  if (event.by_human) log.humanCalls.add(log.calls);
  log.stop = null;
  log.asked = null;
  countCall(log.windows, log.calls);
  const { calls: call } = log;
  const { action, ref } = event;
  const { line } = ref;
  const step: Step = { call, line, tool: event.tool, kind: action.kind, input: {}, failed: null, output: '' };
  pushBounded<Step>(log.steps, step, MAX_STEPS);
  const open = (what: string, source: MentionSource, more: Partial<PendingCall> = {}): void => {
    const unknown = { command: null, path: null, edits: [], isBackground: false, about: [] };
    log.pending.set(event.call, { call, what, line, source, step, ...unknown, ...more });
  };
  const setInput = (input: Record<string, string | null>): void => {
    for (const [name, value] of Object.entries(input)) if (value !== null) step.input[name] = value.slice(0, MAX_INPUT);
  };
  switch (action.kind) {
    case 'edit':
      for (const edit of action.edits) logEdit(log, edit, line);
      open(action.edits.map((edit) => edit.path).join(', '), 'edited', { edits: action.edits });
      setInput({ file_path: action.edits.map((edit) => edit.path).join(', '), ...quoteEdits(action.edits) });
      break;
    case 'read':
      logRead(log, action.path, line);
      open(action.path, 'content', { path: action.path });
      setInput({ file_path: action.path });
      break;
    case 'command': {
      const { command, background, folder = log.cwd } = action;
      setInput({ command });
      const run = { call, command, folder, background, line, started: null, failed: null, exit: null, output: '' };
      log.commands.push(run);
      dropOldOutput(log.commands);
      queueText(log, command, 'command');
      const shown = findShownFiles(command).map((path) => locatePath(path, folder));
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

/** Word for word, from the first to the last line that edits change: what they bring in, or what they take out. */
function quoteEdits(edits: readonly FileEdit[]): Record<string, string> {
  const changed = edits.map(({ before, after }) => {
    const [old, now] = [before.split('\n'), after.split('\n')];
    const start = now.findIndex((line, at) => line !== old[at]);
    const end = now.findLastIndex((line, at) => line !== old[at - now.length + old.length]);
    const added = start === -1 ? [] : now.slice(start, Math.max(start, end) + 1);
    return { added: added.join('\n'), removed: before };
  });
  const join = (texts: readonly string[]): string => texts.filter((text) => text.trim() !== '').join('\n…\n');
  const added = join(changed.map((edit) => edit.added));
  const removed = join(changed.map((edit) => edit.removed));
  if (added !== '') return { new_string: added };
  return removed === '' ? {} : { old_string: removed, new_string: '' };
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
  noteDeclared(file, edit, log.calls);
  noteDocument(log, edit, line);
  if (edit.to !== undefined) countEdit(log, touchFile(log, edit.to, line));
  queueForIndex(log.windows, { kind: 'edit', edit, call: log.calls });
}

const SHORTEST_DOCUMENT = 400;
const MAX_DOCUMENT = 12_000;
const MAX_DOCUMENTS = 4;
/** An edit of a text that begins like the document but is no part of it replaces all of it. */
const BEGINNING = 200;

/** A document stands as its last edits left it; one whose edits cannot be followed is not known any more. */
function noteDocument({ documents, calls: call }: SessionLog, edit: FileEdit, line: number): void {
  const { path, before, after, change } = edit;
  if (!isProse(path) || change === 'deleted') return;
  const known = documents.get(path)?.text;
  const isPart = before !== '' && known?.includes(before) === true && known !== before;
  const isWhole =
    before === '' || change === 'created' || (known !== undefined && before.startsWith(known.slice(0, BEGINNING)));
  if (!isPart && !isWhole) {
    // In one of which only the beginning is known, the edit may be further down.
    if (known !== undefined && known.length < MAX_DOCUMENT) documents.delete(path);
    return;
  }
  const text = isPart ? known.replaceAll(before, () => after) : after;
  documents.delete(path);
  if (text.length >= SHORTEST_DOCUMENT) documents.set(path, { call, line, text: text.slice(0, MAX_DOCUMENT) });
  for (const oldest of documents.keys()) if (documents.size > MAX_DOCUMENTS) documents.delete(oldest);
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
  const { command, source, step } = pending;
  const isStart = command?.background === true && command.started === null && STARTED.test(event.output);
  if (event.running === true || isStart) {
    if (command !== null) command.started = event.output.slice(0, MAX_START);
    // Of a command that puts itself into the background, the agent follows only the shell, which has ended.
    pending.isBackground = event.running === true || !/&\s*$/.test(command?.command ?? '');
    step.output = event.output.slice(0, MAX_START);
    return;
  }
  log.pending.delete(event.call);
  const failed = event.ok === false || (event.exit !== null && event.exit !== 0);
  step.failed = failed;
  step.output = cutMiddle(event.output, MAX_STEP_OUTPUT);
  if (failed || event.refused === true) undoEdits(log, pending, 'failures');
  if (failed && source === 'content' && pending.path !== null) undoRead(log.files, pending.path);
  if (event.refused === true) {
    // What the human says with it is about this call.
    const what = cutAtWord(cleanLine(pending.what), MAX_ACTION);
    const shown = pending.path !== null || pending.edits.length > 0 ? baseName(what) : what;
    log.asked = source === 'answer' ? { question: what } : { refused: `${step.tool} ${shown}` };
    log.commands = log.commands.filter((run) => run !== command);
    log.steps = log.steps.filter((other) => other !== step);
    if (source === 'plan') log.proposals = log.proposals.filter((proposal) => proposal.call !== pending.call);
    return;
  }
  if (command !== null) {
    command.failed = failed;
    command.exit = event.exit;
    command.output = cutMiddle(event.output, MAX_OUTPUT, OUTPUT_HEAD);
    if (!failed) applyRemovals(log.files, findRemovals(command.command, command.folder), { ...pending, cwd: log.cwd });
  }
  if (!failed && ACTION_TOOL.test(step.tool)) noteAction(log, pending, event.output);
  if (ENDED.test(event.output.slice(0, 2000))) endBackground(log, pending.about);
  if (source === 'answer') log.asked = { question: pending.what };
  if (UNREAD.has(source)) return;
  pushBounded(log.results, { call: log.calls, source, text: event.output, paths: null }, MAX_RESULTS);
}

/** Tools of other services that change something there. */
const ACTION_TOOL =
  /(?:^|_)(?:create|update|add|save|post|send|merge|close|delete|transition)_?(?:[a-z]+_)*(?:issue|comment|pull_request|merge_request|pr|message|page|ticket|release|review)s?$/i;
const ACTION_REFERENCE =
  /https?:\/\/[^\s"\\]{3,120}\/(?:pull|issues?|issue|merge_requests|browse)\/[\w-]+|\b[A-Z]{2,8}-\d{1,6}\b|(?<!\w)#\d+/;
const MAX_ACTION = 120;

function noteAction({ actions, calls: call }: SessionLog, { step, about: texts }: PendingCall, output: string): void {
  const name = step.tool.replace(/^.*__/, '');
  const reference = ACTION_REFERENCE.exec(output)?.[0] ?? '';
  // A title has several words and comes before the text itself; ids and names have one.
  const title = texts.find((text) => /\S\s+\S/.test(text)) ?? texts.join(' ');
  const about = cutAtWord(cleanLine(title), MAX_ACTION);
  actions.push({
    call,
    text: [name, reference, about === '' ? '' : `"${about}"`].filter((part) => part !== '').join(' '),
  });
}

function cutMiddle(text: string, length: number, head = length / 2): string {
  if (text.length <= length) return text;
  return `${text.slice(0, head)}\n…\n${text.slice(head - length)}`;
}

/** Takes back what a call that failed, was refused, or has no result, would have done. */
function undoEdits(
  { files, documents }: SessionLog,
  { edits, call }: PendingCall,
  counted: 'failures' | 'begun',
): void {
  for (const path of new Set(edits.flatMap((edit) => [edit.path, edit.to ?? edit.path]))) {
    if (documents.get(path)?.call === call) documents.delete(path);
    const file = files.get(path);
    if (file === undefined) continue;
    file.edits--;
    file.editCalls = file.editCalls.filter((other) => other !== call);
    file.lastEdit = file.editCalls.at(-1) ?? 0;
    file[counted]++;
    file.created &&= file.edits > 0;
    file.deleted = false;
  }
}

function undoRead(files: Map<string, TouchedFile>, path: string): void {
  const file = files.get(path);
  if (file === undefined) return;
  file.reads--;
  if (file.reads <= 0 && file.edits === 0 && file.failures === 0) files.delete(path);
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

/** To be called once, after the last event: builds the index of names. An edit without a result is only begun. */
export function closeSessionLog(log: SessionLog): void {
  for (const pending of log.pending.values()) undoEdits(log, pending, 'begun');
  flushSessionLog(log);
  log.index = joinIndexes(log.windows.map((window) => window.index));
  for (const { paths, source, call } of log.results.slice(-MAX_RESULTS))
    addPaths(log.index, paths ?? [], { source, call });
}
