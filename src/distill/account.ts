import type { Event, FileEdit, PlanItem } from '../model/event.ts';
import { countUtf8Bytes } from '../model/text.ts';
import { enterRemovals, findRemovals, findShownFiles } from './command-files.ts';
import { findNames, type Names } from './find-names.ts';
import { type Ledger, noteNames, openLedger, type Voice } from './ledger.ts';
import { didFail } from './outcome.ts';
import { countCall, hold, joinStretches, openStretches, type Stretch, settleStretch } from './stretch.ts';
import { describeUntouched, locatePath, type TouchedFile } from './touched-file.ts';

/** Something said, with how many calls had been made by then and where it stands. */
export interface Said {
  call: number;
  text: string;
  line: number;
  /** Set on what the human said because the agent had asked. */
  answer?: true;
}

/** A call that has had no result yet. */
export interface OpenCall {
  call: number;
  what: string;
  line: number;
  voice: Voice;
  command: RanCommand | null;
  path: string | null;
  edits: readonly FileEdit[];
}

export interface RanCommand {
  call: number;
  command: string;
  background: boolean;
  line: number;
  /** What was said when it went into the background; null otherwise. */
  started: string | null;
  /** Null until the result is seen. */
  failed: boolean | null;
  exit: number | null;
  output: string;
}

export interface KeptResult {
  call: number;
  voice: Voice;
  path: string | null;
  /** Empty once it has been read, unless somebody tells something in it. */
  text: string;
  /** Null until it has been read. */
  names: Names | null;
}

/** What happened in a session, as far as facts are made of it. Grows with what was said and touched, not with outputs. */
export interface Account {
  calls: number;
  prompts: Said[];
  replies: Said[];
  summaries: Said[];
  proposals: Said[];
  plan: PlanItem[];
  planLine: number;
  files: Map<string, TouchedFile>;
  commands: RanCommand[];
  /** Calls without a result yet, by the agent's id of the call. */
  open: Map<string, OpenCall>;
  /** The latest results: older ones say little that was not said since, and are let go unread. */
  results: KeptResult[];
  /** Whether the agent has asked the human by a call, and what comes next is the answer. */
  answering: boolean;
  /** Who spoke last; calls and results are no speech. */
  lastSpeaker: 'human' | 'agent' | null;
  /** The limit or error of the provider that the session ended with; null once it went on. */
  stop: Said | null;
  /** What is looked through for names, part by part. */
  stretches: Stretch[];
  /** All names, once the account is closed. */
  ledger: Ledger;
  cwd: string | null;
  branch: string | null;
  model: string | null;
  firstAt: string | null;
  lastAt: string | null;
}

export function openAccount(): Account {
  return {
    calls: 0,
    prompts: [],
    replies: [],
    summaries: [],
    proposals: [],
    plan: [],
    planLine: 0,
    files: new Map(),
    commands: [],
    open: new Map(),
    results: [],
    answering: false,
    lastSpeaker: null,
    stop: null,
    stretches: openStretches(),
    ledger: openLedger(),
    cwd: null,
    branch: null,
    model: null,
    firstAt: null,
    lastAt: null,
  };
}

const KEPT_RESULTS = 150;
const KEPT_REPLIES = 400;
const KEPT_OUTPUT = 12_000;

/** Commands to the agent's own interface: they ask for no work. */
const HOUSEKEEPING =
  /^\s*\/(?:clear|compact|compress|config|context|cost|doctor|exit|export|fork|help|hooks|init|login|logout|mcp|memory|model|new|permissions|plugin|quit|rename|resume|rewind|stats|status|theme|undo|usage)(?=\s|$)/;

/** Enters one event. Sub-agents' events are their own; what they found comes back as a result of the main line. */
export function enterEvent(account: Account, event: Event): void {
  if (event.sidechain === true) return;
  if (event.cwd !== undefined) account.cwd = event.cwd;
  if (event.branch !== undefined) account.branch = event.branch;
  if (event.model !== undefined) account.model = event.model;
  account.firstAt ??= event.at;
  // What this product put in tells nothing of the session.
  if (event.type !== 'injected') account.lastAt = event.at ?? account.lastAt;
  const { calls: call } = account;
  const said = (text: string): Said => ({ call, text, line: event.ref.line });
  switch (event.type) {
    case 'prompt':
      if (HOUSEKEEPING.test(event.text)) break;
      account.lastSpeaker = 'human';
      account.prompts.push(account.answering ? { ...said(event.text), answer: true } : said(event.text));
      account.answering = false;
      holdText(account, event.text, 'user');
      break;
    case 'reply':
      if (event.text.trim() === '') break;
      account.lastSpeaker = 'agent';
      account.stop = null;
      keepLast(account.replies, said(event.text), KEPT_REPLIES);
      holdText(account, event.text, 'agent');
      break;
    case 'compaction':
      if (event.summary === null) break;
      account.summaries.push(said(event.summary));
      holdText(account, event.summary, 'summary');
      break;
    case 'plan':
      account.plan = event.items;
      account.planLine = event.ref.line;
      holdText(account, event.items.map(printItem).join('\n'), 'task');
      break;
    case 'call':
      enterCall(account, event);
      break;
    case 'result':
      enterResult(account, event);
      break;
    case 'limit':
      account.stop = said(event.text);
      break;
    case 'injected':
      break;
  }
}

