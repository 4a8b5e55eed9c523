import type { Event, FileEdit, PlanItem } from '../model/event.ts';
import { countUtf8Bytes } from '../model/text.ts';
import {
  addMentions,
  countCall,
  flushWindow,
  joinIndexes,
  type MentionSource,
  NameIndex,
  NameWindow,
  queueForIndex,
} from './name-index.ts';
import { findNames, type Names } from './names.ts';
import { didFail } from './outcome.ts';
import { findRemovals, findShownFiles } from './shell.ts';
import { applyRemovals, locatePath, TouchedFile } from './touched-files.ts';

/** Something said, with the number of calls made before it and its line in the transcript. */
export interface Message {
  call: number;
  text: string;
  line: number;
  /** Set where the human answers a question that the agent asked. */
  answer?: true;
}

interface PendingCall {
  call: number;
  what: string;
  line: number;
  source: MentionSource;
  command: CommandRun | null;
  path: string | null;
  edits: readonly FileEdit[];
}

export interface CommandRun {
  call: number;
  command: string;
  background: boolean;
  line: number;
  /** The output when it went into the background; null otherwise. */
  started: string | null;
  /** Null until the result is seen. */
  failed: boolean | null;
  exit: number | null;
  output: string;
}

interface ToolResult {
  call: number;
  source: MentionSource;
  path: string | null;
  /** Cleared once its names are found, except for the reports of sub-agents. */
  text: string;
  /** Null until the text is searched. */
  names: Names | null;
}

/**
 * What happened in a session, as far as facts are made of it. Plain data, stored in checkpoints of transcripts. Grows with
 * what was said and touched, not with the size of outputs.
 */
export class SessionLog {
  calls = 0;
  prompts: Message[] = [];
  replies: Message[] = [];
  summaries: Message[] = [];
  proposals: Message[] = [];
  plan: PlanItem[] = [];
  planLine = 0;
  files = new Map<string, TouchedFile>();
  commands: CommandRun[] = [];
  /** By the agent's id of the call. */
  pending = new Map<string, PendingCall>();
  results: ToolResult[] = [];
  /** Whether the next prompt answers a question of the agent. */
  answering = false;
  lastSpeaker: 'human' | 'agent' | null = null;
  /** The provider's limit or error that ended the session; null once the session went on. */
  stop: Message | null = null;
  windows: NameWindow[] = [new NameWindow()];
  index: NameIndex = new NameIndex();
  cwd: string | null = null;
  branch: string | null = null;
  model: string | null = null;
  firstAt: string | null = null;
  lastAt: string | null = null;
}

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
      log.prompts.push({ ...toMessage(event.text), ...(log.answering ? { answer: true } : {}) });
      log.answering = false;
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
      log.summaries.push(toMessage(event.summary));
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
  log.answering = false;
  countCall(log.windows, log.calls);
  const { calls: call } = log;
  const { action } = event;
  const line = event.ref.line;
  const open = (what: string, source: MentionSource, more: Partial<PendingCall> = {}): void => {
    log.pending.set(event.call, { call, what, line, source, command: null, path: null, edits: [], ...more });
  };
  switch (action.kind) {
    case 'edit':
      for (const edit of action.edits) logEdit(log, edit, line);
      open(action.edits.map((edit) => edit.path).join(', '), 'kept', { edits: action.edits });
      break;
    case 'read':
      logRead(log, action.path, line);
      open(action.path, 'content', { path: action.path });
      break;
    case 'command': {
      const { command, background } = action;
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
      break;
    case 'fetch':
      open(action.url, 'other');
      break;
    case 'delegate':
      queueText(log, action.task, 'plan');
      open(action.task, 'report');
      break;
    case 'ask':
      queueText(log, action.question, 'plan');
      open(action.question, 'answer');
      break;
    case 'propose':
      log.proposals.push({ call, text: action.text, line });
      queueText(log, action.text, 'plan');
      open('a plan', 'plan');
      break;
    case 'other':
      if (STOP_TOOL.test(event.tool)) endBackground(log, action.texts);
      queueText(log, action.texts.join('\n'), 'plan');
      open(event.tool, 'other');
      break;
  }
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
  if (edit.to !== undefined) countEdit(log, touchFile(log, edit.to, line));
  queueForIndex(log.windows, { kind: 'edit', edit, call: log.calls });
}

