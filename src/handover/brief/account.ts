import type { Fact, FactKind } from '../../model/fact.ts';
import { isRequest, isUserMessage } from '../../model/fact-roles.ts';
import type { Handover } from '../../model/handover.ts';
import { isChangedFile } from '../outcome.ts';

/** A request with what came of it. */
export interface Turn {
  number: number;
  prompt: Fact | null;
  /** What the user said while the agent was at work on it. */
  steering: Fact[];
  /** What the agent said on it in the end. */
  closing: Fact | null;
  /** Files edited, commits made. */
  work: Fact | null;
}

/** The facts of a handover by the part they play in the account of it. */
export interface Account {
  state: Fact | null;
  /** The request being worked on, and what the user said after it. */
  current: Fact | null;
  after: Fact[];
  first: Fact | null;
  turns: Turn[];
  /** What the agent wrote for itself when its context was compacted. */
  summary: Fact | null;
  /** What the agent said last, and on the way in the last turn. */
  lastWords: Fact | null;
  working: Fact[];
  /** What it thought last, after that. */
  thought: Fact | null;
  log: Fact | null;
  documents: Fact[];
  /** What a person stated to be next. */
  steps: Fact[];
  tasks: Fact[];
  questions: Fact[];
  blockers: Fact[];
  openErrors: Fact[];
  running: Fact[];
  pinned: Fact[];
  /** Stated on purpose, by hand or by an agent through us; and what was refuted. */
  declared: Fact[];
  /** Answers, approved plans, picked options, the newest first. */
  settled: Fact[];
  /** What the user said in earlier sessions: rules, then requests and lists, then other messages; of each the newest first. */
  rules: Fact[];
  imported: Fact[];
  changed: Fact[];
  otherFiles: Fact[];
  commands: Fact[];
  commits: Fact[];
  links: Fact[];
  /** What the agent said, in handovers that list single sentences. */
  said: Fact[];
}

export function buildAccount({ facts }: Pick<Handover, 'facts'>): Account {
  const account: Account = {
    state: null,
    current: null,
    after: [],
    first: null,
    turns: [],
    summary: null,
    lastWords: null,
    working: [],
    thought: null,
    log: null,
    documents: [],
    steps: [],
    tasks: [],
    questions: [],
    blockers: [],
    openErrors: [],
    running: [],
    pinned: [],
    declared: [],
    settled: [],
    rules: [],
    imported: [],
    changed: [],
    otherFiles: [],
    commands: [],
    commits: [],
    links: [],
    said: [],
  };
  const turns = new Map<number, Turn>();
  for (const fact of facts) place(account, turns, fact);
  account.rules = sortNewestFirst(account.rules).sort((a, b) => rankRule(a) - rankRule(b));
  account.settled = sortNewestFirst(account.settled);
  account.turns = [...turns.values()].sort((a, b) => a.number - b.number);
  account.after.sort((a, b) => readNumber(a, 'message') - readNumber(b, 'message'));
  return account;
}

function rankRule(fact: Fact): number {
  if (fact.kind === 'constraint') return 0;
  return isRequest(fact) ? 1 : 2;
}

/** A handover has the facts of its own session first, then those of the one before it, and so on; in each the newest comes last. */
function sortNewestFirst(facts: readonly Fact[]): Fact[] {
  const sessions = [...new Set(facts.map(({ sources: [source] }) => source?.session))];
  const placeOf = ({ sources: [source] }: Fact): number =>
    source?.session === undefined ? -1 : sessions.indexOf(source.session);
  return facts.toReversed().sort((a, b) => placeOf(a) - placeOf(b));
}

export function readText(fact: Fact, name: string): string | null {
  const value = fact.detail?.[name];
  return typeof value === 'string' ? value : null;
}

