import type { Action, Event, FileEdit, PlanItem } from '../model/event.ts';
import { countUtf8Bytes } from '../model/text.ts';
import { listAdded, logEdit, logRead, undoEdits } from './edits.ts';
import {
  addPaths,
  countCall,
  flushWindow,
  joinIndexes,
  type MentionSource,
  NameIndex,
  NameWindow,
  queueForIndex,
} from './name-index.ts';
import { findPaths } from './names.ts';
import { didFail } from './outcome.ts';
import { findRemovals, findShownFiles } from './shell.ts';
import { applyRemovals, locatePath, type TouchedFile } from './touched-files.ts';

/** Something said, with the number of calls made before it and its line in the transcript. */
export interface Message {
  call: number;
  text: string;
  line: number;
  /** The question of the agent that it answers. */
  question?: string;
  /** Who wrote it, where that is another agent: the lead of a team. */
  from?: string;
}

interface PendingCall {
  call: number;
  what: string;
  line: number;
  source: MentionSource;
  command: CommandRun | null;
  path: string | null;
  edits: readonly FileEdit[];
  step: Step;
  /** The texts of its input, where the call may be about background work. */
  about: readonly string[];
}

/** A call as the log of the last steps shows it. */
export interface Step {
  call: number;
  line: number;
  tool: string;
  kind: Action['kind'];
  /** What it was given, by the usual names of parameters. */
  input: Record<string, string>;
  /** Null until the result is seen. */
  failed: boolean | null;
  /** The beginning and the end of the result. */
  output: string;
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
  /** Cleared once it was searched for paths. */
  text: string;
  /** Null until the text is searched. */
  paths: string[] | null;
}

/**
 * What happened in a session, as far as facts are made of it. Plain data, stored in checkpoints of transcripts. Grows with
 * what was said and touched, not with the size of outputs.
 */
export class SessionLog {
  calls = 0;
  prompts: Message[] = [];
  replies: Message[] = [];
  proposals: Message[] = [];
  /** Documents in prose that were written as a whole, as they stand after later edits; the newest last. */
  documents = new Map<string, Message>();
  plan: PlanItem[] = [];
  planLine = 0;
  files = new Map<string, TouchedFile>();
  commands: CommandRun[] = [];
  /** By the agent's id of the call. */
  pending = new Map<string, PendingCall>();
  steps: Step[] = [];
  /** What calls did outside of the files: issues, comments, messages. */
  actions: { call: number; text: string }[] = [];
  results: ToolResult[] = [];
  /** The question that the next prompt answers. */
  asked: string | null = null;
  lastSpeaker: 'human' | 'agent' | null = null;
  /** Numbers of the prompts whose work the human stopped, from 1. */
  interrupted = new Set<number>();
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
    const own = { call, what, line, source, command: null, path: null, edits: [], step, about: [], ...more };
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
      open(action.task, 'report');
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
const COMMANDS_IN_FULL = 500;
const SHORT_OUTPUT = 1000;

/** Of old commands, only failures and short outputs are worth their memory. */
function dropOldOutput(commands: readonly CommandRun[]): void {
  const old = commands.at(-COMMANDS_IN_FULL - 1);
  if (old !== undefined && old.output.length > SHORT_OUTPUT && !didFail(old)) old.output = '';
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

const SUBSTANTIVE_BYTES = 25;

/** The position of the request being worked on: the last substantive one that answers no question, else the last; -1 without any. */
export function findCurrentPrompt({ prompts }: SessionLog): number {
  const substantive = prompts.findLastIndex(
    (prompt) => prompt.question === undefined && countUtf8Bytes(prompt.text) > SUBSTANTIVE_BYTES,
  );
  return substantive === -1 ? prompts.length - 1 : substantive;
}