/** All changes that one call makes to a file are one edit. */
function countEdit({ calls }: SessionLog, file: TouchedFile): void {
  if (file.lastEdit !== calls) file.edits++;
  file.lastEdit = calls;
}

function touchFile({ files }: SessionLog, path: string, line: number): TouchedFile {
  const file = files.get(path) ?? new TouchedFile(path, line);
  files.set(path, file);
  return file;
}

const MAX_OUTPUT = 12_000;
const MAX_START = 200;
/** How agents report that a command goes on in the background. */
const STARTED = /\bbackground\b/i;
const STOP_TOOL = /kill|stop|cancel/i;
/** Results that say nothing which is not known from the call or from the human's answer. */
const UNREAD: ReadonlySet<MentionSource> = new Set(['kept', 'answer', 'plan']);

function logResult(log: SessionLog, event: Extract<Event, { type: 'result' }>): void {
  const pending = log.pending.get(event.call);
  if (pending === undefined) return;
  const { command, edits, source, path } = pending;
  if (command?.background === true && command.started === null && STARTED.test(event.output)) {
    command.started = event.output.slice(0, MAX_START);
    return;
  }
  log.pending.delete(event.call);
  const failed = event.ok === false || (event.exit !== null && event.exit !== 0);
  if (failed || event.refused === true) undoEdits(log, edits);
  if (event.refused === true) {
    log.commands = log.commands.filter((run) => run !== command);
    if (source === 'plan') log.proposals = log.proposals.filter((proposal) => proposal.call !== pending.call);
    return;
  }
  if (command !== null) {
    command.failed = failed;
    command.exit = event.exit;
    command.output = event.output.slice(0, MAX_OUTPUT);
    if (!failed) applyRemovals(log.files, findRemovals(command.command, log.cwd), pending);
  }
  if (source === 'answer') log.answering = true;
  if (UNREAD.has(source)) return;
  pushBounded(log.results, { call: log.calls, source, path, text: event.output, names: null }, MAX_RESULTS);
}

function undoEdits({ files }: SessionLog, edits: readonly FileEdit[]): void {
  for (const path of new Set(edits.flatMap((edit) => [edit.path, edit.to ?? edit.path]))) {
    const file = files.get(path);
    if (file === undefined) continue;
    file.edits--;
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

/** Finds the names in texts that may still matter and drops the texts, to shrink the log. More events may follow. */
export function flushSessionLog({ results, windows }: SessionLog): void {
  for (const window of windows) flushWindow(window);
  for (const [index, result] of results.entries()) {
    if (result.names !== null) continue;
    const isWanted = index >= results.length - MAX_RESULTS || result.path !== null;
    result.names = findNames(isWanted ? result.text : '');
    if (result.source !== 'report') result.text = '';
  }
}

/** To be called once, after the last event: builds the index of names. */
export function closeSessionLog(log: SessionLog): void {
  flushSessionLog(log);
  log.index = joinIndexes(log.windows.map((window) => window.index));
  for (const { names, source, call } of log.results.slice(-MAX_RESULTS))
    if (names !== null) addMentions(log.index, names, { source, call });
}

const SUBSTANTIVE_BYTES = 25;

/** The position of the request being worked on: the last substantive one that answers no question, else the last; -1 without any. */
export function findCurrentPrompt({ prompts }: SessionLog): number {
  const substantive = prompts.findLastIndex((p) => !p.answer && countUtf8Bytes(p.text) > SUBSTANTIVE_BYTES);
  return substantive === -1 ? prompts.length - 1 : substantive;
}