export function readNumber(fact: Fact, name: string): number {
  const value = fact.detail?.[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function place(account: Account, turns: Map<number, Turn>, fact: Fact): void {
  if (fact.pinned === true) account.pinned.push(fact);
  else if (fact.trust === 'imported') account.imported.push(fact);
  else if (isStatedStep(fact)) account.steps.push(fact);
  else if (fact.trust === 'declared' || fact.status === 'refuted') account.declared.push(fact);
  else if (fact.sources[0]?.session !== undefined) placeEarlier(account, fact);
  else if (!placeByRole(account, turns, fact)) placeByKind(account, fact);
}

function isStatedStep({ kind, trust, origin, status }: Fact): boolean {
  return kind === 'next' && trust === 'declared' && origin === 'human' && status === undefined;
}

/** Of an earlier session only what still holds was taken over. */
function placeEarlier(account: Account, fact: Fact): void {
  if (fact.detail?.role === 'current') account.current ??= fact;
  else if (fact.kind === 'constraint' || fact.kind === 'goal' || isUserMessage(fact)) account.rules.push(fact);
  else if (fact.kind === 'decision' && (fact.detail?.role !== undefined || fact.origin === 'human'))
    account.settled.push(fact);
  else if (OF_MERGED.has(fact.kind)) placeByKind(account, fact);
  else account.said.push(fact);
}

/** What a merged line of work brings in as it stood, and what outlives a session. */
const OF_MERGED: ReadonlySet<FactKind> = new Set(['task', 'file', 'check', 'question', 'reference', 'running']);

function placeByRole(account: Account, turns: Map<number, Turn>, fact: Fact): boolean {
  const turnOf = (number: number): Turn => {
    const turn = turns.get(number) ?? { number, prompt: null, steering: [], closing: null, work: null };
    turns.set(number, turn);
    return turn;
  };
  const message = readNumber(fact, 'message');
  const isAnswer = readText(fact, 'question') !== null;
  const steers = fact.detail?.steers === undefined ? null : readNumber(fact, 'steers');
  if (steers !== null) turnOf(steers).steering.push(fact);
  else if (message > 0 && !isAnswer) {
    turnOf(message).prompt = fact;
    const { interrupted: _, repeats, ...detail } = fact.detail ?? {};
    for (const number of Array.isArray(repeats) ? repeats : [])
      if (typeof number === 'number') turnOf(number).prompt = { ...fact, detail: { ...detail, message: number } };
  }
  switch (fact.detail?.role) {
    case 'current':
      account.current = fact;
      return true;
    case 'after':
      if (!isAnswer) account.after.push(fact);
      return true;
    case 'first':
      account.first = fact;
      return true;
    case 'message':
      return true;
    case 'state':
      account.state = fact;
      return true;
    case 'log':
      account.log = fact;
      return true;
    case 'stopped':
      account.lastWords = fact;
      turnOf(readNumber(fact, 'turn')).closing = fact;
      return true;
    case 'closing':
      turnOf(readNumber(fact, 'turn')).closing = fact;
      return true;
    case 'work':
      turnOf(readNumber(fact, 'turn')).work = fact;
      return true;
    case 'summary':
      account.summary = fact;
      return true;
    case 'document':
      account.documents.push(fact);
      return true;
    case 'working':
      account.working.push(fact);
      return true;
    case 'thought':
      account.thought = fact;
      return true;
    case 'answer':
    case 'choice':
    case 'plan':
      account.settled.push(fact);
      return true;
    default:
      return false;
  }
}

function placeByKind(account: Account, fact: Fact): void {
  const isChanged = isChangedFile(fact) || ['edits', 'failures', 'begun'].some((count) => readNumber(fact, count) > 0);
  switch (fact.kind) {
    case 'task':
      account.tasks.push(fact);
      break;
    case 'file':
      (isChanged ? account.changed : account.otherFiles).push(fact);
      break;
    case 'command':
    case 'check':
      account.commands.push(fact);
      break;
    case 'error':
      if (fact.status === 'open') account.openErrors.push(fact);
      break;
    case 'running':
      account.running.push(fact);
      break;
    case 'question':
      if (fact.status === 'open') account.questions.push(fact);
      break;
    case 'blocker':
      if (fact.trust === 'observed') account.blockers.push(fact);
      else account.said.push(fact);
      break;
    case 'reference':
      if (fact.detail?.about === 'commit') account.commits.push(fact);
      else if (fact.detail?.about === 'link') account.links.push(fact);
      break;
    default:
      account.said.push(fact);
  }
}