/** An item of a plan as it is spoken of. */
export function printItem({ id, text, detail }: PlanItem): string {
  return `${id === undefined ? '' : `#${id} `}${text}\n${detail ?? ''}`;
}

function holdText({ stretches, calls: call }: Account, text: string, voice: Voice): void {
  hold(stretches, { kind: 'text', text, place: { voice, call } });
}

type CallEvent = Extract<Event, { type: 'call' }>;

function enterCall(account: Account, event: CallEvent): void {
  account.calls++;
  account.stop = null;
  account.answering = false;
  countCall(account.stretches, account.calls);
  const { calls: call } = account;
  const { action } = event;
  const line = event.ref.line;
  const open = (what: string, voice: Voice, more: Partial<OpenCall> = {}): void => {
    account.open.set(event.call, { call, what, line, voice, command: null, path: null, edits: [], ...more });
  };
  switch (action.kind) {
    case 'edit':
      for (const edit of action.edits) enterEdit(account, edit, line);
      open(action.edits.map((edit) => edit.path).join(', '), 'kept', { edits: action.edits });
      break;
    case 'read':
      enterRead(account, action.path, line);
      open(action.path, 'content', { path: action.path });
      break;
    case 'command': {
      const { command, background } = action;
      const ran: RanCommand = {
        call,
        command,
        background,
        line,
        started: null,
        failed: null,
        exit: null,
        output: '',
      };
      account.commands.push(ran);
      shedOutput(account.commands);
      holdText(account, command, 'command');
      const shown = findShownFiles(command).map((path) => locatePath(path, account.cwd));
      for (const path of shown) enterRead(account, path, line);
      open(command, 'output', { command: ran, path: shown.length === 1 ? (shown[0] ?? null) : null });
      break;
    }
    case 'search':
      holdText(account, `${action.pattern} ${action.path ?? ''}`, 'pattern');
      open(action.pattern, 'hits');
      break;
    case 'fetch':
      open(action.url, 'other');
      break;
    case 'delegate':
      holdText(account, action.task, 'plan');
      open(action.task, 'report');
      break;
    case 'ask':
      holdText(account, action.question, 'plan');
      open(action.question, 'answer');
      break;
    case 'propose':
      account.proposals.push({ call, text: action.text, line });
      holdText(account, action.text, 'plan');
      open('a plan', 'plan');
      break;
    case 'other':
      if (STOPPING.test(event.tool)) endBackground(account, action.texts);
      holdText(account, action.texts.join('\n'), 'plan');
      open(event.tool, 'other');
      break;
  }
}

const COMMANDS_IN_FULL = 500;
const SHORT_OUTPUT = 1000;

/** Of what was run so long ago, only a failure, or what is short, is worth its memory. */
function shedOutput(commands: readonly RanCommand[]): void {
  const old = commands.at(-COMMANDS_IN_FULL - 1);
  if (old !== undefined && old.output.length > SHORT_OUTPUT && !didFail(old)) old.output = '';
}

function enterRead(account: Account, path: string, line: number): void {
  const file = touchFile(account, path, line);
  file.reads++;
  file.lastRead = account.calls;
  hold(account.stretches, { kind: 'file', path, place: { voice: 'opened', call: account.calls } });
}

function enterEdit(account: Account, edit: FileEdit, line: number): void {
  const file = touchFile(account, edit.path, line);
  countEdit(account, file);
  file.line = line;
  if (edit.change === 'created' && file.reads === 0 && file.edits === 1) file.created = true;
  file.deleted = edit.change === 'deleted' || edit.change === 'moved';
  if (edit.to !== undefined) {
    countEdit(account, touchFile(account, edit.to, line));
  }
  hold(account.stretches, { kind: 'edit', edit, call: account.calls });
}

/** However many places of a file a call changes, it is one edit. */
function countEdit({ calls }: Account, file: TouchedFile): void {
  if (file.lastEdit !== calls) file.edits++;
  file.lastEdit = calls;
}

function touchFile(account: Account, path: string, line: number): TouchedFile {
  const known = account.files.get(path);
  if (known !== undefined) return known;
  const file = describeUntouched(path, line);
  account.files.set(path, file);
  return file;
}

type ResultEvent = Extract<Event, { type: 'result' }>;

function enterResult(account: Account, event: ResultEvent): void {
  const asked = account.open.get(event.call);
  if (asked === undefined) return;
  const { calls: call } = account;
  if (asked.command?.background === true && asked.command.started === null && STARTED.test(event.output)) {
    asked.command.started = event.output.slice(0, KEPT_START);
    return;
  }
  account.open.delete(event.call);
  if (event.refused === true) {
    takeBack(account, asked);
    return;
  }
  const failed = event.ok === false || (event.exit !== null && event.exit !== 0);
  if (failed) undoEdits(account, asked.edits);
  if (asked.command !== null) {
    asked.command.failed = failed;
    asked.command.exit = event.exit;
    asked.command.output = event.output.slice(0, KEPT_OUTPUT);
    if (!failed) enterRemovals(account.files, findRemovals(asked.command.command, account.cwd), asked);
  }
  if (asked.voice === 'answer') account.answering = true;
  if (UNREAD.has(asked.voice)) return;
  const { voice, path } = asked;
  keepLast(account.results, { call, voice, path, text: event.output, names: null }, KEPT_RESULTS);
}

/** Results that say nothing which is not known from the call or told by the human. */
const UNREAD: ReadonlySet<Voice> = new Set(['kept', 'answer', 'plan']);
const KEPT_START = 200;
/** How agents say that a command goes on by itself. */
const STARTED = /\bbackground\b/i;
const STOPPING = /kill|stop|cancel/i;

/** The human did not allow it: it has not happened, and a plan that was laid before the human is none. */
function takeBack(account: Account, asked: OpenCall): void {
  undoEdits(account, asked.edits);
  if (asked.command !== null) account.commands = account.commands.filter((ran) => ran !== asked.command);
  if (asked.voice === 'plan')
    account.proposals = account.proposals.filter((proposal) => proposal.call !== asked.call);
}

function undoEdits(account: Account, edits: readonly FileEdit[]): void {
  for (const path of new Set(
    edits.flatMap((edit) => (edit.to === undefined ? [edit.path] : [edit.path, edit.to])),
  )) {
    const file = account.files.get(path);
    if (file === undefined) continue;
    file.edits--;
    file.failures++;
    file.created &&= file.edits > 0;
    file.deleted = false;
  }
}

/** A command in the background ends when it is stopped by the name that its start gave it. */
function endBackground(account: Account, names: readonly string[]): void {
  for (const [id, { command }] of account.open) {
    const started = command?.started ?? null;
    if (started !== null && names.some((name) => name !== '' && started.includes(name)))
      account.open.delete(id);
  }
}

function keepLast<T>(items: T[], item: T, count: number): void {
  items.push(item);
  if (items.length > count * 2) items.splice(0, items.length - count);
}

/**
 * Looks through all that may matter by now, and lets go of the texts: an account that is put aside gets much smaller. More
 * may be entered afterwards.
 */
export function settleAccount({ results, stretches }: Account): void {
  for (const stretch of stretches) settleStretch(stretch);
  for (const [index, result] of results.entries()) {
    if (result.names !== null) continue;
    const isWanted = index >= results.length - KEPT_RESULTS || result.path !== null;
    result.names = findNames(isWanted ? result.text : '');
    if (result.voice !== 'report') result.text = '';
  }
}

/** Notes what the latest results name. To be called once, at the end. */
export function closeAccount(account: Account): void {
  settleAccount(account);
  account.ledger = joinStretches(account.stretches);
  for (const { names, voice, call } of account.results.slice(-KEPT_RESULTS))
    if (names !== null) noteNames(account.ledger, names, { voice, call });
}

const SUBSTANTIVE = 25;

/**
 * The position of the request that is being worked on: the last one that says something of its own accord, else the
 * last one; -1 without any.
 */
export function findCurrentPrompt({ prompts }: Account): number {
  const substantive = prompts.findLastIndex(
    (prompt) => !prompt.answer && countUtf8Bytes(prompt.text) > SUBSTANTIVE,
  );
  return substantive === -1 ? prompts.length - 1 : substantive;
}
